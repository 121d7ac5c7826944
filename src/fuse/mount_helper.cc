// SPDX-License-Identifier: Apache-2.0
#include "fuse/mount_helper.h"

#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/thread.h"
#include "base/units.h"
#include "fuse/helper_process.h"
#include "fuse/mount_device.h"
#include "fuse/passed_fds.h"

namespace augur {
namespace {

// Until a child has ended, or the patience has.
void AwaitEnd(int process) {
  // A killed process ends at once, unless it waits for an answer of the mount. That comes, or the mount ends; where it
  // does not, we are not held up: the child goes when we do.
  constexpr int kPatienceMs = 2000;
  pollfd ended = {.fd = process, .events = POLLIN, .revents = 0};
  while (poll(&ended, 1, kPatienceMs) < 0 && errno == EINTR) {
  }
}

// How a child ended, once it has; nothing when it has not within the patience.
std::optional<std::string> WaitForEnd(int process, pid_t pid) {
  AwaitEnd(process);
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) != pid) return std::nullopt;
  return WIFSIGNALED(status) ? "by signal " + std::to_string(WTERMSIG(status))
                             : "with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<std::unique_ptr<MountHelper>> MountHelper::Fork(const StorePlace& place, uint64_t generation) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return ErrnoStatus(errno, "socketpair");
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return ErrnoStatus(errno, "eventfd");
  const pid_t daemon = getpid();
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, "fork");
  if (pid == 0) RunHelperProcess(std::move(theirs), place, generation, daemon);
  UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) {
    const Status status = ErrnoStatus(errno, "pidfd_open");
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return status;
  }
  return std::unique_ptr<MountHelper>(new MountHelper(pid, std::move(process), std::move(ours), std::move(wake)));
}

MountHelper::MountHelper(pid_t pid, UniqueFd process, UniqueFd socket, UniqueFd wake)
    : pid_(pid), process_(std::move(process)), socket_(std::move(socket)), wake_(std::move(wake)) {}

MountHelper::~MountHelper() {
  {
    const MutexLock lock(mu_);
    ending_ = stopping_ = true;
  }
  // There is nothing that it would have to put in order.
  (void)syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
  if (!thread_.joinable()) {
    HelperEnded();
    MakeRefusedCalls();
    return;
  }
  shutdown(socket_.get(), SHUT_RDWR);  // the thread need not wait for the end of the process to see it
  Wake();
  thread_.join();
}

void MountHelper::End() {
  {
    const MutexLock lock(mu_);
    ending_ = true;
  }
  // There is nothing that it would have to put in order.
  (void)syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
  AwaitEnd(process_.get());
}

Status MountHelper::AttachTo(const std::string& path, const std::string& device_number, UniqueFd clone, Opened opened) {
  AUGUR_CHECK(!thread_.joinable());
  opened_ = std::move(opened);
  path_ = path;
  const std::optional<MountDevice> mount = ParseMountDevice(device_number);
  if (mount) {
    const auto device = std::as_bytes(std::span(&*mount, 1));
    std::vector<std::byte> body(device.begin(), device.end());
    const auto text = std::as_bytes(std::span(path_));
    body.insert(body.end(), text.begin(), text.end());
    const MutexLock lock(mu_);
    asking_ = true;
    // The first packet of all, so the socket has room. That the helper is gone is found by the thread.
    const std::array<int, 1> fds = {clone.get()};
    (void)SendWithFds(socket_.get(), HelperPacket(HelperVerb::kAttach, body.size(), body),
                      clone.valid() ? std::span<const int>(fds) : std::span<const int>());
    if (!selected_view_.empty()) Send(selected_view_);
  } else {
    spdlog::info("{}: the mount cannot be seen from outside (it was handed down); the helper process is not used",
                 Printable(path_));
  }
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-told", [this] { Run(); }));
  thread_ = std::move(thread);
  return Status::Ok();
}

void MountHelper::Stat(std::span<const EntryNumber> files, Done done) {
  Ask(HelperVerb::kStat, files, std::move(done));
}

void MountHelper::Drop(std::span<const EntryNumber> files, Done done) {
  Ask(HelperVerb::kDrop, files, std::move(done));
}

void MountHelper::SelectView(uint32_t view, const std::string& spec, bool is_root) {
  const HelperView head = {.number = view, .is_root = is_root ? 1U : 0U};
  const auto number = std::as_bytes(std::span(&head, 1));
  const auto text = std::as_bytes(std::span(spec));
  std::vector<std::byte> body(number.begin(), number.end());
  body.insert(body.end(), text.begin(), text.end());
  const MutexLock lock(mu_);
  selected_view_ = HelperPacket(HelperVerb::kSelectView, body.size(), body);
  if (asking_) Send(selected_view_);
}

void MountHelper::Watch(std::span<const EntryNumber> folders) {
  if (watching()) Ask(HelperVerb::kWatch, folders, {});
}

void MountHelper::Unwatch() {
  const MutexLock lock(mu_);
  if (asking_) Send(HelperPacket(HelperVerb::kUnwatch, 0, {}));
}

