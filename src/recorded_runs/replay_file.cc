// SPDX-License-Identifier: Apache-2.0
#include "recorded_runs/replay_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "base/units.h"
#include "store/file_io.h"
#include "store/hash.h"

namespace augur {
namespace {

static_assert(std::endian::native == std::endian::little, "a replay file is used as it lies on the disk");

// On disk. A new layout has another version: an old daemon then removes it, and records anew.
constexpr std::array<char, 8> kMagic = {'A', 'U', 'G', 'U', 'R', 'R', 'U', 'N'};
constexpr uint32_t kVersion = 1;

struct Header {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t entry_bytes;  // of one entry of an order, 1 to 4
  uint64_t index_id_low;
  uint64_t index_id_high;
  uint64_t generation;
  uint64_t entry_count;
  uint32_t finding_bytes;
  uint32_t epoch_count;
  uint64_t file_bytes;
  uint64_t body_hash;  // XXH3-64 of the finding and the table of epochs, which follow
  uint64_t hash;       // XXH3-64 of the header up to here
};
static_assert(sizeof(Header) == 80 && offsetof(Header, hash) == 72 && std::is_trivially_copyable_v<Header>);

struct EpochItem {
  uint64_t files;
  uint64_t head_hash;  // XXH3-64 of the entries of the first kReplayHeadFiles
  uint64_t hash;       // of all
};
static_assert(sizeof(EpochItem) == 24);

constexpr uint32_t kEpochsMax = 4096;  // seen one after the other; the table is then 96 KiB

Status Defect(const char* defect) { return {Code::kCorrupt, std::string("a recorded run: ") + defect}; }

uint32_t BytesOfEntry(uint64_t entry_count) {
  return (std::max(static_cast<uint32_t>(std::bit_width(entry_count - 1)), 1U) + 7) / 8;
}

uint64_t HeadFiles(uint64_t files) { return std::min<uint64_t>(files, kReplayHeadFiles); }

template <typename T>
void Append(const T& value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

uint64_t HashText(std::string_view text) { return HashBytes64(std::as_bytes(std::span(text))); }

Status ReadText(int fd, uint64_t offset, uint64_t bytes, std::string* text) {
  text->resize(bytes);
  return ReadAt(fd, "a recorded run", std::as_writable_bytes(std::span(*text)), offset);
}

Status Decode(std::string_view bytes, uint32_t entry_bytes, uint64_t entry_count, Order* order) {
  order->reserve(bytes.size() / entry_bytes);
  for (size_t at = 0; at < bytes.size(); at += entry_bytes) {
    EntryNumber number = 0;
    std::memcpy(&number, bytes.data() + at, entry_bytes);
    if (number >= entry_count) return Defect("an entry that the index does not have");
    order->push_back(number);
  }
  return Status::Ok();
}

// What lies before the orders.
struct Front {
  Header header;
  std::string finding;
  std::vector<EpochItem> epochs;
  uint64_t orders_offset = 0;
};

Result<Front> ReadFront(int fd) {
  Front front{};
  struct stat info {};
  if (::fstat(fd, &info) != 0) return ErrnoStatus(errno, "a recorded run");
  const auto file_bytes = static_cast<uint64_t>(info.st_size);
  if (file_bytes < sizeof(Header)) return Defect("cut off");
  Header& header = front.header;
  AUGUR_TRY(ReadAt(fd, "a recorded run", std::as_writable_bytes(std::span(&header, 1)), 0));
  if (header.magic != kMagic) return Defect("not one");
  if (header.version != kVersion) return Defect("of another version");
  if (header.hash != HashBytes64(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, hash)))) {
    return Defect("the header does not match its checksum");
  }
  if (header.file_bytes != file_bytes) return Defect("cut off");
  if (header.finding_bytes > kFindingBytesMax || header.epoch_count > kEpochsMax)
    return Defect("counts over the limit");
  if (header.entry_count == 0 || header.entry_bytes != BytesOfEntry(header.entry_count) || header.entry_bytes > 4) {
    return Defect("an entry size that is not that of its index");
  }
  const uint64_t table_bytes = header.epoch_count * sizeof(EpochItem);
  front.orders_offset = sizeof(Header) + header.finding_bytes + table_bytes;
  if (front.orders_offset > file_bytes) return Defect("cut off");
  std::string body;
  AUGUR_TRY(ReadText(fd, sizeof(Header), header.finding_bytes + table_bytes, &body));
  if (HashText(body) != header.body_hash) return Defect("the table of epochs does not match its checksum");
  front.finding = body.substr(0, header.finding_bytes);
  front.epochs.resize(header.epoch_count);
  if (table_bytes > 0) std::memcpy(front.epochs.data(), body.data() + header.finding_bytes, table_bytes);
  uint64_t left = (file_bytes - front.orders_offset) / header.entry_bytes;
  for (const EpochItem& epoch : front.epochs) {
    if (epoch.files > left) return Defect("epochs that do not fit in the file");
    left -= epoch.files;
  }
  if (left > 0) return Defect("more bytes than its epochs take");
  return front;
}

ReplayIdentity IdentityOf(const Header& header) {
  return {.index_id = {.low = header.index_id_low, .high = header.index_id_high},
          .generation = header.generation,
          .entry_count = header.entry_count};
}

}  // namespace

