// SPDX-License-Identifier: Apache-2.0
#include "fuse/program_start.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <utility>

#include "base/units.h"

namespace augur {
namespace {

constexpr std::string_view kWord = "--inherited=";
constexpr std::array<std::string_view, 2> kTasks = {"go-on", "next"};

Status NotInherited() {
  return {Code::kInvalid, std::string(kWord.substr(0, kWord.size() - 1)) +
                              ": is for the process augur-holder alone: leave it out ('augurctl restart' upgrades a "
                              "mount)"};
}

// The next number of a list with commas.
bool TakeNumber(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || (end != text.data() + text.size() && *end != ',')) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  text.remove_prefix(text.empty() ? 0 : 1);
  return true;
}

// A later program that this one executes gets none of them.
bool KeepForUs(int fd) { return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0; }

Status NotExecuted(int error, const std::string& path) {
  Status status = ErrnoStatus(error, Printable(path));
  switch (error) {
    case ENOEXEC: return {Code::kInvalid, status.text() + ": it is no program for this machine"};
    case ENOENT: return {Code::kNotFound, status.text() + ": the interpreter or loader that it names is not there"};
    case EACCES: return {Code::kPermission, status.text() + ": chmod +x it, or choose a file system without noexec"};
    default: return status;
  }
}

}  // namespace

std::string InheritedWord(const Inherited& inherited) {
  std::string text(kWord);
  for (const int fd : {inherited.link, inherited.device, inherited.state, inherited.errors}) {
    text += std::to_string(fd) + ",";
  }
  return text + std::string(kTasks.at(inherited.task == HolderLink::Task::kNext ? 1 : 0));
}

Result<std::optional<Inherited>> ReadInheritedWord(std::string_view word) {
  if (!word.starts_with(kWord)) return std::optional<Inherited>();
  word.remove_prefix(kWord.size());
  Inherited inherited;
  for (int* fd : {&inherited.link, &inherited.device, &inherited.state, &inherited.errors}) {
    if (!TakeNumber(word, *fd)) return NotInherited();
  }
  if (word != kTasks[0] && word != kTasks[1]) return NotInherited();
  inherited.task = word == kTasks[1] ? HolderLink::Task::kNext : HolderLink::Task::kGoOn;
  for (const int fd : {inherited.link, inherited.device, inherited.state}) {
    if (fd <= STDERR_FILENO || !KeepForUs(fd)) return NotInherited();
  }
  struct stat info {};
  if (fstat(inherited.link, &info) != 0 || !S_ISSOCK(info.st_mode)) return NotInherited();
  if (inherited.errors >= 0 && (inherited.errors <= STDERR_FILENO || !KeepForUs(inherited.errors))) {
    return NotInherited();
  }
  return std::optional(inherited);
}

Result<HolderLink> LinkOf(const Inherited& inherited) {
  UniqueFd socket(inherited.link);
  UniqueFd device(inherited.device);
  UniqueFd state(inherited.state);
  AUGUR_TRY_ASSIGN(opened, LastingState::Open(state.get()));
  return HolderLink(inherited.task, {.state = opened, .fd = std::move(state)}, std::move(socket), std::move(device),
                    UniqueFd(inherited.errors));
}

Status ExecuteProgram(int file, const std::string& path, const Inherited& inherited,
                      std::span<const std::string> words) {
  if (close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC) != 0) return ErrnoStatus(errno, "close_range");
  // The file too: the interpreter of a script opens it by its number.
  for (const int fd : {file, inherited.link, inherited.device, inherited.state, inherited.errors}) {
    if (fd >= 0 && fcntl(fd, F_SETFD, 0) != 0) return ErrnoStatus(errno, "fcntl");
  }
  std::vector<std::string> texts = {path, InheritedWord(inherited)};
  texts.insert(texts.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  arguments.reserve(texts.size() + 1);
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  execveat(file, "", arguments.data(), environ, AT_EMPTY_PATH);
  return NotExecuted(errno, path);
}

}  // namespace augur
