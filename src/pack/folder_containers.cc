// SPDX-License-Identifier: Apache-2.0
#include "pack/folder_containers.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <system_error>
#include <vector>

#include "augur/status.h"
#include "base/read_at.h"
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
  OpenFile(int fd, const std::string& name) : fd_(fd), name_(name) {}
  Result<std::span<const std::byte>> Next() override { return std::span<const std::byte>(); }
  Status ReadAt(uint64_t offset, std::span<std::byte> out) override {
    AUGUR_TRY_ASSIGN(got, ReadUpTo(fd_, name_, out, offset));
    return got == out.size() ? Status() : Status(Code::kChanged, "it is shorter");
  }

 private:
  const int fd_;
  const std::string& name_;
};

struct Look {
  bool is_image = false;
  std::string_view kind;  // of a container
};

Look LookAt(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK));
  struct stat info = {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::vector<std::byte> head(kHeadBytes);
  const Result<size_t> got = ReadUpTo(fd.get(), path, head, 0);
  if (!got.ok()) return {};
  head.resize(*got);
  if (!ImageExtension(head).empty()) return {.is_image = true, .kind = {}};
  OpenFile input(fd.get(), path);
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
