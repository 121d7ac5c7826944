// SPDX-License-Identifier: Apache-2.0
#include "base/mount_table.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ranges>

#include "base/proc_text.h"
#include "base/unique_fd.h"

namespace augur {
namespace {

// The value of an option that begins with `name`; 0 without it.
uint32_t NumberOption(std::string_view options, std::string_view name) {
  uint32_t value = 0;
  for (const std::string_view option : Split(options, ',')) {
    if (!option.starts_with(name)) continue;
    std::from_chars(option.data() + name.size(), option.data() + option.size(), value);
  }
  return value;
}

}  // namespace

std::vector<MountRow> ParseMountTable(std::string_view text) {
  // Fields of a row: id, parent, device, root, mount point, options, any number of optional fields, "-", type, source,
  // options of the super block.
  constexpr size_t kFirstOptional = 6;
  std::vector<MountRow> rows;
  for (const std::string_view line : Split(text, '\n')) {
    const std::vector<std::string_view> fields = Split(line, ' ');
    size_t dash = kFirstOptional;
    while (dash < fields.size() && fields[dash] != "-") ++dash;
    if (dash + 2 >= fields.size()) continue;
    const std::string_view options = dash + 3 < fields.size() ? fields[dash + 3] : std::string_view();
    uint64_t id = 0;
    std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), id);
    rows.push_back({.id = id,
                    .device = std::string(fields[2]),
                    .root = UnescapeMountField(fields[3]),
                    .mount_point = UnescapeMountField(fields[4]),
                    .options = std::string(fields[5]),
                    .type = UnescapeMountField(fields[dash + 1]),
                    .source = UnescapeMountField(fields[dash + 2]),
                    .user = NumberOption(options, "user_id="),
                    .group = NumberOption(options, "group_id="),
                    .file_system_options = UnescapeMountField(options)});
  }
  return rows;
}

Result<std::vector<MountRow>> ReadMountTable() {
  static constexpr const char* kPath = "/proc/self/mountinfo";
  const UniqueFd file(open(kPath, O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, kPath);
  std::string text;
  std::array<char, 16384> piece;
  while (true) {
    const ssize_t bytes = read(file.get(), piece.data(), piece.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return ErrnoStatus(errno, kPath);
    if (bytes == 0) break;
    text.append(piece.data(), static_cast<size_t>(bytes));
  }
  return ParseMountTable(text);
}

const MountRow* TopmostMount(const std::vector<MountRow>& rows, std::string_view path) {
  for (const MountRow& row : std::ranges::reverse_view(rows)) {
    if (row.mount_point == path) return &row;
  }
  return nullptr;
}

bool IsAugurfsDevice(uint32_t major, uint32_t minor) {
  if (major != 0) return false;  // a disk; a FUSE mount has a number of no device
  const Result<std::vector<MountRow>> rows = ReadMountTable();
  if (!rows.ok()) return false;
  const std::string device = "0:" + std::to_string(minor);
  return std::ranges::any_of(*rows,
                             [&](const MountRow& row) { return row.device == device && row.type == kAugurfsType; });
}

std::string EscapeMountOption(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ',' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace augur
