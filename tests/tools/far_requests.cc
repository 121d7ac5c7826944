// SPDX-License-Identifier: Apache-2.0
#include "far_requests.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/page.h"
#include "base/unique_fd.h"

namespace augur {
namespace {

struct OpenFile {
  UniqueFd fd;
  uint64_t epoch = 0;
};

Far& Of(fuse_req_t request) { return *static_cast<Far*>(fuse_req_userdata(request)); }

// The inode; nullptr: it is stale, and that was answered. Waits while the server does not answer.
const FarNodes::Node* Fresh(fuse_req_t request, fuse_ino_t id) {
  Of(request).weather.WaitForAnswers();
  const FarNodes::Node* const node = Of(request).nodes.Find(id);
  if (node == nullptr) fuse_reply_err(request, ESTALE);
  return node;
}

OpenFile& FileOf(const fuse_file_info* info) { return *reinterpret_cast<OpenFile*>(info->fh); }  // NOLINT: its address

std::string PathOf(const FarNodes::Node& node) { return "/proc/self/fd/" + std::to_string(node.fd.get()); }

void Reply(fuse_req_t request, int result) { fuse_reply_err(request, result == 0 ? 0 : errno); }

void ReplyEntry(fuse_req_t request, const FarNodes::Node& folder, const char* name) {
  fuse_entry_param entry{};
  uint64_t id = 0;
  if (const int error = Of(request).nodes.LookUp(folder, name, &id, &entry.attr); error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  entry.ino = id;
  fuse_reply_entry(request, &entry);
}

void LookUp(fuse_req_t request, fuse_ino_t parent, const char* name) {
  if (const auto* const folder = Fresh(request, parent)) ReplyEntry(request, *folder, name);
}

void Forget(fuse_req_t request, fuse_ino_t id, uint64_t lookups) {
  Of(request).nodes.Forget(id, lookups);
  fuse_reply_none(request);
}

void GetAttributes(fuse_req_t request, fuse_ino_t id, fuse_file_info* /*info*/) {
  const auto* const node = Fresh(request, id);
  if (node == nullptr) return;
  struct stat attributes {};
  if (::fstatat(node->fd.get(), "", &attributes, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0) {
    fuse_reply_err(request, errno);
    return;
  }
  fuse_reply_attr(request, &attributes, 0);
}

void SetAttributes(fuse_req_t request, fuse_ino_t id, struct stat* wanted, int what, fuse_file_info* info) {
  const auto* const node = Fresh(request, id);
  if (node == nullptr) return;
  int result = 0;
  if ((what & FUSE_SET_ATTR_SIZE) != 0) {
    result = info != nullptr ? ::ftruncate(FileOf(info).fd.get(), wanted->st_size)
                             : ::truncate(PathOf(*node).c_str(), wanted->st_size);
  }
  if (result == 0 && (what & FUSE_SET_ATTR_MODE) != 0) result = ::chmod(PathOf(*node).c_str(), wanted->st_mode);
  if (result != 0) {
    fuse_reply_err(request, errno);
    return;
  }
  GetAttributes(request, id, info);
}

void ReadLink(fuse_req_t request, fuse_ino_t id) {
  const auto* const node = Fresh(request, id);
  if (node == nullptr) return;
  std::array<char, PATH_MAX> target{};
  if (::readlinkat(node->fd.get(), "", target.data(), target.size() - 1) < 0) {
    fuse_reply_err(request, errno);
    return;
  }
  fuse_reply_readlink(request, target.data());
}

// Opens what /proc/self/fd names, without the flags that are for the kernel in front of us.
UniqueFd OpenBehind(const std::string& path, int flags) {
  return UniqueFd(::open(path.c_str(), (flags & ~(O_NOFOLLOW | O_DIRECT | O_EXCL | O_CREAT)) | O_CLOEXEC));
}

uint64_t Keep(Far& far, UniqueFd fd) {
  return reinterpret_cast<uint64_t>(new OpenFile{.fd = std::move(fd), .epoch = far.nodes.epoch()});
}

void Open(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) {
  const auto* const node = Fresh(request, id);
  if (node == nullptr) return;
  Of(request).weather.CountOpen();
  UniqueFd fd = OpenBehind(PathOf(*node), info->flags);
  if (!fd.valid()) {
    fuse_reply_err(request, errno);
    return;
  }
  info->fh = Keep(Of(request), std::move(fd));
  fuse_reply_open(request, info);
}

void Create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* info) {
  const auto* const folder = Fresh(request, parent);
  if (folder == nullptr) return;
  UniqueFd fd(::openat(folder->fd.get(), name, (info->flags | O_CREAT | O_CLOEXEC) & ~(O_NOFOLLOW | O_DIRECT), mode));
  fuse_entry_param entry{};
  uint64_t id = 0;
  const int error = fd.valid() ? Of(request).nodes.LookUp(*folder, name, &id, &entry.attr) : errno;
  if (error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  entry.ino = id;
  info->fh = Keep(Of(request), std::move(fd));
  fuse_reply_create(request, &entry, info);
}

void Release(fuse_req_t request, fuse_ino_t /*id*/, fuse_file_info* info) {
  delete &FileOf(info);
  fuse_reply_err(request, 0);
}

void Read(fuse_req_t request, fuse_ino_t /*id*/, size_t bytes, off_t offset, fuse_file_info* info) {
  Far& far = Of(request);
  far.weather.BeginRead(bytes);
  far.weather.WaitForAnswers();
  const OpenFile& file = FileOf(info);
  const bool direct = (info->flags & O_DIRECT) != 0;
  int error = 0;
  std::vector<char> memory;
  if (file.epoch != far.nodes.epoch()) {
    error = far.weather.stale_read_errno;
  } else if (direct && far.options.no_direct) {
    error = EINVAL;
  } else {
    // Where the page cache reads, a short answer would mean that the file has ended.
    if (far.weather.is_short && direct)
      bytes = std::max(bytes / 2 / kPageBytes * kPageBytes, std::min(bytes, kPageBytes));
    memory.resize(bytes);
    const ssize_t got = ::pread(file.fd.get(), memory.data(), bytes, offset);
    if (got < 0) error = errno;
    memory.resize(got < 0 ? 0 : static_cast<size_t>(got));
    if (far.weather.IsHit(far.weather.fail_every)) error = EIO;
    // What the page cache holds would stay wrong.
    if (direct && !memory.empty() && far.weather.IsHit(far.weather.flip_every)) memory[memory.size() / 2] ^= 0x10;
  }
  far.weather.EndRead();
  if (error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  fuse_reply_buf(request, memory.data(), memory.size());
}

void Write(fuse_req_t request, fuse_ino_t id, const char* from, size_t bytes, off_t offset, fuse_file_info* info) {
  if (Fresh(request, id) == nullptr) return;
  const ssize_t done = ::pwrite(FileOf(info).fd.get(), from, bytes, offset);
  if (done < 0) {
    fuse_reply_err(request, errno);
    return;
  }
  fuse_reply_write(request, static_cast<size_t>(done));
}

void Allocate(fuse_req_t request, fuse_ino_t id, int mode, off_t offset, off_t bytes, fuse_file_info* info) {
  if (Fresh(request, id) != nullptr) Reply(request, ::fallocate(FileOf(info).fd.get(), mode, offset, bytes));
}

void Sync(fuse_req_t request, fuse_ino_t id, int /*only_data*/, fuse_file_info* info) {
  if (Fresh(request, id) != nullptr) Reply(request, ::fsync(FileOf(info).fd.get()));
}

void SyncFolder(fuse_req_t request, fuse_ino_t id, int /*only_data*/, fuse_file_info* /*info*/) {
  if (Fresh(request, id) != nullptr) fuse_reply_err(request, 0);
}

void Lock(fuse_req_t request, fuse_ino_t /*id*/, fuse_file_info* /*info*/, int /*how*/) {
  fuse_reply_err(request, ENOLCK);
}

void MakeFolder(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
  const auto* const folder = Fresh(request, parent);
  if (folder == nullptr) return;
  if (::mkdirat(folder->fd.get(), name, mode) != 0) {
    fuse_reply_err(request, errno);
    return;
  }
  ReplyEntry(request, *folder, name);
}

void Unlink(fuse_req_t request, fuse_ino_t parent, const char* name) {
  if (const auto* const folder = Fresh(request, parent)) Reply(request, ::unlinkat(folder->fd.get(), name, 0));
}

void RemoveFolder(fuse_req_t request, fuse_ino_t parent, const char* name) {
  if (const auto* const folder = Fresh(request, parent)) {
    Reply(request, ::unlinkat(folder->fd.get(), name, AT_REMOVEDIR));
  }
}

void Rename(fuse_req_t request, fuse_ino_t parent, const char* name, fuse_ino_t new_parent, const char* new_name,
            unsigned flags) {
  const auto* const from = Fresh(request, parent);
  if (from == nullptr) return;
  const auto* const to = Fresh(request, new_parent);
  if (to != nullptr) Reply(request, ::renameat2(from->fd.get(), name, to->fd.get(), new_name, flags));
}

void StatFileSystem(fuse_req_t request, fuse_ino_t id) {
  const auto* const node = Fresh(request, id);
  if (node == nullptr) return;
  struct statvfs info {};
  if (::fstatvfs(node->fd.get(), &info) != 0) {
    fuse_reply_err(request, errno);
    return;
  }
  fuse_reply_statfs(request, &info);
}

void ReadFolder(fuse_req_t request, fuse_ino_t id, size_t bytes, off_t offset, fuse_file_info* /*info*/) {
  const auto* const node = Fresh(request, id);
  if (node == nullptr) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(PathOf(*node).c_str()), &::closedir);
  if (folder == nullptr) {
    fuse_reply_err(request, errno);
    return;
  }
  std::vector<char> answer(bytes);
  size_t used = 0;
  off_t number = 0;
  while (const dirent* const entry = ::readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
    if (++number <= offset) continue;
    struct stat attributes {};
    attributes.st_ino = entry->d_ino;
    attributes.st_mode = static_cast<mode_t>(entry->d_type) << 12;
    const size_t size =
        fuse_add_direntry(request, answer.data() + used, bytes - used, entry->d_name, &attributes, number);
    if (size > bytes - used) break;
    used += size;
  }
  fuse_reply_buf(request, answer.data(), used);
}

void Begin(void* far, fuse_conn_info* connection) {
  const unsigned in_flight_max = static_cast<const Far*>(far)->options.in_flight_max;
  connection->max_background = in_flight_max;
  connection->congestion_threshold = in_flight_max;
}

}  // namespace

fuse_lowlevel_ops FarRequests(const FarOptions& options) {
  fuse_lowlevel_ops operations{};
  operations.init = Begin;
  operations.lookup = LookUp;
  operations.forget = Forget;
  operations.getattr = GetAttributes;
  operations.setattr = SetAttributes;
  operations.readlink = ReadLink;
  operations.mkdir = MakeFolder;
  operations.unlink = Unlink;
  operations.rmdir = RemoveFolder;
  operations.rename = Rename;
  operations.open = Open;
  operations.create = Create;
  operations.read = Read;
  operations.write = Write;
  operations.release = Release;
  operations.fsync = Sync;
  operations.fsyncdir = SyncFolder;
  operations.readdir = ReadFolder;
  operations.statfs = StatFileSystem;
  operations.fallocate = Allocate;
  if (options.no_locks) operations.flock = Lock;
  return operations;
}

}  // namespace augur
