// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/spdlog.h>

#include <string>

#include "augur/status.h"

namespace augur {

// Where log lines go. kStderr: "prog: level: text". kSyslog: the system log. kFile: appended to `path` with time.
enum class LogTarget { kStderr, kSyslog, kFile };

// Sets the place of spdlog's default logger; everything logs through spdlog::info, warn, error. The first call, before
// threads start, names the program. Any thread may log beside a further one, as when a daemon has closed its streams.
// Failures to open the file: OpenTrustedLog.
Status StartLog(const std::string& program, LogTarget target, const std::string& path = {});

// Whether there is a system log: a process takes lines sent to /dev/log. Without it LogTarget::kSyslog loses them.
bool SyslogIsThere();

}  // namespace augur
