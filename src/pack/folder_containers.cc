// SPDX-License-Identifier: Apache-2.0
#include "pack/folder_containers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <system_error>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "pack/container.h"
#include "pack/container_input.h"
#include "pack/container_kind.h"
#include "pack/image_extension.h"

namespace augur {
namespace {

// A data set of containers has few files that are none.
constexpr int kFilesMax = 64;
// Of all that is listed: a walk of a large tree takes long.
constexpr int kEntriesMax = 4096;
constexpr size_t kHeadBytes = 64 * kKiB;

// A file that is only looked at.
class OpenFile final : public ContainerInput {
 public:
  explicit OpenFile(int fd) : fd_(fd) {}
  Result<std::span<const std::byte>> Next() override { return std::span<const std::byte>(); }
  Status ReadAt(uint64_t offset, std::span<std::byte> out) override {
    return Read(offset, out) == out.size() ? Status() : Status(Code::kChanged, "it is shorter");
  }
  // How many bytes there were.
  size_t Read(uint64_t offset, std::span<std::byte> out) const {
    size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

 private:
  const int fd_;
};

struct Look {
  bool is_image = false;
  std::string_view kind;  // of a container
};

Look LookAt(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK));
  struct stat info = {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  OpenFile input(fd.get());
  std::vector<std::byte> head(kHeadBytes);
  head.resize(input.Read(0, head));
  if (!ImageExtension(head).empty()) return {.is_image = true, .kind = {}};
  Container container = {.input = input, .name = path, .bytes = static_cast<uint64_t>(info.st_size), .attributes = {}};
  const Result<ContainerKind> kind = FindContainerKind(container, head);
  return {.is_image = false, .kind = kind.ok() ? DescribeContainer(*kind, head) : std::string_view()};
}

}  // namespace

std::optional<FoundContainer> FindContainerIn(const std::string& folder, const PathFilter& filter) {
  using std::filesystem::file_type;
  using Walk = std::filesystem::recursive_directory_iterator;
  std::error_code error;
  Walk at(folder, std::filesystem::directory_options::skip_permission_denied, error);
  std::optional<FoundContainer> found;
  int files = 0;
  for (int entries = 0; !error && at != Walk() && entries < kEntriesMax; ++entries, at.increment(error)) {
    const std::string path = at->path().string();
    const std::string below = at->path().lexically_relative(folder).string();
    const file_type type = at->symlink_status(error).type();
    if (type == file_type::directory && !filter.TakesFolder(below)) at.disable_recursion_pending();
    if (type != file_type::regular || !filter.TakesFile(below)) continue;
    if (files++ == kFilesMax) break;
    const Look look = LookAt(path);
    if (look.is_image) return std::nullopt;
    if (!found && !look.kind.empty()) found = FoundContainer{.path = path, .kind = look.kind};
  }
  return found;
}

}  // namespace augur