void MountHelper::Ask(HelperVerb verb, std::span<const EntryNumber> entries, Done done) {
  const bool answered = verb != HelperVerb::kWatch;
  const MutexLock lock(mu_);
  if (!asking_ || entries.empty()) {
    if (!answered) return;
    refused_.push_back(std::move(done));
    Wake();
    return;
  }
  while (!entries.empty()) {
    const auto now = entries.first(std::min(entries.size(), kHelperEntriesMax));
    entries = entries.subspan(now.size());
    if (answered) asked_.emplace_back();
    Send(HelperPacket(verb, now.size(), std::as_bytes(now)));
  }
  if (answered) asked_.back() = std::move(done);  // only the answer to the last part is told
}

void MountHelper::Send(Packet packet) {
  const bool first = queued_.empty();
  queued_.push_back(std::move(packet));
  if (!first) return;
  SendQueued();
  if (!queued_.empty()) Wake();
}

void MountHelper::SendQueued() {
  while (!queued_.empty()) {
    const Packet& packet = queued_.front();
    const ssize_t bytes = send(socket_.get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && (errno == EAGAIN || errno == ENOBUFS)) return;
    queued_.pop_front();  // also when the helper is gone: Receive will see it
  }
}

void MountHelper::Wake() {
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

void MountHelper::Run() {
  bool running = true;
  while (true) {
    bool full = false;
    {
      const MutexLock lock(mu_);
      if (running) SendQueued();
      full = !queued_.empty();
      if (stopping_) break;
    }
    const auto events = static_cast<short>(full ? POLLIN | POLLOUT : POLLIN);
    std::array<pollfd, 2> ready = {{{.fd = running ? socket_.get() : -1, .events = events, .revents = 0},
                                    {.fd = wake_.get(), .events = POLLIN, .revents = 0}}};
    if (poll(ready.data(), ready.size(), -1) < 0) continue;
    uint64_t count = 0;
    if (ready[1].revents != 0) (void)!read(wake_.get(), &count, sizeof count);
    if (running && ready[0].revents != 0 && !Receive()) {
      running = false;
      HelperEnded();
    }
    MakeRefusedCalls();
  }
  if (running) HelperEnded();
  MakeRefusedCalls();
}

bool MountHelper::Receive() {
  alignas(HelperHeader) std::array<std::byte, kHelperPacketBytesMax> packet;
  std::vector<UniqueFd> none;
  const ssize_t bytes = ReceiveWithFds(socket_.get(), packet, none, MSG_DONTWAIT);
  if (bytes < 0 && errno == EAGAIN) return true;
  if (bytes < static_cast<ssize_t>(sizeof(HelperHeader))) return false;
  HelperHeader header;
  std::memcpy(&header, packet.data(), sizeof header);
  Understand(header, std::span(packet).first(static_cast<size_t>(bytes)).subspan(sizeof header));
  return true;
}

void MountHelper::Understand(const HelperHeader& header, std::span<const std::byte> body) {
  const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
  switch (header.verb) {
    case HelperVerb::kAttached: usable_.store(true, std::memory_order_release); break;
    case HelperVerb::kDone: {
      Done done;
      {
        const MutexLock lock(mu_);
        AUGUR_CHECK(!asked_.empty());
        done = std::move(asked_.front());
        asked_.pop_front();
      }
      if (done) done();
      break;
    }
    case HelperVerb::kOpened: {
      std::vector<EntryNumber> opened(body.size() / sizeof(EntryNumber));
      std::memcpy(opened.data(), body.data(), opened.size() * sizeof(EntryNumber));
      if (opened_) opened_(header.view, opened);
      break;
    }
    case HelperVerb::kLost: lost_reason_ = text; break;
    case HelperVerb::kUnmounted: unmounted_ = true; break;
    case HelperVerb::kNotWatched:
      watching_.store(false, std::memory_order_release);
      spdlog::warn("{}", text);
      break;
    case HelperVerb::kNote: spdlog::warn("{}", text); break;
    case HelperVerb::kAttach:
    case HelperVerb::kStat:
    case HelperVerb::kDrop:
    case HelperVerb::kSelectView:
    case HelperVerb::kUnwatch:
    case HelperVerb::kWatch: CheckFailed(__FILE__, __LINE__, "an answer, not a request");
  }
}

void MountHelper::HelperEnded() {
  usable_.store(false, std::memory_order_release);
  bool expected = false;
  {
    const MutexLock lock(mu_);
    asking_ = false;
    expected = ending_;
    queued_.clear();
    for (Done& done : asked_) refused_.push_back(std::move(done));
    asked_.clear();
  }
  const std::optional<std::string> how = WaitForEnd(process_.get(), pid_);
  if (expected || unmounted_) return;
  if (!lost_reason_.empty()) {
    spdlog::info("{}; going on without the helper process", lost_reason_);
  } else {
    spdlog::warn(
        "{}: the helper process has ended {}; going on without it: files are pushed when they are looked up; 'augurctl "
        "restart {}' starts another one",
        Printable(path_), how.value_or("in an unknown way"), Printable(path_));
  }
}

void MountHelper::MakeRefusedCalls() {
  while (true) {
    Done done;
    {
      const MutexLock lock(mu_);
      if (refused_.empty()) return;
      done = std::move(refused_.front());
      refused_.pop_front();
    }
    if (done) done();
  }
}

}  // namespace augur
