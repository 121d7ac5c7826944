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

ssize_t BytesOf(std::span<const iovec> pieces) {
  size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return static_cast<ssize_t>(bytes);
}

ssize_t ReadDevice(int fd, void* buffer, size_t bytes, void* /*userdata*/) { return read(fd, buffer, bytes); }

void Process(fuse_session* session, std::span<std::byte> request) {
  fuse_buf buffer{};
  buffer.mem = request.data();
  buffer.size = request.size();
  fuse_session_process_buf(session, &buffer);
}

// What becomes of libfuse's answer to INIT.
struct InitAnswer {
  bool takes_uring = false;  // it takes the kernel's offer, of which libfuse 3.14 does not know
  bool is_sent = false;      // else the kernel has it already
  std::vector<std::byte> bytes = {};
};
thread_local InitAnswer* init_answer = nullptr;  // while INIT is answered

ssize_t WriteInit(int device, std::span<const iovec> pieces, InitAnswer& answer) {
  for (const iovec& piece : pieces) {
    const auto* const bytes = static_cast<const std::byte*>(piece.iov_base);
    answer.bytes.insert(answer.bytes.end(), bytes, bytes + piece.iov_len);
  }
  fuse_init_out content{};
  // A refusal is shorter.
  if (answer.takes_uring && answer.bytes.size() == sizeof(fuse_out_header) + sizeof content) {
    std::byte* const at = answer.bytes.data() + sizeof(fuse_out_header);
    std::memcpy(&content, at, sizeof content);
    UringTransport::Accept(content);
    std::memcpy(at, &content, sizeof content);
  }
  return answer.is_sent ? write(device, answer.bytes.data(), answer.bytes.size()) : BytesOf(pieces);
}

// Gives libfuse an INIT, and returns what it has answered.
std::vector<std::byte> AnswerInit(fuse_session* session, std::span<const std::byte> init, InitAnswer answer) {
  std::vector<std::byte> copy(init.begin(), init.end());
  init_answer = &answer;
  Process(session, copy);
  init_answer = nullptr;
  return std::move(answer.bytes);
}

}  // namespace

struct Session::Thread {
  Session* session = nullptr;
  pthread_t id{};
  std::atomic<bool> done = false;
};

Session::Session(UniqueFd event, FileSystem& file_system, Statistics& statistics, const SessionOptions& options,
                 std::unique_ptr<UringTransport> uring)
    : options_(options),
      event_(std::move(event)),
      operations_(file_system, statistics, options.operations),
      uring_(std::move(uring)) {
  operations_.uring = uring_.get();
}

Result<std::unique_ptr<Session>> Session::Make(UniqueFd device, FileSystem& file_system, Statistics& statistics,
                                               const SessionOptions& options, std::unique_ptr<UringTransport> uring) {
  AUGUR_CHECK(options.threads > 0);
  UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) return ErrnoStatus(errno, "eventfd");
  std::unique_ptr<Session> session(new Session(std::move(event), file_system, statistics, options, std::move(uring)));

  fuse_set_log_func(LogFromLibfuse);
  std::array<char, 8> name = {"augurfs"};
  std::array<char*, 2> argv = {name.data(), nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(1, argv.data());
  session->session_ = fuse_session_new(&arguments, &Operations::Table(), sizeof(fuse_lowlevel_ops),
                                       static_cast<Operations*>(&session->operations_));
  fuse_opt_free_args(&arguments);  // libfuse has made a copy of them
  if (session->session_ == nullptr) return Status(Code::kIo, "libfuse cannot make a session");
  const fuse_custom_io io = {
      .writev = WriteReply, .read = ReadDevice, .splice_receive = nullptr, .splice_send = nullptr};
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
  if (uring_) AUGUR_TRY(StartUring(fuse_session_fd(session_)));
  if (!options_.init.empty()) AUGUR_TRY(Resume());
  for (unsigned i = 0; i < options_.threads; ++i) {
    auto thread = std::make_unique<Thread>();
    thread->session = this;
    const int error = pthread_create(&thread->id, nullptr, ThreadMain, thread.get());
    if (error != 0) return ThreadRefusal(error).In("thread " + std::to_string(i + 1) + " of the mount");
    threads_.push_back(std::move(thread));
  }
  return over_uring() ? StartCoreRequests() : Status::Ok();
}

