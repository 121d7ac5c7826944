// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/trusted_path.h"
#include "base/unique_fd.h"

namespace augur {
namespace {

// Makes the default logger, and returns its sink, which has no place to write to yet. Threads may log while the place
// changes, and spdlog::set_default_logger must not be called beside them: it destroys the logger that they use. So that
// stays.
std::shared_ptr<spdlog::sinks::dist_sink_mt> MakeDefaultLogger(const std::string& program) {
  auto place = std::make_shared<spdlog::sinks::dist_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>(program, place);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  return place;
}

}  // namespace

Status StartLog(const std::string& program, LogTarget target, const std::string& path) {
  std::shared_ptr<spdlog::sinks::sink> sink;
  std::string pattern = "%n: %l: %v";
  try {
    switch (target) {
      case LogTarget::kStderr: sink = std::make_shared<spdlog::sinks::stderr_sink_mt>(); break;
      case LogTarget::kSyslog:
        sink =
            std::make_shared<spdlog::sinks::syslog_sink_mt>(program, LOG_PID, LOG_DAEMON, /*enable_formatting=*/false);
        pattern = "%v";
        break;
      case LogTarget::kFile: {
        AUGUR_TRY_ASSIGN(file, OpenTrustedLog(path));
        const std::string opened = "/proc/self/fd/" + std::to_string(file.get());
        // Without /proc by its name once more.
        sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(::access(opened.c_str(), F_OK) == 0 ? opened : path);
        pattern = "%Y-%m-%dT%H:%M:%S.%e%z %n[%P]: %l: %v";
        break;
      }
    }
  } catch (const spdlog::spdlog_ex& error) {
    return {Code::kIo, std::string("cannot open the log: ") + error.what()};
  }
  sink->set_pattern(pattern);
  static const auto place = MakeDefaultLogger(program);
  place->set_sinks({std::move(sink)});
  return Status::Ok();
}

bool SyslogIsThere() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, "/dev/log", sizeof address.sun_path - 1);
  // As the C library does it: some system logs have a stream.
  for (const int type : {SOCK_DGRAM, SOCK_STREAM}) {
    const UniqueFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) continue;
    if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN)
      return true;
    if (errno != EPROTOTYPE) return false;
  }
  return false;
}

}  // namespace augur
