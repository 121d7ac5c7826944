// SPDX-License-Identifier: Apache-2.0
#include "s3/credential_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/excerpt.h"
#include "base/unique_fd.h"
#include "s3/credential_document.h"

namespace augur {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

// Of what a program may write to one of its streams; what is beyond is read and dropped.
constexpr size_t kStreamBytesMax = 64 << 10;

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> fds = {-1, -1};
  if (pipe2(fds.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  return Pipe{.read = UniqueFd(fds[0]), .write = UniqueFd(fds[1])};
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// A program in a process group of its own. The end of the object kills what is left of it.
class SpawnedProgram {
 public:
  SpawnedProgram() = default;
  ~SpawnedProgram() {
    if (pid_ > 0) (void)Wait(/*kill_it=*/true);
  }
  SpawnedProgram(const SpawnedProgram&) = delete;
  SpawnedProgram& operator=(const SpawnedProgram&) = delete;

  Status Start(std::vector<std::string> words, std::vector<std::string> variables) {
    AUGUR_TRY_ASSIGN(out, MakePipe());
    AUGUR_TRY_ASSIGN(err, MakePipe());
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    AUGUR_CHECK(posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attributes) == 0);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);
    // The daemon's threads take no signals, and the daemon ignores some: the program is to take all as usual.
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    const int error = posix_spawnp(&pid_, words.front().c_str(), &actions, &attributes, Pointers(words).data(),
                                   Pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) {
      pid_ = 0;
      return ErrnoStatus(error, Excerpt(words.front()));
    }
    out_ = std::move(out.read);
    err_ = std::move(err.read);
    process_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!process_.valid()) return ErrnoStatus(errno, "pidfd_open");
    return Status::Ok();
  }

  // Reads both streams until they are closed and the program has ended. False: that has not come by then.
  bool Read(SteadyTime deadline, std::string* output, std::string* errors) {
    while (out_.valid() || err_.valid() || process_.valid()) {
      // A descriptor of -1 is left out.
      std::array<pollfd, 3> streams = {pollfd{.fd = out_.get(), .events = POLLIN, .revents = 0},
                                       pollfd{.fd = err_.get(), .events = POLLIN, .revents = 0},
                                       pollfd{.fd = process_.get(), .events = POLLIN, .revents = 0}};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) return false;
      if (poll(streams.data(), streams.size(), static_cast<int>(left.count())) <= 0) continue;
      if (streams[0].revents != 0) Take(&out_, output);
      if (streams[1].revents != 0) Take(&err_, errors);
      if (streams[2].revents != 0) process_.Reset();
    }
    return true;
  }

  // Its status, as of waitpid; -1 where there is none.
  int Wait(bool kill_it) {
    if (kill_it) kill(-pid_, SIGKILL);
    int status = -1;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }

 private:
  static void Take(UniqueFd* stream, std::string* text) {
    std::array<char, 4096> piece{};
    const ssize_t bytes = read(stream->get(), piece.data(), piece.size());
    if (bytes < 0 && errno == EINTR) return;
    if (bytes <= 0) {
      stream->Reset();
      return;
    }
    text->append(piece.data(), std::min(static_cast<size_t>(bytes), kStreamBytesMax - text->size()));
  }

  pid_t pid_ = 0;
  UniqueFd out_;
  UniqueFd err_;
  UniqueFd process_;
};

std::string OneLine(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::string line(text);
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  return Excerpt(line, 500);
}

Result<Credentials> ReadAnswer(const std::string& output, const std::string& source) {
  const nlohmann::json answer = nlohmann::json::parse(output, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return Status(Code::kInvalid, "what it writes is no object of JSON");
  const auto version = answer.find("Version");
  if (version == answer.end() || *version != 1)
    return Status(Code::kInvalid, "what it writes has no \"Version\": 1, the only one that is known");
  return ParseCredentialDocument(output, "SessionToken", source);
}

}  // namespace

Result<std::vector<std::string>> ShellWords(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool blank = quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r');
    if (blank) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\\' && quote != '\'') {
      if (i + 1 == line.size()) return Status(Code::kInvalid, "a backslash at the end");
      const char next = line[++i];
      if (quote == '"' && next != '"' && next != '\\') words.back() += c;
      words.back() += next;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) return Status(Code::kInvalid, "a quote without its end");
  return words;
}

Result<Credentials> RunCredentialProcess(std::string_view command, const Environment& environment,
                                         const std::string& source, std::chrono::milliseconds time_max) {
  AUGUR_TRY_ASSIGN(words, ShellWords(command));
  if (words.empty()) return Status(Code::kInvalid, "it names no program");
  const SteadyTime deadline = std::chrono::steady_clock::now() + time_max;
  SpawnedProgram program;
  AUGUR_TRY(program.Start(std::move(words), environment.Lines()));
  std::string output;
  std::string errors;
  if (!program.Read(deadline, &output, &errors)) {
    return Status(Code::kIo, "it has not ended in " + std::to_string(time_max.count()) +
                                 " ms: run it by hand; it must ask for nothing");
  }
  const int status = program.Wait(/*kill_it=*/false);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string ending =
        WIFEXITED(status) ? "it ended with status " + std::to_string(WEXITSTATUS(status)) : "a signal ended it";
    return Status(Code::kIo, ending + (errors.empty() ? "" : ": ") + OneLine(errors));
  }
  return ReadAnswer(output, source);
}

}  // namespace augur
