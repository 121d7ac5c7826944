// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/terminal_text.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "control/control_client.h"
#include "control/frame.h"
#include "tools/control_commands/commands.h"
#include "tools/control_commands/find_daemon.h"
#include "tools/output.h"

namespace augur {
namespace {

// The next bytes of the file; what a pipe has now, not all that fits.
Result<bool> ReadPiece(int fd, const std::string& name, std::string& piece) {
  piece.resize(kPieceBytesMax);
  ssize_t bytes = -1;
  do {
    bytes = read(fd, piece.data(), piece.size());
  } while (bytes < 0 && errno == EINTR);
  if (bytes < 0) return ErrnoStatus(errno, name);
  piece.resize(static_cast<size_t>(bytes));
  return bytes > 0;
}

Status HintSampler(const HintOptions& options) {
  AUGUR_TRY_ASSIGN(socket, FindDaemon(options.mountpoint));
  const Result<ControlAnswer> answer =
      AskDaemon(socket, {{"command", "hint_sampler"}, {"words", options.sampler}}, nullptr);
  if (!answer.ok()) return answer.status().In(Printable(options.mountpoint));
  return WriteOut("accepted: " + TerminalLine(answer->header.value("accepted", std::string())) + "\n");
}

Status HintOrder(const HintOptions& options) {
  const bool from_stdin = options.order == "-";
  const std::string name = from_stdin ? "standard input" : Printable(options.order);
  const UniqueFd file(from_stdin ? dup(STDIN_FILENO) : open(options.order.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, name);
  AUGUR_TRY_ASSIGN(socket, FindDaemon(options.mountpoint));
  const ControlSource source = [&](std::string& piece) { return ReadPiece(file.get(), name, piece); };
  const Result<ControlAnswer> answer = AskDaemon(socket, {{"command", "hint"}, {"replace", options.replace}}, source);
  if (!answer.ok()) {
    // What is wrong with the order is said by line.
    const bool of_order = answer.status().text().starts_with("line ");
    return answer.status().In(of_order ? name : Printable(options.mountpoint));
  }
  return WriteOut("accepted: " + TerminalLine(answer->header.value("files", nlohmann::json(0)).dump()) + " files\n");
}

}  // namespace

Status RunHint(const HintOptions& options) {
  return options.sampler.empty() ? HintOrder(options) : HintSampler(options);
}

}  // namespace augur