std::string RenderReplay(const ReplayIdentity& identity, const Run& run, uint64_t bytes_max) {
  AUGUR_CHECK(run.finding.size() <= kFindingBytesMax);
  AUGUR_CHECK(identity.entry_count > 0 && identity.entry_count <= uint64_t{1} << 32);
  Header header{};
  header.magic = kMagic;
  header.version = kVersion;
  header.entry_bytes = BytesOfEntry(identity.entry_count);
  header.index_id_low = identity.index_id.low;
  header.index_id_high = identity.index_id.high;
  header.generation = identity.generation;
  header.entry_count = identity.entry_count;
  header.finding_bytes = static_cast<uint32_t>(run.finding.size());
  header.file_bytes = sizeof(Header) + run.finding.size();
  for (const Order& order : run.epochs) {
    const uint64_t bytes = sizeof(EpochItem) + order.size() * header.entry_bytes;
    if (header.epoch_count == kEpochsMax || bytes > bytes_max || header.file_bytes > bytes_max - bytes) break;
    header.file_bytes += bytes;
    ++header.epoch_count;
  }
  std::string orders;
  std::string body = run.finding;
  orders.reserve(header.file_bytes);
  for (const Order& order : std::span(run.epochs).first(header.epoch_count)) {
    const size_t begin = orders.size();
    for (const EntryNumber number : order) {
      AUGUR_CHECK(number < identity.entry_count);
      orders.append(reinterpret_cast<const char*>(&number), header.entry_bytes);
    }
    const std::string_view bytes = std::string_view(orders).substr(begin);
    Append(EpochItem{.files = order.size(),
                     .head_hash = HashText(bytes.substr(0, HeadFiles(order.size()) * header.entry_bytes)),
                     .hash = HashText(bytes)},
           &body);
  }
  header.body_hash = HashText(body);
  header.hash = HashBytes64(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, hash)));
  std::string file;
  file.reserve(header.file_bytes);
  Append(header, &file);
  file += body;
  file += orders;
  AUGUR_CHECK(file.size() == header.file_bytes);
  return file;
}

Result<ReplayHead> ReadReplayHead(int fd) {
  AUGUR_TRY_ASSIGN(front, ReadFront(fd));
  ReplayHead head{.identity = IdentityOf(front.header), .finding = std::move(front.finding), .epochs = {}};
  uint64_t offset = front.orders_offset;
  std::string bytes;
  for (const EpochItem& item : front.epochs) {
    AUGUR_TRY(ReadText(fd, offset, HeadFiles(item.files) * front.header.entry_bytes, &bytes));
    if (HashText(bytes) != item.head_hash) return Defect("the beginning of an epoch does not match its checksum");
    ReplayEpoch epoch{.files = item.files, .head = {}};
    AUGUR_TRY(Decode(bytes, front.header.entry_bytes, front.header.entry_count, &epoch.head));
    head.epochs.push_back(std::move(epoch));
    offset += item.files * front.header.entry_bytes;
  }
  return head;
}

Result<Run> ReadReplay(int fd) {
  AUGUR_TRY_ASSIGN(front, ReadFront(fd));
  Run run{.finding = std::move(front.finding), .epochs = {}};
  uint64_t offset = front.orders_offset;
  std::string bytes;
  for (const EpochItem& item : front.epochs) {
    AUGUR_TRY(ReadText(fd, offset, item.files * front.header.entry_bytes, &bytes));
    if (HashText(bytes) != item.hash) return Defect("an epoch does not match its checksum");
    Order order;
    AUGUR_TRY(Decode(bytes, front.header.entry_bytes, front.header.entry_count, &order));
    run.epochs.push_back(std::move(order));
    offset += bytes.size();
  }
  return run;
}

}  // namespace augur
