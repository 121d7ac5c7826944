// SPDX-License-Identifier: Apache-2.0
#include "cache/retained_cache_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <ctime>
#include <memory>

#include "base/units.h"
#include "cache/retained_cache_lock.h"

namespace augur {
namespace {

constexpr std::string_view kNamePrefix = "augurfs-";
constexpr std::time_t kForeignDebrisSeconds = std::time_t{24} * 60 * 60;

std::string Hex16(uint64_t value) {
  std::string text(16, '0');
  for (size_t at = text.size(); at-- > 0; value >>= 4) text[at] = "0123456789abcdef"[value & 15];
  return text;
}

// FNV-1a: two identities of one hash do not share, the second finds a file that is not its own
// (CheckRetainedCacheFile).
uint64_t NameHash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

mode_t ModeFor(std::optional<gid_t> group) { return group ? 0660 : 0600; }

Status Untrusted(const std::string& path, const char* cause) {
  return {Code::kPermission, path + ": " + cause + ": whoever made it must remove it"};
}

Result<UniqueFd> Checked(UniqueFd fd, const std::string& path, std::optional<gid_t> group) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(info.st_mode)) return Untrusted(path, "is not a regular file");
  if (!group && info.st_uid != ::geteuid()) return Untrusted(path, "belongs to another user");
  if (group && info.st_gid != *group) return Untrusted(path, "belongs to another group");
  if ((info.st_mode & 0777) != ModeFor(group)) return Untrusted(path, "is open to others than it should be");
  if (info.st_nlink > 1) return Untrusted(path, "has a second name");
  return fd;
}

// The part of a header that never moves, as text that ends where it must.
std::optional<std::string> StorePathOf(const RetainedCacheHeader& header) {
  const uint32_t bytes = header.store_path_bytes.Load();
  if (header.magic.Copy() != kRetainedCacheMagic || bytes > kRetainedCachePathMax) return std::nullopt;
  return std::string(header.store_path.Copy().data(), bytes);
}

std::string BootIdOf(const RetainedCacheHeader& header) {
  const auto text = header.boot_id.Copy();
  return {text.begin(), std::ranges::find(text, '\0')};
}

// REQUIRES: the file's lock is held, and no process is attached.
bool IsDebris(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return false;
  auto header = std::make_unique<RetainedCacheHeader>();
  const ssize_t bytes = ::pread(fd, header.get(), sizeof(*header), 0);
  if (bytes < 0) return false;
  const std::optional<std::string> store = StorePathOf(*header);
  if (bytes != sizeof(*header) || !store || BootIdOf(*header) != BootId()) return true;
  struct stat gone {};
  if (store->empty() || ::stat(store->c_str(), &gone) == 0 || (errno != ENOENT && errno != ENOTDIR)) return false;
  return header->mount_namespace.Load() == MountNamespace() ||
         std::time(nullptr) - info.st_mtime > kForeignDebrisSeconds;
}

}  // namespace

std::string RetainedCachePath(const std::string& folder, std::string_view identity, std::optional<gid_t> group) {
  const std::string who = group ? "g" + std::to_string(*group) : std::to_string(::geteuid());
  return folder + "/" + std::string(kNamePrefix) + who + "-" + Hex16(NameHash(identity));
}

Result<UniqueFd> OpenRetainedCacheFile(const std::string& path, std::optional<gid_t> group) {
  // First without O_CREAT: the kernel refuses that for a file of another one of the group in a folder with the sticky
  // bit (fs.protected_regular). O_NONBLOCK so that nothing waits for the other end of a pipe of that name.
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  constexpr int kTries = 16;
  for (int tries = 0; tries < kTries; ++tries) {
    UniqueFd fd(::open(path.c_str(), kFlags));
    if (fd.valid()) return Checked(std::move(fd), path, group);
    if (errno == ELOOP) return Untrusted(path, "is a symbolic link");
    if (errno != ENOENT) return ErrnoStatus(errno, path);
    fd.Reset(::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0600));
    if (fd.valid()) {
      if (group &&
          (::fchown(fd.get(), static_cast<uid_t>(-1), *group) != 0 || ::fchmod(fd.get(), ModeFor(group)) != 0)) {
        const Status failed = ErrnoStatus(errno, path + ": cannot be given to group " + std::to_string(*group));
        ::unlink(path.c_str());
        return failed;
      }
      return Checked(std::move(fd), path, group);
    }
    if (errno != EEXIST) return ErrnoStatus(errno, path);
  }
  return Status(Code::kBusy, path + ": another program makes and removes it again and again: end that program");
}

