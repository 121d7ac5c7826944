// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <syslog.h>

#include <memory>

namespace augur {

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
      case LogTarget::kFile:
        sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
        pattern = "%Y-%m-%dT%H:%M:%S.%e%z %n[%P]: %l: %v";
        break;
    }
  } catch (const spdlog::spdlog_ex& error) {
    return {Code::kIo, std::string("cannot open the log: ") + error.what()};
  }
  auto logger = std::make_shared<spdlog::logger>(program, std::move(sink));
  logger->set_pattern(pattern);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  return Status::Ok();
}

}  // namespace augur
