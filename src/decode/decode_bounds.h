// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "augur/status.h"
#include "decode/decode_options.h"

namespace augur {

// kUnsupported when an image of width x height pixels as coded, which needs `memory_bytes`, is over a bound of
// `options`. `format` is the context of the text.
Status CheckBounds(std::string_view format, uint32_t width, uint32_t height, uint64_t memory_bytes,
                   const DecodeOptions& options);

}  // namespace augur
