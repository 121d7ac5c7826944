// SPDX-License-Identifier: Apache-2.0
#include "pack/listing.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace augur {
namespace {

constexpr size_t kMemoryBytes = size_t{1} << 20;
// Of the text of a problem: enough for any path but one of thousands of unprintable bytes.
constexpr size_t kProblemBytesMax = 8000;

FoundItem HeaderAt(std::span<const std::byte> items, uint64_t offset) {
  FoundItem item;
  std::memcpy(&item, items.data() + offset, sizeof item);
  return item;
}

std::string_view NameAt(std::span<const std::byte> items, uint64_t offset) {
  const FoundItem item = HeaderAt(items, offset);
  return {reinterpret_cast<const char*>(items.data() + offset + sizeof item), item.name_bytes};
}

// The place of an item among those of its name.
int FilesFirst(std::span<const std::byte> items, uint64_t offset) {
  return HeaderAt(items, offset).kind == FoundKind::kFile ? 0 : 1;
}

// Maps a file for reading until it goes out of scope.
class Mapping {
 public:
  Mapping(int fd, uint64_t bytes) : bytes_(bytes), at_(::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0)) {}
  ~Mapping() {
    if (valid()) ::munmap(at_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  bool valid() const { return at_ != MAP_FAILED; }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(at_), bytes_}; }

 private:
  const uint64_t bytes_;
  void* const at_;
};

}  // namespace

Status Listing::Add(FoundItem item, std::string_view name, std::string_view text) {
  item.name_bytes = static_cast<uint16_t>(name.size());
  item.text_bytes = static_cast<uint32_t>(text.size());
  item.item_bytes = static_cast<uint32_t>(sizeof item + name.size() + text.size());
  if (items_.size() + item.item_bytes > kMemoryBytes) AUGUR_TRY(Spill());
  offsets_.push_back((spilled_ == nullptr ? 0 : spilled_->bytes()) + items_.size());
  const auto append = [this](const void* data, size_t bytes) {
    const auto* const from = static_cast<const std::byte*>(data);
    items_.insert(items_.end(), from, from + bytes);
  };
  append(&item, sizeof item);
  append(name.data(), name.size());
  append(text.data(), text.size());
  return {};
}

Status Listing::AddProblem(std::string_view name, const Status& problem) {
  FoundItem item;
  item.kind = FoundKind::kProblem;
  item.code = static_cast<uint32_t>(problem.code());
  return Add(item, name, std::string_view(problem.text()).substr(0, kProblemBytesMax));
}

Status Listing::Spill() {
  if (spilled_ == nullptr) {
    AUGUR_TRY_ASSIGN(file, SpoolFile::Make(scratch_folder_));
    spilled_ = std::move(file);
  }
  AUGUR_TRY(spilled_->Write(spilled_->Reserve(items_.size()), items_));
  items_.clear();
  return {};
}

Result<ListingPlace> Listing::WriteSorted(SpoolFile& spool,
                                          const std::function<void(FoundItem&, std::string_view name)>& number_folder) {
  std::unique_ptr<Mapping> mapping;
  std::span<const std::byte> items = items_;
  if (spilled_ != nullptr) {
    AUGUR_TRY(Spill());
    mapping = std::make_unique<Mapping>(spilled_->fd(), spilled_->bytes());
    if (!mapping->valid()) return ErrnoStatus(errno, "mapping the list of a large folder");
    items = mapping->bytes();
  }
  std::sort(offsets_.begin(), offsets_.end(), [items](uint64_t a, uint64_t b) {
    const int order = NameAt(items, a).compare(NameAt(items, b));
    return order < 0 || (order == 0 && FilesFirst(items, a) < FilesFirst(items, b));
  });

  uint64_t bytes = 0;
  for (const uint64_t offset : offsets_) bytes += HeaderAt(items, offset).item_bytes;
  const uint64_t place = spool.Reserve(bytes);
  std::vector<std::byte> sorted;
  sorted.reserve(std::min<uint64_t>(bytes, kMemoryBytes));
  uint64_t written = 0;
  std::string_view file;  // the name of the last one
  for (const uint64_t offset : offsets_) {
    FoundItem item = HeaderAt(items, offset);
    const std::string_view name = NameAt(items, offset);
    if (item.kind == FoundKind::kFolder && name == file) item.kind = FoundKind::kTwice;
    if (item.kind == FoundKind::kFolder) number_folder(item, name);
    if (item.kind == FoundKind::kFile) file = name;
    if (sorted.size() + item.item_bytes > kMemoryBytes) {
      AUGUR_TRY(spool.Write(place + written, sorted));
      written += sorted.size();
      sorted.clear();
    }
    const auto* const header = reinterpret_cast<const std::byte*>(&item);
    sorted.insert(sorted.end(), header, header + sizeof item);
    const std::byte* const rest = items.data() + offset;
    sorted.insert(sorted.end(), rest + sizeof item, rest + item.item_bytes);
  }
  AUGUR_TRY(spool.Write(place + written, sorted));
  AUGUR_CHECK(written + sorted.size() == bytes);
  items_.clear();
  offsets_.clear();
  spilled_.reset();
  return ListingPlace{.offset = place, .bytes = bytes};
}

}  // namespace augur
