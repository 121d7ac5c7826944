// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/problem_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <sstream>
#include <string>
#include <utility>

#include "base/regular_file.h"
#include "base/unique_fd.h"
#include "store/file_io.h"

namespace augur {

ProblemLog::ProblemLog(std::string path, PackObserver& observer) : path_(std::move(path)), observer_(observer) {
  ::unlink(path_.c_str());
}

Status ProblemLog::Replay(const std::string& path, PackObserver& observer) {
  const Result<UniqueFd> opened = OpenRegularAt(AT_FDCWD, path, O_RDONLY, Links::kRefuse, path);
  if (opened.status().code() == Code::kNotFound) return {};
  if (!opened.ok()) return opened.status();
  struct stat info {};
  if (::fstat(opened->get(), &info) != 0) return ErrnoStatus(errno, path);
  std::string text(static_cast<size_t>(info.st_size), '\0');
  AUGUR_TRY(ReadAt(opened->get(), path, std::as_writable_bytes(std::span(text)), 0));
  std::istringstream lines(std::move(text));
  for (std::string line; std::getline(lines, line);) AUGUR_TRY(observer.OnProblem({Code::kIo, line}));
  return {};
}

// Texts have no line breaks: what comes from outside is Printable. There are few, so each goes to the disk at once.
Status ProblemLog::OnProblem(const Status& problem) {
  AUGUR_TRY(observer_.OnProblem(problem));
  if (!fd_.valid()) {
    fd_.Reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!fd_.valid()) return ErrnoStatus(errno, path_);
  }
  const std::string line = problem.text() + "\n";
  AUGUR_TRY(WriteAt(fd_.get(), path_, std::as_bytes(std::span(line)), end_));
  end_ += line.size();
  return SyncFile(fd_.get(), path_);
}

}  // namespace augur
