// SPDX-License-Identifier: Apache-2.0
#include "fuse/operations.h"

#define FUSE_USE_VERSION FUSE_MAKE_VERSION(3, 12)
#include <fuse_lowlevel.h>
#include <sys/statvfs.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "fs/errno_table.h"
#include "fuse/attributes.h"

namespace augur {
namespace {

// The tree cannot change while it is mounted, so names, missing names and attributes are good for as long as the kernel
// cares to keep them. Ten days (SEMANTICS.md C2), not for ever, so that a bug of ours ends some day.
constexpr double kTimeoutSeconds = 10 * 24 * 3600;

// One reply to a READDIRPLUS at most: what the C library asks for. An item is 152 bytes and its name, so these are
// about 350 of them, and the round trip of 20 us is 0.06 us an item: more memory would buy nothing.
constexpr size_t kListingBytesMax = kListingBytes;

Operations& Of(fuse_req_t request) { return *static_cast<Operations*>(fuse_req_userdata(request)); }

fuse_entry_param ToEntry(const NodeAttributes& attributes) {
  fuse_entry_param entry{};
  entry.ino = attributes.node;
  entry.attr = ToStat(attributes);
  entry.attr_timeout = kTimeoutSeconds;
  entry.entry_timeout = attributes.lasting ? kTimeoutSeconds : 0;
  return entry;
}

void ReplyFailure(fuse_req_t request, const Status& status) { fuse_reply_err(request, ErrnoOf(status.code())); }

}  // namespace

// The functions of the table: each decodes, calls, replies. None waits for the disk, but for pages of the index.
struct Handlers {
  static void Init(void* userdata, fuse_conn_info* connection) {
    Operations& operations = *static_cast<Operations*>(userdata);
    // Chosen from nothing, not from libfuse's defaults. Left out on purpose: AUTO_INVAL_DATA (nothing changes, and it
    // makes each read look at the attributes); READDIRPLUS_AUTO (leaves most inodes of a scan unknown); ASYNC_DIO (its
    // waiting readers cannot be killed); ATOMIC_O_TRUNC (with OPEN unanswered the kernel would truncate without
    // asking); locks and ACLs (the kernel has local ones); splice (replies come from memory, where writev is faster).
    constexpr unsigned kWanted = FUSE_CAP_ASYNC_READ | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_READDIRPLUS |
                                 FUSE_CAP_EXPLICIT_INVAL_DATA | FUSE_CAP_CACHE_SYMLINKS | FUSE_CAP_NO_OPEN_SUPPORT |
                                 FUSE_CAP_NO_OPENDIR_SUPPORT;
    connection->want = kWanted & connection->capable;
    connection->max_write = operations.options_.request_bytes_max;
    // Above the congestion threshold the kernel skips its readahead. The kernel's 12 and 9 are for slow devices.
    connection->max_background = operations.options_.background_requests_max;
    connection->congestion_threshold = std::max(1U, operations.options_.background_requests_max * 3 / 4);
    operations.no_open_ = !operations.options_.observe_open && (connection->capable & FUSE_CAP_NO_OPEN_SUPPORT) != 0;
    operations.no_opendir_ = (connection->capable & FUSE_CAP_NO_OPENDIR_SUPPORT) != 0;
  }

  static void Lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    // The kernel passes on names of up to 1,024 bytes.
    if (std::strlen(name) > NAME_MAX) {
      fuse_reply_err(request, ENAMETOOLONG);
      return;
    }
    WhenReady(
        request, parent, FileSystem::Ask::kName, name,
        [request, parent](const std::string& asked) { ReplyToLookup(request, parent, asked.c_str()); },
        [&] { ReplyToLookup(request, parent, name); });
  }

