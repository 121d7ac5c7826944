// SPDX-License-Identifier: Apache-2.0
#include "pack/mds_pass.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "pack/little_endian.h"

namespace augur {
namespace {

constexpr size_t kNumberBytes = 4;
constexpr uint64_t kConfigBytesMax = uint64_t{1} << 20;  // it names columns
constexpr size_t kFirstOffsetAt = kNumberBytes;
constexpr std::string_view kFormatName = "\"mds\"";

// Where the JSON text begins: behind the number of samples and their offsets.
uint64_t ConfigOffset(uint32_t sample_count) { return kNumberBytes * (uint64_t{sample_count} + 2); }

}  // namespace

MdsPass::MdsPass(Container& container, std::string names_from, SampleFolders& folders, PackObserver& observer)
    : container_(container),
      cursor_(container),
      names_from_(std::move(names_from)),
      folders_(folders),
      observer_(observer) {}

Result<bool> MdsPass::Recognizes(Container& container, std::span<const std::byte> head) {
  if (head.size() < 2 * kNumberBytes) return false;
  const uint64_t begin = ConfigOffset(NumberAt<uint32_t>(head, 0));
  const uint64_t end = NumberAt<uint32_t>(head, kFirstOffsetAt);
  if (begin >= end || end > container.bytes || end - begin > kConfigBytesMax) return false;
  std::vector<std::byte> far;
  std::span<const std::byte> config = head.first(0);
  if (end <= head.size()) {
    config = head.subspan(begin, end - begin);
  } else {
    far.resize(end - begin);
    const Status read = container.input.ReadAt(begin, far);
    if (!read.ok()) return read.In(Printable(container.name));
    config = far;
  }
  const std::string_view text(reinterpret_cast<const char*>(config.data()), config.size());
  return text.starts_with('{') && text.find(kFormatName) != std::string_view::npos;
}

Status MdsPass::Run() {
  const auto damaged = [this](const std::string& how) {
    return Status(Code::kCorrupt, Printable(container_.name) + ": " + how + ": make or fetch it anew");
  };
  AUGUR_TRY_ASSIGN(count_bytes, cursor_.Take(kNumberBytes, "the number of samples"));
  const auto sample_count = NumberAt<uint32_t>(count_bytes, 0);
  AUGUR_TRY_ASSIGN(table, cursor_.Take(ConfigOffset(sample_count) - kNumberBytes, "the offsets of samples"));
  std::vector<uint32_t> offsets(table.size() / kNumberBytes);
  std::memcpy(offsets.data(), table.data(), table.size());
  if (offsets.front() < cursor_.offset() || !std::is_sorted(offsets.begin(), offsets.end())) {
    return damaged("the offsets of its samples are not in order");
  }
  if (offsets.back() != container_.bytes) {
    return damaged("its last sample ends at byte " + std::to_string(offsets.back()) + ", and it has " +
                   std::to_string(container_.bytes) + " bytes");
  }
  AUGUR_TRY_ASSIGN(config, cursor_.Take(offsets.front() - cursor_.offset(), "the description of columns"));
  const Result<MdsColumns> columns =
      MdsColumns::Parse({reinterpret_cast<const char*>(config.data()), config.size()}, names_from_);
  if (!columns.ok()) return columns.status().In(Printable(container_.name));
  for (uint32_t i = 0; i < sample_count; ++i) {
    if (observer_.stopped()) return StoppedStatus();
    const std::string what =
        Printable(container_.name) + ": sample " + std::to_string(i) + " at byte " + std::to_string(cursor_.offset());
    AUGUR_TRY_ASSIGN(sample, cursor_.Take(offsets[i + 1] - offsets[i], "a sample"));
    AUGUR_TRY(TakeSample(*columns, sample, offsets[i], what));
  }
  return {};
}

Status MdsPass::TakeSample(const MdsColumns& columns, std::span<const std::byte> bytes, uint64_t offset,
                           const std::string& what) {
  const Result<MdsColumns::Content> content = columns.Read(bytes);
  if (!content.ok()) return content.status().In(what);
  return folders_.Add(content->sample, offset + content->image_offset,
                      bytes.subspan(content->image_offset, content->image_bytes),
                      what + ": '" + Printable(columns.image_name()) + "'");
}

}  // namespace augur