bool StillNamed(const std::string& path, int fd) {
  struct stat by_name {};
  struct stat by_fd {};
  return ::lstat(path.c_str(), &by_name) == 0 && ::fstat(fd, &by_fd) == 0 && by_name.st_ino == by_fd.st_ino &&
         by_name.st_dev == by_fd.st_dev;
}

Result<RetainedCacheGeometry> CheckRetainedCacheFile(int fd, std::string_view identity) {
  const auto refuse = [](const char* cause) { return Status(Code::kCorrupt, cause); };
  auto header = std::make_unique<RetainedCacheHeader>();
  struct stat info {};
  if (::fstat(fd, &info) != 0 || ::pread(fd, header.get(), sizeof(*header), 0) != sizeof(*header)) {
    return refuse("it is too short");
  }
  if (header->magic.Copy() != kRetainedCacheMagic) return refuse("it is not a cache, or was not finished");
  if (header->version.Load() != kRetainedCacheVersion) return refuse("it was made by another version of augurfs");
  if (BootIdOf(*header) != BootId()) return refuse("it was made before the last boot");
  const uint32_t identity_bytes = header->identity_bytes.Load();
  const auto text = header->identity.Copy();
  if (identity_bytes > text.size() || std::string_view(text.data(), identity_bytes) != identity) {
    return refuse("it is of another store");
  }
  const RetainedCacheGeometry geometry{.slab_count = header->slab_count.Load(),
                                       .bucket_count = header->bucket_count.Load()};
  if (geometry.slab_count == 0 || geometry.slab_count > kSlabCountMax || !std::has_single_bit(geometry.bucket_count) ||
      geometry.total_bytes() != static_cast<uint64_t>(info.st_size)) {
    return refuse("its header is damaged");
  }
  return geometry;
}

std::string BootId() {
  const UniqueFd fd(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::array<char, 40> text{};
  const ssize_t bytes = fd.valid() ? ::read(fd.get(), text.data(), text.size()) : 0;
  std::string id(text.data(), bytes > 0 ? static_cast<size_t>(bytes) : 0);
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

uint64_t MountNamespace() {
  struct stat info {};
  return ::stat("/proc/self/ns/mnt", &info) == 0 ? info.st_ino : 0;
}

uint64_t RetainedCacheFileBytes(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
  return static_cast<uint64_t>(info.st_blocks) * 512;
}

std::vector<std::string> SweepRetainedCaches(const std::string& folder) {
  std::vector<std::string> removed;
  const std::unique_ptr<DIR, int (*)(DIR*)> names(::opendir(folder.c_str()), ::closedir);
  if (!names) return removed;
  while (const dirent* name = ::readdir(names.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
    const std::string path = folder + "/" + name->d_name;
    const std::string_view text = name->d_name;
    if (!text.starts_with(kNamePrefix)) continue;
    UniqueFd opened(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info {};
    if (!opened.valid() || ::fstat(opened.get(), &info) != 0 || info.st_uid != ::geteuid()) continue;
    const bool of_group = text.substr(kNamePrefix.size()).starts_with("g");
    const Result<UniqueFd> fd = Checked(std::move(opened), path, of_group ? std::optional(info.st_gid) : std::nullopt);
    if (!fd.ok()) continue;
    // Who attaches does so under this lock, and then looks whether the file still has its name.
    RetainedCacheLock lock(fd->get());
    if (!lock.Lock(0)) continue;
    if (lock.LiveSlots() == 0 && IsDebris(fd->get()) && StillNamed(path, fd->get()) && ::unlink(path.c_str()) == 0) {
      removed.push_back(path);
    }
    lock.Unlock();
  }
  return removed;
}

}  // namespace augur