// The kernel hands out what came while there was no daemon at each answer of the core, and not before: a lone reader
// would wait for another one.
Status Session::StartCoreRequests() {
  core_requests_ = CoreRequests::Start({.mount_point = options_.mount_point, .each = uring_->depth()});
  return core_requests_->status();
}

Status Session::StartUring(int device) {
  return uring_->Start(device, {.serve = [this](std::span<std::byte> request) { Process(session_, request); },
                                .ended = [this] { End(); }});
}

ssize_t Session::WriteReply(int device, iovec* pieces, int count, void* served) {
  const std::span<const iovec> reply(pieces, static_cast<size_t>(count));
  fuse_out_header header{};
  std::memcpy(&header, reply[0].iov_base, sizeof header);  // libfuse has it in one piece
  if (UringTransport::Carries(header.unique)) {
    static_cast<Served*>(static_cast<Operations*>(served))->uring->Reply(header.unique, reply);
    return BytesOf(reply);
  }
  if (init_answer != nullptr) return WriteInit(device, reply, *init_answer);
  return writev(device, pieces, count);
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
  const bool takes_uring = uring_ != nullptr;
  const std::vector<std::byte> reply = AnswerInit(session_, options_.init, {.takes_uring = takes_uring});
  if (!std::ranges::equal(reply, options_.init_reply)) {
    return {Code::kUnsupported,
            "this program speaks otherwise to the kernel than the one that mounted, so it cannot go on with this "
            "mount: unmount, and mount again with it"};
  }
  if (options_.on_taking) options_.on_taking();
  if (takes_uring) AUGUR_TRY(uring_->Open());
  over_uring_.store(takes_uring, std::memory_order_release);
  Become(SessionState::kServing);
  return Status::Ok();
}

Status Session::ServeInit(std::span<const std::byte> init) {
  const bool takes_uring = uring_ != nullptr && UringTransport::IsOffered(init);
  const std::vector<std::byte> reply = AnswerInit(session_, init, {.takes_uring = takes_uring, .is_sent = true});
  if (options_.on_init) options_.on_init(init, reply);
  if (!takes_uring) return Status::Ok();
  const Status opened = uring_->Open();
  if (opened.code() == Code::kUnsupported) return Status::Ok();  // the kernel has taken the offer back
  AUGUR_TRY(opened);
  over_uring_.store(true, std::memory_order_release);
  return Status::Ok();
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
    const std::span content(static_cast<std::byte*>(request.mem), request.size);
    if (is_starting && IsInit(content)) {
      const Status status = ServeInit(content);
      if (!status.ok()) spdlog::error("{}", status.text());
      if (!status.ok()) break;
    } else {
      Process(session_, content);
    }
    if (is_starting) Become(SessionState::kServing);
  }
  std::free(request.mem);  // NOLINT(cppcoreguidelines-no-malloc): libfuse's
  End();
}

void Session::End() {
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
  core_requests_.reset();
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
  if (uring_) uring_->Stop();
}

// A notification waits for requests, so it ends before the queues keep those for the next daemon.
void Session::HandOver() {
  core_requests_.reset();
  if (notifications_) notifications_->Close();
  std::unique_ptr<CoreRequests> last;
  if (over_uring()) last = uring_->Hold(options_.mount_point);
  StopTaking();
  last_requests_ = std::move(last);
}

void Session::Stop() {
  if (session_ == nullptr) return;
  StopTaking();
  operations_.WaitIdle();
  uring_.reset();  // it holds the device open
  fuse_session_destroy(session_);
  session_ = nullptr;
}

}  // namespace augur
