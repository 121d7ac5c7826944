// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/terminal_text.h"
#include "base/units.h"
#include "control/control_client.h"
#include "tools/control_commands/commands.h"
#include "tools/control_commands/find_daemon.h"
#include "tools/output.h"
#include "tools/stop_signals.h"

namespace augur {
namespace {

using Clock = std::chrono::steady_clock;

// The old daemon ends reading ahead before it hands over, which waits for the disk. Its watchdog gives it 10 seconds,
// and the new one has 10 to serve.
constexpr std::chrono::seconds kHandOverMax(30);
constexpr std::chrono::milliseconds kAskAgain(10);

// What a daemon answers to "serving". What one of another version says otherwise is nothing.
struct Serving {
  int64_t process = 0;
  std::string version;
  int64_t from_process = 0;  // 0: none has handed the mount over to it
  std::string from_version;
  int64_t gap_us = 0;
  int64_t generation = 0;
  bool names_are_old = false;  // the kernel may have names of the generation before
};

int64_t IntegerOf(const nlohmann::json& header, const char* name) {
  const auto found = header.find(name);
  return found != header.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

bool IsTrue(const nlohmann::json& header, const char* name) {
  const auto found = header.find(name);
  return found != header.end() && *found == true;
}

std::string TextOf(const nlohmann::json& header, const char* name) {
  const auto found = header.find(name);
  return found != header.end() && found->is_string() ? TerminalLine(found->get<std::string>()) : "";
}

Result<Serving> AskWhoServes(const std::string& mountpoint) {
  AUGUR_TRY_ASSIGN(answer, AskMount(mountpoint, {{"command", "serving"}}));
  return Serving{.process = IntegerOf(answer.header, "process"),
                 .version = TextOf(answer.header, "version"),
                 .from_process = IntegerOf(answer.header, "from_process"),
                 .from_version = TextOf(answer.header, "from_version"),
                 .gap_us = IntegerOf(answer.header, "gap_us"),
                 .generation = IntegerOf(answer.header, "generation"),
                 .names_are_old = IsTrue(answer.header, "names_are_old")};
}

// The one that has taken over from `before`. Between two daemons, and while the old one ends its socket, none answers.
Result<Serving> AwaitNext(const std::string& mountpoint, const Serving& before) {
  const Clock::time_point end = Clock::now() + kHandOverMax;
  while (true) {
    Result<Serving> serving = AskWhoServes(mountpoint);
    const bool is_there = serving.ok() && serving->process != before.process && !serving->names_are_old;
    const Code code = serving.status().code();
    const bool may_come = serving.ok() || code == Code::kNotFound || code == Code::kStopped || code == Code::kBusy;
    if (is_there || !may_come) return serving;
    if (Clock::now() >= end) {
      if (!serving.ok()) return serving;
      if (serving->process != before.process) {
        return Status(Code::kBusy, Printable(mountpoint) + ": process " + std::to_string(serving->process) +
                                       " serves the mount, but programs may still see names of generation " +
                                       std::to_string(before.generation) + ": its log says more");
      }
      return Status(Code::kBusy, Printable(mountpoint) + ": process " + std::to_string(before.process) +
                                     " has not handed the mount over yet: its log says more");
    }
    std::this_thread::sleep_for(kAskAgain);
  }
}

// The daemon's working folder is another one.
Status MakeAbsolute(std::string& path) {
  if (path.empty() || path.starts_with('/')) return Status::Ok();
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  if (error) return ErrnoStatus(error.value(), "the working folder");
  path = folder / path;
  return Status::Ok();
}

std::string Describe(const Serving& now) {
  constexpr int64_t kUsPerMs = 1000;
  return "process " + std::to_string(now.process) + " of version " + now.version + " serves the mount; process " +
         std::to_string(now.from_process) + " of version " + now.from_version + " did before; requests waited for " +
         std::to_string(now.gap_us / kUsPerMs) + " ms\n";
}

std::string DescribeReload(const Serving& now, const Serving& before) {
  const std::string shown = "generation " + std::to_string(now.generation) + " is shown";
  if (now.process == before.process) return shown + " already: nothing to do\n";
  return shown + "; generation " + std::to_string(before.generation) + " was before; " + Describe(now);
}

}  // namespace

Status RunRestart(const RestartOptions& options) {
  std::string binary = options.binary;
  AUGUR_TRY(MakeAbsolute(binary));
  nlohmann::json words = nlohmann::json::array();
  constexpr std::string_view kLog = "log=";
  for (const std::string& word : options.options) {
    std::string log = word.starts_with(kLog) ? word.substr(kLog.size()) : std::string();
    AUGUR_TRY(MakeAbsolute(log));
    words.push_back(log.empty() ? word : std::string(kLog) + log);
  }
  AUGUR_TRY_ASSIGN(before, AskWhoServes(options.mountpoint));
  AUGUR_TRY_ASSIGN(socket, FindDaemon(options.mountpoint));
  EndOnStopSignals("augurctl", ": the daemon of " + Printable(options.mountpoint) +
                                   " goes on with what it was asked for; 'augurctl status' says who serves");
  const Result<ControlAnswer> answer = AskDaemon(
      socket, {{"command", "restart"}, {"binary", binary}, {"options", words}, {"reload", options.reload}}, nullptr);
  // A daemon that hands over ends its connections, and may do so before its answer is through.
  if (!answer.ok() && !IsCut(answer.status())) return answer.status().In(Printable(options.mountpoint));
  const bool is_unchanged = answer.ok() && IsTrue(answer->header, "unchanged");
  AUGUR_TRY_ASSIGN(now, is_unchanged ? Result<Serving>(before) : AwaitNext(options.mountpoint, before));
  if (!is_unchanged && now.from_process != before.process) {
    return {Code::kStopped, Printable(options.mountpoint) + ": no " + (options.reload ? "reload" : "upgrade") +
                                ": the new daemon has ended before it served, and process " +
                                std::to_string(now.process) + " of version " + now.version +
                                " goes on: its log says why"};
  }
  if (!options.json) return WriteOut(options.reload ? DescribeReload(now, before) : Describe(now));
  nlohmann::ordered_json json = {{"process", now.process},
                                 {"version", now.version},
                                 {"from_process", now.from_process},
                                 {"from_version", now.from_version},
                                 {"gap_us", now.gap_us}};
  if (options.reload) {
    json["generation"] = now.generation;
    json["from_generation"] = before.generation;
    json["unchanged"] = is_unchanged;
  }
  return WriteOut(json.dump(2) + "\n");
}

}  // namespace augur
