// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "datasets/epoch_order.h"

namespace augur {

// These files as an order that can be shared.
inline SharedOrder Shared(Order files) { return std::make_shared<const EpochOrder>(std::move(files)); }

}  // namespace augur
