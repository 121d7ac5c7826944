// SPDX-License-Identifier: Apache-2.0
#include "archives/h5_file.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "archives/h5_heap_format.h"
#include "archives/little_endian.h"
#include "base/check.h"
#include "base/page.h"

namespace augur {
namespace {

constexpr uint64_t kDataAlignment = 8;
constexpr uint64_t kLabelBytes = sizeof(int64_t);
// A place in the global heap: the length, the address of a collection, and which object of that.
constexpr uint64_t kReferenceBytes = 16;

// Offsets in files are below 2^63.
constexpr uint64_t kFileBytesMax = uint64_t{1} << 62;

// Makes the rows that have the bytes [begin, end) of a table, and cuts the text to these.
template <typename Rows>
auto CutRows(uint64_t row_bytes, Rows rows) {
  return [row_bytes, rows](uint64_t begin, uint64_t end) -> Result<std::string> {
    const auto first = static_cast<uint32_t>(begin / row_bytes);
    const auto last = static_cast<uint32_t>((end + row_bytes - 1) / row_bytes);
    AUGUR_TRY_ASSIGN(text, Result<std::string>(rows(first, last)));
    return text.substr(begin - first * row_bytes, end - begin);
  };
}

void AddFilledUp(std::string_view text, uint32_t bytes, std::string* out) {
  out->append(text).append(bytes - text.size(), '\0');
}

}  // namespace

H5File::H5File(std::shared_ptr<const ArchiveSet> encoded, const ViewSpec& spec)
    : encoded_(std::move(encoded)),
      spec_(spec),
      images_(spec.has_stacked_arrays() ? std::optional(StackedArrays::Of(spec)) : std::nullopt) {}

Result<std::shared_ptr<const ArchiveFiles>> H5File::Make(const std::shared_ptr<const Store>& store, EntryNumber folder,
                                                         const ViewSpec& spec, uint64_t bytes_max) {
  ViewSpec of_one_heap = spec;
  of_one_heap.archive.shards = 1;
  AUGUR_TRY_ASSIGN(encoded, ArchiveSet::Make(store, folder, of_one_heap, bytes_max));
  const std::shared_ptr<H5File> file(new H5File(std::move(encoded), spec));
  if (file->samples().size() > 0) AUGUR_TRY(file->LayOut());
  if (file->memory_bytes() > bytes_max) {
    return Status(Code::kNoSpace, "tables of " + std::to_string(file->memory_bytes()) + " bytes");
  }
  return std::shared_ptr<const ArchiveFiles>(file);
}

uint64_t H5File::Place(uint64_t bytes, uint64_t alignment, AddPieces add) {
  const uint64_t begin = RoundUp(end_, alignment);
  end_ = begin + bytes;
  regions_.push_back({.begin = begin, .end = end_, .add = std::move(add)});
  return begin;
}

uint64_t H5File::PlaceText(uint64_t bytes, MakeText make) {
  return Place(bytes, kDataAlignment,
               [make = std::move(make)](uint64_t begin, uint64_t end, std::vector<ArchivePiece>* pieces) -> Status {
                 AUGUR_TRY_ASSIGN(text, make(begin, end));
                 AddBytes(text, pieces);
                 return {};
               });
}

std::vector<H5Dataset> H5File::Datasets(size_t class_count, uint32_t class_bytes) const {
  const uint64_t count = samples().size();
  std::vector<H5Dataset> datasets;
  const auto add = [&](const char* name, std::vector<uint64_t> shape, std::string type, uint64_t element_bytes) {
    datasets.push_back({.name = name,
                        .shape = std::move(shape),
                        .type = std::move(type),
                        .element_bytes = static_cast<uint32_t>(element_bytes)});
  };
  if (images_) {
    add("images", {count, images_->shape[0], images_->shape[1], images_->shape[2]},
        spec_.array.type == ArrayType::kF32 ? H5Float() : H5UnsignedByte(), images_->element_bytes);
    datasets.back().is_chunked = true;
  }
  add("labels", {count}, H5SignedLong(), kLabelBytes);
  add("paths", {count}, H5Text(path_bytes_), path_bytes_);
  if (class_count > 0) add("classes", {class_count}, H5Text(class_bytes), class_bytes);
  if (spec_.archive.encoded) add("encoded", {count}, H5Bytes(), kReferenceBytes);
  return datasets;
}

Status H5File::LayOut() {
  const uint64_t count = samples().size();
  const uint64_t stride = images_ ? StrideOnPages(images_->array_bytes) : 0;
  if (stride > kFileBytesMax / count)
    return {Code::kInvalid, "an HDF5 file of that size cannot be: give a smaller size"};
  AUGUR_TRY_ASSIGN(longest, LongestPath());
  path_bytes_ = longest;
  AUGUR_TRY_ASSIGN(names, samples().ClassNames());
  uint32_t name_bytes = 1;
  for (const std::string_view name : names) name_bytes = std::max(name_bytes, static_cast<uint32_t>(name.size()));
  for (const std::string_view name : names) AddFilledUp(name, name_bytes, &classes_);

  // The places first, since all are in the front, whose length is known without them.
  std::vector<H5Dataset> datasets = Datasets(names.size(), name_bytes);
  const uint64_t front_bytes = H5Front(datasets, 0).size();
  const auto cut = [](const std::string& text) {
    return [&text](uint64_t begin, uint64_t end) { return text.substr(begin, end - begin); };
  };
  PlaceText(front_bytes, cut(front_));
  std::shared_ptr<H5FixedArray> chunks;
  for (H5Dataset& dataset : datasets) {
    if (dataset.is_chunked) {
      chunks = std::make_shared<H5FixedArray>(count, 0, stride);
      const uint64_t address = RoundUp(end_, kDataAlignment);
      dataset.address = PlaceText(chunks->bytes(), [chunks, address](uint64_t begin, uint64_t end) {
        return chunks->Text(address, begin, end);
      });
    } else if (dataset.name == "labels") {
      dataset.address = PlaceText(count * kLabelBytes, CutRows(kLabelBytes, [this](uint32_t first, uint32_t end) {
                                    return LabelBytes(samples(), first, end);
                                  }));
    } else if (dataset.name == "paths") {
      dataset.address =
          PlaceText(count * path_bytes_,
                    CutRows(path_bytes_, [this](uint32_t first, uint32_t end) { return Paths(first, end); }));
    } else if (dataset.name == "classes") {
      dataset.address = PlaceText(classes_.size(), cut(classes_));
    } else {
      dataset.address =
          PlaceText(count * kReferenceBytes,
                    CutRows(kReferenceBytes, [this](uint32_t first, uint32_t end) { return References(first, end); }));
    }
  }
  if (images_) {
    const auto add = [this, stride](uint64_t begin, uint64_t end, std::vector<ArchivePiece>* pieces) {
      return AddArrays(samples(), *images_, 0, stride, begin, end, pieces);
    };
    images_address_ = Place(count * stride, kPageBytes, add);
    *chunks = H5FixedArray(count, images_address_, stride);
  }
  if (spec_.archive.encoded) {
    const auto add = [this](uint64_t begin, uint64_t end, std::vector<ArchivePiece>* pieces) -> Status {
      AUGUR_TRY_ASSIGN(found, encoded_->Pieces(0, begin, end - begin));
      std::ranges::move(found, std::back_inserter(*pieces));
      return {};
    };
    encoded_address_ = Place(encoded_->FileBytes(0), kPageBytes, add);
  }
  end_ = RoundUp(end_, kPageBytes);
  front_ = H5Front(datasets, end_);
  AUGUR_CHECK(front_.size() == front_bytes);
  return {};
}

Result<uint32_t> H5File::LongestPath() const {
  size_t longest = 1;
  for (uint32_t number = 0; number < samples().size(); ++number) {
    AUGUR_TRY_ASSIGN(sample, samples().Get(number));
    AUGUR_TRY_ASSIGN(path, samples().PathOf(sample));
    longest = std::max(longest, path.size());
  }
  return static_cast<uint32_t>(longest);
}

Result<std::string> H5File::Paths(uint32_t first, uint32_t end) const {
  std::string text;
  for (uint32_t number = first; number < end; ++number) {
    AUGUR_TRY_ASSIGN(sample, samples().Get(number));
    AUGUR_TRY_ASSIGN(path, samples().PathOf(sample));
    AddFilledUp(path, path_bytes_, &text);
  }
  return text;
}

Result<std::string> H5File::References(uint32_t first, uint32_t end) const {
  AUGUR_TRY_ASSIGN(places, encoded_->SamplePlaces(0, first, end - first));
  std::string text;
  for (uint32_t number = first; number < end; ++number) {
    AUGUR_TRY_ASSIGN(sample, samples().Get(number));
    AddLittleEndian(sample.image.size, 4, &text);
    AddLittleEndian(encoded_address_ + places[number - first], 8, &text);
    AddLittleEndian(H5HeapFormat::kObject, 4, &text);
  }
  return text;
}

uint64_t H5File::ImageBytes(uint32_t /*shard*/) const {
  return (images_ ? samples().size() * images_->array_bytes : 0) +
         (spec_.archive.encoded ? encoded_->ImageBytes(0) : 0);
}

Status H5File::ForEachSample(const TakeSample& take) const {
  if (images_) {
    const uint64_t stride = StrideOnPages(images_->array_bytes);
    const auto place_of = [&](uint32_t number) { return std::pair(uint32_t{0}, images_address_ + number * stride); };
    return ForEachArray(samples(), *images_, place_of, take);
  }
  return encoded_->ForEachSample([&](uint32_t place, Span span) {
    for (uint64_t* at : {&span.begin, &span.image_begin, &span.image_end, &span.end}) *at += encoded_address_;
    take(place, span);
  });
}

Result<std::vector<ArchivePiece>> H5File::Pieces(uint32_t /*shard*/, uint64_t offset, uint64_t bytes) const {
  std::vector<ArchivePiece> pieces;
  const uint64_t end = std::min(offset + bytes, end_);
  uint64_t at = std::min(offset, end);
  const auto fill_to = [&](uint64_t to) {
    if (at >= to) return;
    AddBytes(std::string(to - at, '\0'), &pieces);
    at = to;
  };
  for (const Region& region : regions_) {
    if (region.end <= at) continue;
    if (region.begin >= end) break;
    fill_to(region.begin);
    const uint64_t to = std::min(end, region.end);
    AUGUR_TRY(region.add(at - region.begin, to - region.begin, &pieces));
    at = to;
  }
  fill_to(end);
  return pieces;
}

uint64_t H5File::memory_bytes() const {
  return sizeof(*this) + encoded_->memory_bytes() + front_.capacity() + classes_.capacity() +
         regions_.capacity() * sizeof(Region);
}

}  // namespace augur
