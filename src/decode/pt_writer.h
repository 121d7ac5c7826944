// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/array_writer.h"
#include "decode/image.h"

namespace augur {

// What the file holds: the tensor, (tensor, label), or {"image": tensor, "label": label}.
enum class PtItem { kTensor, kPair, kDict };

// A file that torch.load reads, as torch.save writes one of a contiguous tensor on the CPU. It is a zip archive whose
// entries are stored, with the tensor's bytes at a multiple of 64 (so mmap=True has them in place). It has a pickle
// that weights_only=True allows. Sources: caffe2/serialize/inline_container.cc and torch/serialization.py of PyTorch 2;
// Python's pickletools; PKWARE's APPNOTE 6.3.

// Bytes of the whole file, whatever the label. `channels` is 1 or 3. REQUIRES: the array has less than 4 GiB.
uint64_t PtBytes(uint32_t width, uint32_t height, uint32_t channels, const ArrayFormat& format,
                 PtItem item = PtItem::kTensor);

// Writes the whole file: torch.uint8 or torch.float32, with the axes of `format`. REQUIRES: `out` has PtBytes() bytes
// for the sizes of `image`; the pixels lie nowhere in it; no std is 0.
void WritePt(const Image& image, const ArrayFormat& format, std::span<std::byte> out, PtItem item = PtItem::kTensor,
             int32_t label = 0);

}  // namespace augur