  static void ReplyToLookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    Operations& operations = Of(request);
    const Result<NodeAttributes> found = operations.file_system_.Lookup(parent, name, fuse_req_ctx(request)->uid);
    if (found.ok()) {
      const fuse_entry_param entry = ToEntry(*found);
      operations.statistics_.Raise(Gauge::kKernelInodes, 1);
      // A reply whose reader waits no longer is not counted by the kernel, and so never forgotten.
      if (fuse_reply_entry(request, &entry) != 0) operations.Forgotten(found->node, 1);
    } else if (found.status().code() == Code::kNotFound) {
      // Node 0 with a timeout: the kernel remembers that there is no such name. It would not remember an ENOENT.
      fuse_entry_param none{};
      none.entry_timeout = operations.file_system_.RemembersMissing(parent) ? kTimeoutSeconds : 0;
      fuse_reply_entry(request, &none);
    } else {
      ReplyFailure(request, found.status());
    }
  }

  static void Forget(fuse_req_t request, fuse_ino_t node, uint64_t lookups) {
    Of(request).Forgotten(node, lookups);
    fuse_reply_none(request);
  }
  static void ForgetMulti(fuse_req_t request, size_t count, fuse_forget_data* forgets) {
    for (const fuse_forget_data& forgotten : std::span(forgets, count)) {
      Of(request).Forgotten(forgotten.ino, forgotten.nlookup);
    }
    fuse_reply_none(request);
  }

  // Calls `now`, or, where the file system has to make something first, `later` on another thread.
  template <typename Later, typename Now>
  static void WhenReady(fuse_req_t request, fuse_ino_t node, FileSystem::Ask ask, const char* name, const Later& later,
                        const Now& now) {
    Operations& operations = Of(request);
    std::shared_ptr<const void> pin;
    if (operations.file_system_.IsReady(node, ask, name, &pin)) return now();
    operations.RequestBegins();
    operations.file_system_.Prepare(node, ask, name, [&operations, later, name = std::string(name)] {
      later(name);
      operations.RequestEnds();
    });
  }

  static void GetAttributes(fuse_req_t request, fuse_ino_t node, fuse_file_info* /*file*/) {
    WhenReady(
        request, node, FileSystem::Ask::kAttributes, "",
        [request, node](const std::string& /*name*/) { ReplyToGetAttributes(request, node); },
        [&] { ReplyToGetAttributes(request, node); });
  }

  static void ReplyToGetAttributes(fuse_req_t request, fuse_ino_t node) {
    const Result<NodeAttributes> attributes = Of(request).file_system_.GetAttributes(node);
    if (!attributes.ok()) return ReplyFailure(request, attributes.status());
    const struct stat out = ToStat(*attributes);
    fuse_reply_attr(request, &out, kTimeoutSeconds);
  }

  static void ReadLink(fuse_req_t request, fuse_ino_t node) {
    const Result<std::string_view> target = Of(request).file_system_.ReadLink(node);
    if (!target.ok()) return ReplyFailure(request, target.status());
    // The reply's length is what counts; the kernel ends the string itself.
    fuse_reply_buf(request, target->data(), target->size());
  }

  static void Open(fuse_req_t request, fuse_ino_t node, fuse_file_info* file) {
    // ENOSYS once: the kernel never asks again, on any file.
    if (Of(request).no_open_) {
      fuse_reply_err(request, ENOSYS);
      return;
    }
    // Before the reply: what the reader does next comes after it.
    if (Of(request).options_.observe_open) {
      Of(request).file_system_.Opened(node, static_cast<uint32_t>(fuse_req_ctx(request)->pid));
    }
    file->keep_cache = 1;  // else each open throws the file's pages away
    file->noflush = 1;     // no FLUSH, which is a round trip for each close
    fuse_reply_open(request, file);
  }

  static void OpenDirectory(fuse_req_t request, fuse_ino_t /*node*/, fuse_file_info* file) {
    if (Of(request).no_opendir_) {
      fuse_reply_err(request, ENOSYS);
      return;
    }
    file->keep_cache = 1;
    file->cache_readdir = 1;
    fuse_reply_open(request, file);
  }

  static void Release(fuse_req_t request, fuse_ino_t /*node*/, fuse_file_info* /*file*/) { fuse_reply_err(request, 0); }

  static void Read(fuse_req_t request, fuse_ino_t node, size_t bytes, off_t offset, fuse_file_info* /*file*/) {
    Operations& operations = Of(request);
    operations.RequestBegins();
    const auto reader = static_cast<uint32_t>(fuse_req_ctx(request)->pid);
    operations.file_system_.Read(
        node, static_cast<uint64_t>(offset), bytes,
        [request, node, &operations](Result<ReadReply> read) {
          ReplyToRead(request, node, operations, std::move(read));
          operations.RequestEnds();
        },
        reader);
  }

  // A failed read is an error, never a short reply: one shorter than asked, before the end of the file, would truncate
  // the file in the kernel. `read` is gone when this returns: RequestEnds promises that no block is held any more.
  static void ReplyToRead(fuse_req_t request, fuse_ino_t node, Operations& operations, Result<ReadReply> read) {
    // Who watches the counters does not move them.
    const bool counted = !read.ok() || !OwnFolder::Own(node);
    if (counted) operations.statistics_.Add(Stat::kReads, 1);
    if (!read.ok()) {
      operations.statistics_.Add(Stat::kReadFailures, 1);
      ReplyFailure(request, read.status());
      return;
    }
    AUGUR_CHECK(read->pieces.size() <= kReadPiecesMax);
    std::vector<iovec> pieces;
    pieces.reserve(read->pieces.size());
    uint64_t bytes = 0;
    for (const std::span<const std::byte> piece : read->pieces) {
      pieces.push_back({.iov_base = const_cast<std::byte*>(piece.data()), .iov_len = piece.size()});
      bytes += piece.size();
    }
    if (counted) operations.statistics_.Add(Stat::kReadBytes, bytes);
    fuse_reply_iov(request, pieces.data(), static_cast<int>(pieces.size()));
  }

  static void ReadDirectoryPlus(fuse_req_t request, fuse_ino_t node, size_t bytes, off_t offset,
                                fuse_file_info* /*file*/) {
    WhenReady(
        request, node, FileSystem::Ask::kItems, "",
        [=](const std::string& /*name*/) { ReplyToReadDirectoryPlus(request, node, bytes, offset); },
        [&] { ReplyToReadDirectoryPlus(request, node, bytes, offset); });
  }

  static void ReplyToReadDirectoryPlus(fuse_req_t request, fuse_ino_t node, size_t bytes, off_t offset) {
    Operations& operations = Of(request);
    uint64_t known = 0;
    const auto add = [&](char* out, size_t room, const char* name, const DirectoryItem& item) {
      fuse_entry_param entry = ToEntry(item.attributes);
      // '.' and '..' must not count as looked up: the kernel sends no FORGET for them.
      // Nor must a name whose node is made by a lookup.
      if (item.name == "." || item.name == ".." || !item.attributes.lasting) entry.ino = 0;
      const size_t needed =
          fuse_add_direntry_plus(request, out, room, name, &entry, static_cast<off_t>(item.next_offset));
      if (needed <= room && entry.ino != 0) {
        ++known;
        operations.Known(entry.ino, 1);
      }
      return needed;
    };
    if (!List(request, node, bytes, offset, add)) operations.Forgotten(node, known);  // all are of its view
  }

  static void ReadDirectory(fuse_req_t request, fuse_ino_t node, size_t bytes, off_t offset, fuse_file_info* /*file*/) {
    WhenReady(
        request, node, FileSystem::Ask::kItems, "",
        [=](const std::string& /*name*/) { ReplyToReadDirectory(request, node, bytes, offset); },
        [&] { ReplyToReadDirectory(request, node, bytes, offset); });
  }

  static void ReplyToReadDirectory(fuse_req_t request, fuse_ino_t node, size_t bytes, off_t offset) {
    (void)List(request, node, bytes, offset,
               [request](char* out, size_t room, const char* name, const DirectoryItem& item) {
                 const struct stat attributes = ToStat(item.attributes);
                 return fuse_add_direntry(request, out, room, name, &attributes, static_cast<off_t>(item.next_offset));
               });
  }

  // `add` puts an item into the room that is left and returns how much it takes; more than the room: it was not put.
  // Returns whether the kernel has what was put.
  template <typename Add>
  static bool List(fuse_req_t request, fuse_ino_t node, size_t bytes, off_t offset, const Add& add) {
    const size_t bytes_max = std::min(bytes, kListingBytesMax);
    const auto buffer = std::make_unique_for_overwrite<char[]>(bytes_max);
    size_t used = 0;
    const Status status =
        Of(request).file_system_.ReadDirectory(node, static_cast<uint64_t>(offset), [&](const DirectoryItem& item) {
          std::array<char, NAME_MAX + 1> name;
          AUGUR_CHECK(item.name.size() < name.size());
          std::memcpy(name.data(), item.name.data(), item.name.size());
          name[item.name.size()] = '\0';
          const size_t needed = add(buffer.get() + used, bytes_max - used, name.data(), item);
          if (needed > bytes_max - used) return false;
          used += needed;
          return true;
        });
    // What was listed before a failure is good: the next request starts at the failure, and gets the error.
    if (!status.ok() && used == 0) {
      ReplyFailure(request, status);
      return true;
    }
    return fuse_reply_buf(request, buffer.get(), used) == 0;
  }

  static void StatFs(fuse_req_t request, fuse_ino_t /*node*/) {
    constexpr unsigned long kUnit = 4096;
    const FileSystemCounts counts = Of(request).file_system_.Counts();
    struct statvfs out {};
    out.f_bsize = kUnit;
    out.f_frsize = kUnit;
    out.f_blocks = (counts.tree_bytes + kUnit - 1) / kUnit;
    out.f_files = counts.files;
    out.f_namemax = NAME_MAX;
    fuse_reply_statfs(request, &out);
  }

  static void Ioctl(fuse_req_t request, fuse_ino_t /*node*/, unsigned int /*command*/, void* /*argument*/,
                    fuse_file_info* /*file*/, unsigned /*flags*/, const void* /*in*/, size_t /*in_bytes*/,
                    size_t /*out_bytes*/) {
    fuse_reply_err(request, ENOTTY);
  }

  // Every change. The mount is read-only, so these come only after a mount -o remount,rw.
  template <typename... Arguments>
  static void Refuse(fuse_req_t request, Arguments... /*arguments*/) {
    fuse_reply_err(request, EROFS);
  }
};

