// SPDX-License-Identifier: Apache-2.0
#include "tools/control_commands/order_body.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/units.h"
#include "control/frame.h"

namespace augur {

Result<OrderBody> OrderBody::Open(const std::string& path) {
  const bool from_stdin = path == "-";
  std::string name = from_stdin ? "standard input" : Printable(path);
  UniqueFd fd(from_stdin ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, name);
  return OrderBody(std::move(fd), std::move(name));
}

ControlSource OrderBody::source() {
  return [this](std::string& piece) -> Result<bool> {
    piece.resize(kPieceBytesMax);
    ssize_t bytes = -1;
    do {
      bytes = read(fd_.get(), piece.data(), piece.size());
    } while (bytes < 0 && errno == EINTR);
    if (bytes < 0) return ErrnoStatus(errno, name_);
    piece.resize(static_cast<size_t>(bytes));
    return bytes > 0;
  };
}

Status OrderBody::Explain(const Status& failure, const std::string& mountpoint) const {
  const bool of_order = failure.text().starts_with("line ");
  return failure.In(of_order ? name_ : Printable(mountpoint));
}

}  // namespace augur
