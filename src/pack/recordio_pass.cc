// SPDX-License-Identifier: Apache-2.0
#include "pack/recordio_pass.h"

#include <cmath>
#include <optional>
#include <utility>

#include "base/excerpt.h"
#include "base/units.h"
#include "pack/little_endian.h"

namespace augur {
namespace {

// dmlc/recordio.h: a head of the magic number and a word of three bits of kind and 29 of length; then bytes, filled up
// to whole words.
constexpr uint32_t kPartMagic = 0xced7230a;
constexpr size_t kPartHeadBytes = 8;
constexpr unsigned kLengthBits = 29;
constexpr uint64_t kWordBytes = 4;
enum PartKind : uint32_t { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

// mxnet/recordio.py, IRHeader: the number of labels or 0, a label, the record's number, a second one; then labels.
constexpr size_t kImageHeadBytes = 24;
constexpr float kLabelMax = 1 << 24;  // above that not every whole number is a float

constexpr const char* kPartName = "a record";

std::optional<int64_t> WholeLabel(float label) {
  if (!(label >= 0) || label > kLabelMax || std::floor(label) != label) return std::nullopt;
  return static_cast<int64_t>(label);
}

}  // namespace

RecordIoPass::RecordIoPass(Container& container, SampleFolders& folders, PackObserver& observer)
    : container_(container), cursor_(container), folders_(folders), observer_(observer) {}

bool RecordIoPass::Recognizes(std::span<const std::byte> head) {
  return head.size() >= kPartHeadBytes && NumberAt<uint32_t>(head, 0) == kPartMagic;
}

Status RecordIoPass::Run() {
  if (!container_.path.empty()) AUGUR_TRY(list_.ReadBeside(container_.path));
  for (uint64_t number = 0; cursor_.left() > 0; ++number) {
    if (observer_.stopped()) return StoppedStatus();
    const std::string what = Printable(container_.name) + ": record " + std::to_string(number) + " at byte " +
                             std::to_string(cursor_.offset());
    AUGUR_TRY_ASSIGN(part, NextPart());
    if (part.kind == kWhole) {
      AUGUR_TRY(TakeRecord(part.bytes, &part.offset, what));
      continue;
    }
    const Result<std::vector<std::byte>> joined = JoinParts(part);
    if (!joined.ok()) return joined.status();
    AUGUR_TRY(TakeRecord(*joined, nullptr, what));
  }
  return {};
}

Result<RecordIoPass::Part> RecordIoPass::NextPart() {
  const uint64_t begin = cursor_.offset();
  AUGUR_TRY_ASSIGN(head, cursor_.Take(kPartHeadBytes, kPartName));
  const auto word = NumberAt<uint32_t>(head, sizeof(kPartMagic));
  const uint64_t length = word & ((uint32_t{1} << kLengthBits) - 1);
  const uint32_t kind = word >> kLengthBits;
  if (NumberAt<uint32_t>(head, 0) != kPartMagic || kind > kLast) {
    return Status(Code::kCorrupt, Printable(container_.name) + ": no record begins at byte " + std::to_string(begin) +
                                      ", where one must: it is damaged: make or fetch it anew");
  }
  AUGUR_TRY_ASSIGN(bytes, cursor_.Take((length + kWordBytes - 1) / kWordBytes * kWordBytes, kPartName));
  return Part{.kind = kind, .offset = begin + kPartHeadBytes, .bytes = bytes.first(length)};
}

// The bytes of a record whose first part is `first`: its parts with the magic number put back between them.
Result<std::vector<std::byte>> RecordIoPass::JoinParts(const Part& first) {
  const auto out_of_order = [&](const Part& part) {
    return Status(Code::kCorrupt, Printable(container_.name) + ": the part of a record at byte " +
                                      std::to_string(part.offset) +
                                      " does not follow what stands before it: it is damaged: make or fetch it anew");
  };
  if (first.kind != kFirst) return out_of_order(first);
  std::vector<std::byte> joined(first.bytes.begin(), first.bytes.end());
  for (;;) {
    AUGUR_TRY_ASSIGN(part, NextPart());
    if (part.kind != kMiddle && part.kind != kLast) return out_of_order(part);
    if (joined.size() + part.bytes.size() > ContainerCursor::kTakeBytesMax) {
      return Status(Code::kUnsupported, Printable(container_.name) + ": the record that ends at byte " +
                                            std::to_string(cursor_.offset()) + " has more than 1 GiB");
    }
    const auto magic = std::as_bytes(std::span(&kPartMagic, 1));
    joined.insert(joined.end(), magic.begin(), magic.end());
    joined.insert(joined.end(), part.bytes.begin(), part.bytes.end());
    if (part.kind == kLast) return joined;
  }
}

// A record that lies at `*offset` of the container, or in parts (nullptr).
Status RecordIoPass::TakeRecord(std::span<const std::byte> record, const uint64_t* offset, const std::string& what) {
  if (record.size() < kImageHeadBytes) {
    return {Code::kUnsupported, what + ": has " + std::to_string(record.size()) +
                                    " bytes, and the header of an image has 24: write its images as files, and pack "
                                    "them with 'augurpack create'"};
  }
  const auto label_count = NumberAt<uint32_t>(record, 0);
  const uint64_t head_bytes = kImageHeadBytes + uint64_t{label_count} * sizeof(float);
  if (head_bytes > record.size()) {
    return {Code::kCorrupt, what + ": says that it has " + FormatCount(label_count) +
                                " labels, and is not long enough: make or fetch the file anew"};
  }
  const std::span<const std::byte> image = record.subspan(head_bytes);
  if (image.empty()) {
    folders_.LeaveOut(what);
    return {};
  }
  ContainerSample sample;
  if (label_count <= 1) sample.label = WholeLabel(NumberAt<float>(record, label_count == 0 ? 4 : kImageHeadBytes));
  if (const std::string* const path = list_.PathOf(NumberAt<uint64_t>(record, 8)); path != nullptr) {
    sample.name = *path;
    sample.name_has_folders = true;
  }
  return offset == nullptr ? folders_.AddCopy(sample, image, what)
                           : folders_.Add(sample, *offset + head_bytes, image, what);
}

}  // namespace augur
