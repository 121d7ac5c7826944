// SPDX-License-Identifier: Apache-2.0
#include "pack/beton_pass.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "base/excerpt.h"
#include "base/page.h"
#include "base/units.h"
#include "pack/container_cursor.h"
#include "pack/little_endian.h"
#include "pack/usual_columns.h"

namespace augur {
namespace {

constexpr size_t kBetonHeadBytes = 24;
constexpr uint16_t kBetonVersion = 2;
constexpr size_t kBetonFieldBytes = 1041;  // its type, 16 bytes of name, 1,024 of parameters
constexpr size_t kNameBytes = 16;
constexpr size_t kBetonFieldsMax = 256;
constexpr uint32_t kBetonPageBytesMin = uint32_t{1} << 21;
constexpr size_t kPieceBytes = 24;  // sample, offset, size
constexpr uint64_t kRowsAtOnce = 4096;

// ffcv/types.py, TYPE_ID_HANDLER.
enum FieldType : uint8_t { kFloat = 0, kInt = 1, kImage = 2, kBytes = 3, kArray = 4, kJson = 5, kTensor = 6 };
constexpr uint8_t kJpeg = 0;  // of an image's mode

// What a field takes in a row, and to how many bytes it is aligned.
size_t BytesOf(uint8_t type) { return type == kImage ? 13 : type == kBytes || type == kJson ? 16 : 8; }
size_t AlignmentOf(uint8_t type) { return type == kImage || type == kBytes || type == kJson ? 1 : 8; }

}  // namespace

BetonPass::BetonPass(Container& container, std::string names_from, SampleFolders& folders, PackObserver& observer)
    : container_(container), names_from_(std::move(names_from)), folders_(folders), observer_(observer) {}

bool BetonPass::Recognizes(const Container& container, std::span<const std::byte> head) {
  if (head.size() < kBetonHeadBytes || NumberAt<uint16_t>(head, 0) != kBetonVersion) return false;
  const size_t fields = NumberAt<uint16_t>(head, 2);
  const auto page_bytes = NumberAt<uint32_t>(head, 4);
  if (fields == 0 || fields > kBetonFieldsMax || head.size() < kBetonHeadBytes + fields * kBetonFieldBytes)
    return false;
  if (!std::has_single_bit(page_bytes) || page_bytes < kBetonPageBytesMin || container.bytes < kBetonHeadBytes)
    return false;
  bool has_image = false;
  for (size_t i = 0; i < fields; ++i) {
    const auto type = std::to_integer<uint8_t>(head[kBetonHeadBytes + i * kBetonFieldBytes]);
    has_image = has_image || type == kImage;
    if (type > kTensor && type != UINT8_MAX) return false;
  }
  return has_image;
}

Status BetonPass::Damaged(const std::string& how) const {
  return {Code::kCorrupt, Printable(container_.name) + ": " + how + ": it is damaged or was cut off: fetch it anew"};
}

Status BetonPass::ReadFields() {
  const std::string name = Printable(container_.name);
  std::vector<std::byte> head(kBetonHeadBytes);
  AUGUR_TRY(container_.input.ReadAt(0, head).In(name));
  const size_t fields = NumberAt<uint16_t>(head, 2);
  samples_ = NumberAt<uint64_t>(head, 8);
  pieces_at_ = NumberAt<uint64_t>(head, 16);
  std::vector<std::byte> described(fields * kBetonFieldBytes);
  if (kBetonHeadBytes + described.size() > container_.bytes)
    return Damaged("ends within the description of its fields");
  AUGUR_TRY(container_.input.ReadAt(kBetonHeadBytes, described).In(name));
  size_t alignment = 1;
  for (size_t i = 0; i < fields; ++i) {
    const std::span<const std::byte> field =
        std::span<const std::byte>(described).subspan(i * kBetonFieldBytes, kBetonFieldBytes);
    const std::string_view text(reinterpret_cast<const char*>(field.data()) + 1, kNameBytes);
    Field read = {.type = std::to_integer<uint8_t>(field[0]), .name = std::string(text.substr(0, text.find('\0')))};
    if (read.type > kTensor) {
      return {Code::kUnsupported, name + ": its field '" + Printable(read.name) +
                                      "' is of a type of its writer's own: write it without that field"};
    }
    read.offset = RoundUp(row_bytes_, AlignmentOf(read.type));
    row_bytes_ = read.offset + BytesOf(read.type);
    alignment = std::max(alignment, AlignmentOf(read.type));
    fields_.push_back(std::move(read));
  }
  row_bytes_ = RoundUp(row_bytes_, alignment);
  const uint64_t rows_at = kBetonHeadBytes + described.size();
  if (pieces_at_ < rows_at || pieces_at_ > container_.bytes || samples_ > (pieces_at_ - rows_at) / row_bytes_) {
    return Damaged("its " + std::to_string(samples_) + " samples leave it");
  }
  return {};
}

Status BetonPass::ChooseFields() {
  std::string listed;
  for (const Field& field : fields_) {
    listed += (listed.empty() ? "'" : ", '") + field.name + "'";
    if (field.type == kImage && image_ != nullptr) {
      return {Code::kUnsupported, Printable(container_.name) +
                                      ": has several fields of images: write each image as a file, and pack them with "
                                      "'augurpack create'"};
    }
    if (field.type == kImage) image_ = &field;
    if (field.type == kInt && field.name == names_from_) names_ = &field;
  }
  for (const std::string_view usual : kUsualLabelColumns) {
    const auto found = std::find_if(fields_.begin(), fields_.end(),
                                    [&](const Field& field) { return field.type == kInt && field.name == usual; });
    if (label_ == nullptr && found != fields_.end()) label_ = &*found;
  }
  if (image_ == nullptr) return Damaged("has no field of images");
  if (names_from_.empty() || names_ != nullptr) return {};
  return {Code::kInvalid, Printable(container_.name) + ": has no names in '" + Excerpt(names_from_) +
                              "' (its fields are " + Excerpt(listed) +
                              "): --names-from takes a field of whole numbers"};
}

Status BetonPass::ReadPieces() {
  const uint64_t bytes = container_.bytes - pieces_at_;
  if (bytes % kPieceBytes != 0) return Damaged("the table of its pieces of data is cut off");
  std::vector<std::byte> some;
  for (uint64_t at = pieces_at_; at < container_.bytes; at += some.size()) {
    some.resize(std::min<uint64_t>(container_.bytes - at, kRowsAtOnce * kPieceBytes));
    AUGUR_TRY(container_.input.ReadAt(at, some).In(Printable(container_.name)));
    for (size_t i = 0; i < some.size(); i += kPieceBytes) {
      const Piece piece = {.offset = NumberAt<uint64_t>(some, i + 8), .bytes = NumberAt<uint64_t>(some, i + 16)};
      if (piece.offset > pieces_at_ || piece.bytes > pieces_at_ - piece.offset) {
        return Damaged("a piece of its data leaves it: " + std::to_string(piece.bytes) + " bytes at byte " +
                       std::to_string(piece.offset));
      }
      pieces_.push_back(piece);
    }
  }
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
  return {};
}

Status BetonPass::Run() {
  AUGUR_TRY(ReadFields());
  AUGUR_TRY(ChooseFields());
  AUGUR_TRY(ReadPieces());
  const uint64_t rows_at = kBetonHeadBytes + fields_.size() * kBetonFieldBytes;
  std::vector<std::byte> rows;
  for (uint64_t first = 0; first < samples_; first += kRowsAtOnce) {
    const uint64_t count = std::min(kRowsAtOnce, samples_ - first);
    rows.resize(count * row_bytes_);
    AUGUR_TRY(container_.input.ReadAt(rows_at + first * row_bytes_, rows).In(Printable(container_.name)));
    for (uint64_t i = 0; i < count; ++i) {
      if (observer_.stopped()) return StoppedStatus();
      AUGUR_TRY(TakeSample(first + i, std::span<const std::byte>(rows).subspan(i * row_bytes_, row_bytes_)));
    }
  }
  return {};
}

Status BetonPass::TakeSample(uint64_t number, std::span<const std::byte> row) {
  const std::string what = Printable(container_.name) + ": sample " + std::to_string(number);
  const auto offset = NumberAt<uint64_t>(row, image_->offset + 5);  // behind the mode, the width and the height
  if (row[image_->offset] != std::byte{kJpeg}) {
    return {Code::kUnsupported, what +
                                    ": its image is stored as pixels, not as a JPEG file: write the file with "
                                    "RGBImageField(write_mode='jpg'), or its images as files, and pack that with "
                                    "'augurpack create'"};
  }
  const auto piece = std::lower_bound(pieces_.begin(), pieces_.end(), offset,
                                      [](const Piece& a, uint64_t wanted) { return a.offset < wanted; });
  if (piece == pieces_.end() || piece->offset != offset) {
    return {Code::kCorrupt, what + ": no piece of data begins at byte " + std::to_string(offset) +
                                ", where its image must be: the file is damaged: fetch it anew"};
  }
  if (piece->bytes > ContainerCursor::kTakeBytesMax) {
    return {Code::kUnsupported, what + ": its image has more than 1 GiB: store it in parts"};
  }
  bytes_.resize(piece->bytes);
  AUGUR_TRY(container_.input.ReadAt(offset, bytes_).In(what));
  ContainerSample sample;
  if (names_ != nullptr) sample.name = std::to_string(NumberAt<int64_t>(row, names_->offset));
  if (label_ != nullptr) {
    const auto label = NumberAt<int64_t>(row, label_->offset);
    if (label >= 0) sample.label = label;
  }
  return folders_.Add(sample, offset, bytes_, what);
}

}  // namespace augur
