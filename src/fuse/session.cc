// SPDX-License-Identifier: Apache-2.0
#include "fuse/session.h"

#define FUSE_USE_VERSION FUSE_MAKE_VERSION(3, 12)
#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/limited_log.h"
#include "base/thread_refusal.h"

namespace augur {
namespace {

// Wakes a session thread out of read(2). Its handler does nothing: the EINTR is all that is wanted.
constexpr int kWakeSignal = SIGUSR2;

void DoNothing(int /*signal*/) {}

// Every other thread of the daemon has the signal blocked.
void SetWakeSignal(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, kWakeSignal);
  pthread_sigmask(how, &set, nullptr);
}

void LogFromLibfuse(fuse_log_level level, const char* format, va_list arguments) {
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::string line = text.data();
  while (!line.empty() && line.back() == '\n') line.pop_back();
  if (level <= FUSE_LOG_ERR) {
    LogLimited(spdlog::level::err, "libfuse", line, "libfuse: " + line);
  } else if (level == FUSE_LOG_WARNING) {
    LogLimited(spdlog::level::warn, "libfuse", line, "libfuse: " + line);
  } else {
    spdlog::debug("libfuse: {}", line);
  }
}

bool IsInit(std::span<const std::byte> request) {
  fuse_in_header header{};
  if (request.size() < sizeof header) return false;
  std::memcpy(&header, request.data(), sizeof header);
  return header.opcode == FUSE_INIT;
}

// While an INIT is answered: where its answer is taken down; and whether the kernel knows it.
thread_local std::vector<std::byte>* init_reply = nullptr;
thread_local bool swallows_replies = false;

ssize_t WriteDevice(int fd, iovec* pieces, int count, void* /*userdata*/) {
  if (init_reply == nullptr) return writev(fd, pieces, count);
  for (const iovec& piece : std::span(pieces, static_cast<size_t>(count))) {
    const auto* const bytes = static_cast<const std::byte*>(piece.iov_base);
    init_reply->insert(init_reply->end(), bytes, bytes + piece.iov_len);
  }
  return swallows_replies ? static_cast<ssize_t>(init_reply->size()) : writev(fd, pieces, count);
}
ssize_t ReadDevice(int fd, void* buffer, size_t bytes, void* /*userdata*/) { return read(fd, buffer, bytes); }

}  // namespace

struct Session::Thread {
  Session* session = nullptr;
  pthread_t id{};
  std::atomic<bool> done = false;
};

Session::Session(UniqueFd event, FileSystem& file_system, Statistics& statistics, const SessionOptions& options)
    : options_(options), event_(std::move(event)), operations_(file_system, statistics, options.operations) {}

Result<std::unique_ptr<Session>> Session::Make(UniqueFd device, FileSystem& file_system, Statistics& statistics,
                                               const SessionOptions& options) {
  AUGUR_CHECK(options.threads > 0);
  UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) return ErrnoStatus(errno, "eventfd");
  std::unique_ptr<Session> session(new Session(std::move(event), file_system, statistics, options));

  fuse_set_log_func(LogFromLibfuse);
  std::array<char, 8> name = {"augurfs"};
  std::array<char*, 2> argv = {name.data(), nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(1, argv.data());
  session->session_ =
      fuse_session_new(&arguments, &Operations::Table(), sizeof(fuse_lowlevel_ops), &session->operations_);
  fuse_opt_free_args(&arguments);  // libfuse has made a copy of them
  if (session->session_ == nullptr) return Status(Code::kIo, "libfuse cannot make a session");
  const fuse_custom_io io = {
      .writev = WriteDevice, .read = ReadDevice, .splice_receive = nullptr, .splice_send = nullptr};
  const int error = fuse_session_custom_io(session->session_, &io, device.get());
  if (error != 0) return ErrnoStatus(error < 0 ? -error : EINVAL, "libfuse: the descriptor of the mount");
  session->notifications_ = std::make_shared<NotifyChannel>(device.Release());  // libfuse closes the descriptor
  return session;
}

Session::~Session() { Stop(); }

