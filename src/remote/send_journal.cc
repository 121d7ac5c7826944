// SPDX-License-Identifier: Apache-2.0
#include "remote/send_journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <span>
#include <string_view>
#include <utility>

#include "base/regular_file.h"
#include "base/units.h"
#include "store/file_io.h"

namespace augur {
namespace {

constexpr const char* kName = "sent";
constexpr std::string_view kFirstLine = "augurpack-sent 1";
constexpr uint64_t kBytesMax = 256 << 20;  // a million shards

std::string LineOf(const SentObject& object) {
  return "sent " + object.name + " " + std::to_string(object.bytes) + " " + object.etag + "\n";
}

bool ParseNumber(std::string_view text, uint64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Cuts off the text up to `separator`, and returns it; all of it where there is none.
std::string_view Cut(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view cut = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return cut;
}

bool ParseLine(std::string_view line, SendProgress& progress) {
  const std::string_view key = Cut(line, ' ');
  if (key == "generation") return ParseNumber(line, &progress.generation);
  if (key == "claim") progress.claim = line;
  if (key == "manifest") progress.old_etag = line;
  if (key != "sent") return key == "claim" || key == "manifest";
  SentObject object;
  object.name = Cut(line, ' ');
  if (!ParseNumber(Cut(line, ' '), &object.bytes) || line.empty()) return false;
  object.etag = line;
  progress.sent.push_back(std::move(object));
  return true;
}

}  // namespace

std::optional<SendProgress> SendJournal::Read(const std::string& folder) {
  const std::string path = folder + "/" + kName;
  const Result<UniqueFd> fd = OpenRegularAt(AT_FDCWD, path, O_RDONLY, Links::kRefuse, path);
  struct stat info {};
  if (!fd.ok() || ::fstat(fd->get(), &info) != 0 || info.st_size > static_cast<off_t>(kBytesMax)) return std::nullopt;
  std::string text(static_cast<size_t>(info.st_size), '\0');
  if (!ReadAt(fd->get(), path, std::as_writable_bytes(std::span(text)), 0).ok()) return std::nullopt;
  text.resize(text.rfind('\n') + 1);  // to nothing where there is no line
  std::string_view rest = text;
  if (Cut(rest, '\n') != kFirstLine) return std::nullopt;
  SendProgress progress;
  while (!rest.empty()) {
    if (!ParseLine(Cut(rest, '\n'), progress)) return std::nullopt;
  }
  if (progress.generation == 0 || progress.claim.empty()) return std::nullopt;
  return progress;
}

Result<SendJournal> SendJournal::Begin(const std::string& folder, const SendProgress& progress) {
  std::string path = folder + "/" + kName;
  std::string text = std::string(kFirstLine) + "\ngeneration " + std::to_string(progress.generation) + "\nclaim " +
                     progress.claim + "\nmanifest " + progress.old_etag + "\n";
  for (const SentObject& object : progress.sent) text += LineOf(object);
  const std::string temporary = path + ".new";
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, Printable(temporary));
  AUGUR_TRY(WriteAt(fd.get(), temporary, std::as_bytes(std::span(text)), 0));
  if (::fsync(fd.get()) != 0) return ErrnoStatus(errno, Printable(temporary));
  if (::rename(temporary.c_str(), path.c_str()) != 0) return ErrnoStatus(errno, Printable(path));
  return SendJournal(std::move(path), std::move(fd));
}

Status SendJournal::Add(const SentObject& object) const {
  const std::string line = LineOf(object);
  // One call, so that lines of several threads do not mix (O_APPEND).
  const ssize_t written = ::write(fd_.get(), line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) {
    return ErrnoStatus(written < 0 ? errno : ENOSPC, Printable(path_));
  }
  return ::fdatasync(fd_.get()) == 0 ? Status::Ok() : ErrnoStatus(errno, Printable(path_));
}

}  // namespace augur
