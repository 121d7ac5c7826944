// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_list.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/unique_fd.h"
#include "base/units.h"

namespace augur {
namespace {

// 1,024 addresses of 250 bytes and their comments.
constexpr size_t kFileBytesMax = 1 << 20;

Result<std::string> ReadText(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return ErrnoStatus(errno, Printable(path));
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0) return ErrnoStatus(errno, Printable(path));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kFileBytesMax) {
      return Status(Code::kInvalid, Printable(path) + ": more than 1 MiB is no list of servers");
    }
  }
}

}  // namespace

Result<FleetList> FleetList::Parse(const std::string& text) {
  FleetList list;
  if (text.starts_with('@')) {
    list.file_ = text.substr(1);
    if (list.file_.empty()) return Status(Code::kInvalid, "the name of a file is missing behind the @");
    return list;
  }
  AUGUR_TRY_ASSIGN(addresses, ParseFleetAddresses(text));
  list.addresses_ = std::move(addresses);
  return list;
}

Result<std::vector<FleetAddress>> FleetList::Read() const {
  if (file_.empty()) return addresses_;
  AUGUR_TRY_ASSIGN(text, ReadText(file_));
  Result<std::vector<FleetAddress>> addresses = ParseFleetAddresses(text);
  if (!addresses.ok()) return addresses.status().In(Printable(file_));
  return addresses;
}

}  // namespace augur