const fuse_lowlevel_ops& Operations::Table() {
  // What is left out is answered ENOSYS by libfuse, and the kernel stops asking: FLUSH, ACCESS (default_permissions),
  // extended attributes, FSYNC, LSEEK (the kernel then knows data from holes by the size), locks.
  static const fuse_lowlevel_ops kTable = [] {
    fuse_lowlevel_ops table{};
    table.init = Handlers::Init;
    table.lookup = Handlers::Lookup;
    table.forget = Handlers::Forget;
    table.forget_multi = Handlers::ForgetMulti;
    table.getattr = Handlers::GetAttributes;
    table.readlink = Handlers::ReadLink;
    table.open = Handlers::Open;
    table.opendir = Handlers::OpenDirectory;
    table.release = Handlers::Release;
    table.releasedir = Handlers::Release;
    table.read = Handlers::Read;
    table.readdir = Handlers::ReadDirectory;
    table.readdirplus = Handlers::ReadDirectoryPlus;
    table.statfs = Handlers::StatFs;
    table.ioctl = Handlers::Ioctl;
    table.setattr = Handlers::Refuse;
    table.mknod = Handlers::Refuse;
    table.mkdir = Handlers::Refuse;
    table.unlink = Handlers::Refuse;
    table.rmdir = Handlers::Refuse;
    table.symlink = Handlers::Refuse;
    table.rename = Handlers::Refuse;
    table.link = Handlers::Refuse;
    table.write = Handlers::Refuse;
    table.create = Handlers::Refuse;
    table.fallocate = Handlers::Refuse;
    return table;
  }();
  return kTable;
}

void Operations::Known(NodeId node, uint64_t lookups) {
  file_system_.Know(node, lookups);
  statistics_.Raise(Gauge::kKernelInodes, lookups);
}

void Operations::Forgotten(NodeId node, uint64_t lookups) {
  file_system_.Forget(node, lookups);
  statistics_.Lower(Gauge::kKernelInodes, lookups);
}

void Operations::RequestBegins() {
  const MutexLock lock(mu_);
  ++requests_;
}

void Operations::RequestEnds() {
  // Notified under the lock: once it is released, WaitIdle may return and this object be gone.
  const MutexLock lock(mu_);
  if (--requests_ == 0) idle_.NotifyAll();
}

void Operations::WaitIdle() {
  const MutexLock lock(mu_);
  while (requests_ > 0) idle_.Wait(mu_);
}

}  // namespace augur
