// SPDX-License-Identifier: Apache-2.0
#include "base/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/regular_file.h"
#include "base/unique_fd.h"
#include "base/units.h"

namespace augur {

Result<std::string> ReadTextFile(const std::string& path) {
  AUGUR_TRY_ASSIGN(fd, OpenRegularAt(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, Links::kFollow, path));
  std::string text;
  char piece[16 << 10];
  while (true) {
    const ssize_t bytes = read(fd.get(), piece, sizeof piece);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return ErrnoStatus(errno, Printable(path));
    if (bytes == 0) return text;
    text.append(piece, static_cast<size_t>(bytes));
    if (text.size() > kTextFileBytesMax) {
      return Status(Code::kInvalid,
                    Printable(path) + ": more than " + FormatSize(kTextFileBytesMax) + ": the wrong file?");
    }
  }
}

}  // namespace augur
