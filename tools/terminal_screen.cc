// SPDX-License-Identifier: Apache-2.0
#include "tools/terminal_screen.h"

#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace augur {
namespace {

// Of xterm, which all terminals of today know: the other screen and back, the cursor off and on.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr size_t kColumnsUnknown = 80;
constexpr size_t kRowsUnknown = 24;

void Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

winsize SizeNow() {
  winsize size{};
  (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  return size;
}

}  // namespace

Result<TerminalScreen> TerminalScreen::Open() {
  if (isatty(STDOUT_FILENO) == 0) {
    return Status(Code::kInvalid, "stdout is no terminal: --once prints the numbers a single time");
  }
  sigset_t taken;
  sigset_t before;
  sigemptyset(&taken);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH}) sigaddset(&taken, number);
  UniqueFd signals(signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return ErrnoStatus(errno, "signalfd");
  pthread_sigmask(SIG_BLOCK, &taken, &before);
  TerminalScreen screen(std::move(signals), before);
  screen.Enter();
  return screen;
}

TerminalScreen::TerminalScreen(TerminalScreen&& other) noexcept
    : signals_(std::move(other.signals_)),
      mask_before_(other.mask_before_),
      keys_(other.keys_),
      keys_before_(other.keys_before_),
      signal_(other.signal_) {}

TerminalScreen::~TerminalScreen() {
  if (!signals_.valid()) return;
  Leave();
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

void TerminalScreen::Enter() {
  keys_ = tcgetattr(STDIN_FILENO, &keys_before_) == 0;
  if (keys_) {
    termios keys = keys_before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  Write(kEnter);
}

void TerminalScreen::Leave() {
  Write(kLeave);
  if (keys_) (void)tcsetattr(STDIN_FILENO, TCSANOW, &keys_before_);
}

void TerminalScreen::Suspend() {
  Leave();
  (void)raise(SIGSTOP);
  Enter();
}

size_t TerminalScreen::columns() const {
  const winsize size = SizeNow();
  return size.ws_col > 0 ? size.ws_col : kColumnsUnknown;
}

size_t TerminalScreen::rows() const {
  const winsize size = SizeNow();
  return size.ws_row > 0 ? size.ws_row : kRowsUnknown;
}

void TerminalScreen::Show(const std::vector<std::string>& lines) {
  // Written over what is there, each line cleared to its end: nothing flickers.
  std::string text;
  const size_t count = std::min(lines.size(), rows());
  for (size_t i = 0; i < count; ++i) text += "\x1b[" + std::to_string(i + 1) + ";1H" + lines[i] + "\x1b[K";
  Write(text + "\x1b[J");
}

TerminalScreen::Event TerminalScreen::Wait(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return Event::kTime;
    std::array<pollfd, 2> ready = {{{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                    {.fd = keys_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0}}};
    if (poll(ready.data(), ready.size(), static_cast<int>(left)) < 0 && errno != EINTR) return Event::kEnd;
    signalfd_siginfo signal{};
    if (read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
      const auto number = static_cast<int>(signal.ssi_signo);
      if (number == SIGTSTP) Suspend();
      if (number == SIGTSTP || number == SIGWINCH) return Event::kResized;
      signal_ = number;
      return Event::kEnd;
    }
    if ((ready[1].revents & (POLLHUP | POLLERR)) != 0) return Event::kEnd;  // the terminal is gone
    char key = 0;
    if ((ready[1].revents & POLLIN) != 0 && (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q')) {
      return Event::kEnd;
    }
  }
}

}  // namespace augur