Status Session::Start() {
  AUGUR_CHECK(threads_.empty());
  struct sigaction action {};
  action.sa_handler = DoNothing;  // and without SA_RESTART
  sigaction(kWakeSignal, &action, nullptr);
  SetWakeSignal(SIG_BLOCK);
  if (!options_.init.empty()) AUGUR_TRY(Resume());
  for (unsigned i = 0; i < options_.threads; ++i) {
    auto thread = std::make_unique<Thread>();
    thread->session = this;
    const int error = pthread_create(&thread->id, nullptr, ThreadMain, thread.get());
    if (error != 0) return ThreadRefusal(error).In("thread " + std::to_string(i + 1) + " of the mount");
    threads_.push_back(std::move(thread));
  }
  return Status::Ok();
}

void* Session::ThreadMain(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  pthread_setname_np(pthread_self(), "augur-fuse");
  SetWakeSignal(SIG_UNBLOCK);
  thread->session->Serve();
  thread->done.store(true, std::memory_order_release);
  return nullptr;
}

// Brings libfuse and the operations into the state in which the answer to this INIT left those of another daemon: the
// same program with the same options gives the same answer.
Status Session::Resume() {
  swallows_replies = true;
  const std::vector<std::byte> reply = ProcessInit(options_.init);
  swallows_replies = false;
  if (!std::ranges::equal(reply, options_.init_reply)) {
    return {Code::kUnsupported,
            "this program speaks otherwise to the kernel than the one that mounted, so it cannot go on with this "
            "mount: unmount, and mount again with it"};
  }
  Become(SessionState::kServing);
  return Status::Ok();
}

std::vector<std::byte> Session::ProcessInit(std::span<const std::byte> init) {
  std::vector<std::byte> copy(init.begin(), init.end());
  std::vector<std::byte> reply;
  fuse_buf request{};
  request.mem = copy.data();
  request.size = copy.size();
  init_reply = &reply;
  fuse_session_process_buf(session_, &request);
  init_reply = nullptr;
  return reply;
}

void Session::Serve() {
  fuse_buf request{};  // libfuse allocates its memory with malloc at the first use
  while (fuse_session_exited(session_) == 0) {
    const int bytes = fuse_session_receive_buf(session_, &request);
    if (bytes == -EINTR || bytes == -EAGAIN) continue;
    if (bytes < 0) spdlog::error("reading requests from the kernel: {}", ErrnoStatus(-bytes, "/dev/fuse").text());
    if (bytes <= 0) break;  // 0: unmounted
    // The first request is INIT, and the kernel sends no other before its answer.
    const bool is_starting = state_.load(std::memory_order_relaxed) == SessionState::kStarting;
    const std::span content(static_cast<const std::byte*>(request.mem), request.size);
    if (is_starting && options_.on_init && IsInit(content)) {
      const std::vector<std::byte> reply = ProcessInit(content);
      options_.on_init(content, reply);
    } else {
      fuse_session_process_buf(session_, &request);
    }
    if (is_starting) Become(SessionState::kServing);
  }
  std::free(request.mem);  // NOLINT(cppcoreguidelines-no-malloc): libfuse's
  fuse_session_exit(session_);
  Become(SessionState::kEnded);
}

void Session::Become(SessionState state) {
  SessionState before = state_.load(std::memory_order_acquire);
  do {
    if (before >= state) return;
  } while (!state_.compare_exchange_weak(before, state, std::memory_order_acq_rel));
  const uint64_t one = 1;
  (void)!write(event_.get(), &one, sizeof one);
}

void Session::StopTaking() {
  // While the threads still answer: a notification may wait for a page that is locked until a READ is answered, and
  // holds the descriptor open as long.
  if (notifications_) notifications_->Close();
  fuse_session_exit(session_);
  for (const std::unique_ptr<Thread>& thread : threads_) {
    // A signal that comes between the look at the exit flag and read(2) is lost, so it is sent until it has worked.
    constexpr useconds_t kAgainUs = 1000;
    while (!thread->done.load(std::memory_order_acquire)) {
      pthread_kill(thread->id, kWakeSignal);
      usleep(kAgainUs);
    }
    pthread_join(thread->id, nullptr);
  }
  threads_.clear();
}

void Session::Stop() {
  if (session_ == nullptr) return;
  StopTaking();
  operations_.WaitIdle();
  fuse_session_destroy(session_);
  session_ = nullptr;
}

}  // namespace augur
