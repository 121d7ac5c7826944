// SPDX-License-Identifier: Apache-2.0
#include "tools/daemon_upgrade.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <optional>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "tools/augurfs_options.h"
#include "tools/upgrade_options.h"
#include "views/view_spec.h"

namespace augur {
namespace {

// Room for what a program says that cannot start.
constexpr size_t kErrorBytesMax = 2048;

Status TooLong(const std::string& what) {
  return {Code::kInvalid, what + ": longer than " + std::to_string(ProgramRequest::kTextBytesMax - 1) + " bytes"};
}

// Nothing: there is nothing to do.
Result<std::optional<ProgramRequest>> Checked(const nlohmann::json& request, const ServingDaemon& serving) {
  const auto binary = request.find("binary");
  const auto options = request.find("options");
  const auto is_text = [](const nlohmann::json& word) { return word.is_string(); };
  if (binary == request.end() || !binary->is_string() || options == request.end() || !options->is_array() ||
      !std::ranges::all_of(*options, is_text)) {
    return Status(Code::kInvalid,
                  "the request has no program or no list of options: ask by an 'augurctl' of this "
                  "version");
  }
  const auto path = binary->get<std::string>();
  if (!path.empty() && !path.starts_with('/')) {
    return Status(Code::kInvalid, Printable(path) + ": give the program's absolute path");
  }
  std::vector<std::string> words;
  for (const nlohmann::json& word : *options) words.push_back(word.get<std::string>());
  const auto reload = request.find("reload");
  const bool is_reload = reload != request.end() && *reload == true;
  if (is_reload && serving.values.Given("-o writable")) {
    return Status(Code::kUnsupported,
                  "a mount with -o writable= keeps its generation, as overlayfs does not allow that its lower layer "
                  "changes: unmount it, and mount again with an empty folder");
  }
  if (is_reload && serving.values.Given("-o view")) {
    AUGUR_TRY_ASSIGN(root, ParseViewSpec(serving.values.Text("-o view")));
    if (root.has_labels()) {
      return Status(Code::kUnsupported,
                    "a mount with -o view=" + CanonicalSpec(root) +
                        " keeps its generation, as another one may have other labels: unmount, and mount again; a view "
                        "below .augur/views follows a reload");
    }
  }
  uint64_t generation = serving.generation;
  if (is_reload && GenerationIn(words) == 0) {
    AUGUR_TRY_ASSIGN(newest, serving.newest());
    if (newest == generation && words.empty()) return std::optional<ProgramRequest>();
    generation = newest;
  }
  AUGUR_TRY_ASSIGN(text, UpgradeOptions(serving.values, words,
                                        is_reload ? HandOverKind::kReload : HandOverKind::kRestart, generation));
  ProgramRequest checked;
  if (path.size() >= checked.path.size()) return TooLong("--binary");
  if (text.size() >= checked.options.size()) return TooLong("-o");
  path.copy(checked.path.data(), path.size());
  text.copy(checked.options.data(), text.size());
  return std::optional(checked);
}

// Why this mount cannot have another daemon.
Status WhyNot(const HolderLink* link, bool restart) {
  if (link == nullptr) {
    return {Code::kUnsupported,
            restart ? "the process augur-holder, which starts daemons, is gone: unmount, and mount again"
                    : "this mount has no process augur-holder, which starts daemons (-o restart=no): unmount, and "
                      "mount again without that option"};
  }
  if (KernelResends(link->init())) return Status::Ok();
  return {Code::kUnsupported,
          "only Linux 6.9 and later hand the requests of one daemon to another: unmount, and mount again with the "
          "other program or options"};
}

// The same for all processes.
int64_t MonotonicNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status Ending() { return {Code::kStopped, "the daemon of this mount is ending"}; }

std::string DescribeEnd(int32_t value) {
  if (value == kNotInTime) return "was not ready within " + std::to_string(kPreparedWithinSeconds) + " s";
  if (value == kEndUnknown) return "has ended";
  return WIFSIGNALED(value) ? DescribeDeath({.signal = WTERMSIG(value)})
                            : DescribeDeath({.status = WEXITSTATUS(value)});
}

}  // namespace

Result<std::unique_ptr<DaemonUpgrade>> DaemonUpgrade::Make(ServingDaemon serving) {
  UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) return ErrnoStatus(errno, "eventfd");
  return std::unique_ptr<DaemonUpgrade>(new DaemonUpgrade(std::move(serving), std::move(event)));
}

Result<ControlReply> DaemonUpgrade::Ask(const nlohmann::json& request) {
  AUGUR_TRY_ASSIGN(checked, Checked(request, serving_));
  if (!checked) return ControlReply{.header = {{"process", getpid()}, {"unchanged", true}}, .body = {}};
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return ErrnoStatus(errno, "pipe");
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const MutexLock lock(mu_);
  if (ended_) return Ending();
  if (under_way_) return Status(Code::kBusy, "another 'augurctl restart' or 'reload' is under way: wait for it");
  under_way_ = true;
  request_ = *checked;
  errors_ = std::move(read_end);
  errors_end_ = std::move(write_end);
  const uint64_t one = 1;
  (void)!write(event_.get(), &one, sizeof one);
  while (under_way_) finished_.Wait(mu_);
  if (!outcome_.ok()) return outcome_.status();
  return ControlReply{.header = {{"process", getpid()}, {"next", *outcome_}}, .body = {}};
}

void DaemonUpgrade::PassOn(HolderLink* link, bool restart) {
  uint64_t count = 0;
  (void)!read(event_.get(), &count, sizeof count);
  if (Status why_not = WhyNot(link, restart); !why_not.ok()) return Finish(std::move(why_not));
  const MutexLock lock(mu_);
  if (!errors_end_.valid()) return;
  link->AskForUpgrade(request_, errors_end_.get());
  errors_end_.Reset();
}

void DaemonUpgrade::Hear(const HolderMessage& message) {
  if (message.verb == HolderVerb::kHandOver) return Finish(pid_t{message.value});
  if (message.verb != HolderVerb::kNotStarted) return;
  if (message.value == kOtherUnderWay) {
    return Finish(Status(Code::kBusy, "another upgrade is under way, or a daemon has just died: try again"));
  }
  std::string text;
  {
    const MutexLock lock(mu_);
    text = TakeErrors();
  }
  Finish(Status(Code::kStopped, "nothing has changed: the program that was to serve " + DescribeEnd(message.value) +
                                    (text.empty() ? " and said nothing: --binary must name an augurfs" : ": " + text) +
                                    "; process " + std::to_string(getpid()) + " of version " AUGUR_VERSION " goes on"));
}

void DaemonUpgrade::GiveUp() {
  {
    const MutexLock lock(mu_);
    ended_ = true;  // first, so that no thread begins to wait that is not told
  }
  Finish(Ending());
}

void DaemonUpgrade::Finish(Result<pid_t> outcome) {
  const MutexLock lock(mu_);
  if (!under_way_) return;
  outcome_ = std::move(outcome);
  errors_.Reset();
  errors_end_.Reset();
  under_way_ = false;
  finished_.NotifyAll();
}

void NoteAsking(Upgrade& upgrade) {
  DaemonStop asking = {.process = getpid()};
  constexpr std::string_view kVersion = AUGUR_VERSION;
  kVersion.copy(asking.version.data(), asking.version.size() - 1);
  upgrade.stop = asking;
}

void NoteStopping(Upgrade& upgrade) { upgrade.stop.time_ns = MonotonicNs(); }

void NoteTaking(Upgrade& upgrade) {
  upgrade.from = upgrade.stop;
  upgrade.gap_ns = upgrade.from.time_ns == 0 ? 0 : MonotonicNs() - upgrade.from.time_ns;
  upgrade.time = time(nullptr);
  upgrade.to = getpid();
}

ControlReply DescribeServing(const LastingState* state, uint64_t generation) {
  ControlReply reply = {.header = {{"process", getpid()},
                                   {"version", AUGUR_VERSION},
                                   {"generation", generation},
                                   {"names_are_old", state != nullptr && state->numbers.NamesAreOld()}},
                        .body = {}};
  if (state == nullptr || state->upgrade.to != getpid()) return reply;
  const Upgrade& upgrade = state->upgrade;
  constexpr int64_t kNsPerUs = 1000;
  reply.header["from_process"] = upgrade.from.process;
  reply.header["from_version"] = upgrade.from.version.data();
  reply.header["gap_us"] = upgrade.gap_ns / kNsPerUs;
  return reply;
}

std::string DaemonUpgrade::TakeErrors() {
  std::array<char, kErrorBytesMax> bytes{};
  const ssize_t count = read(errors_.get(), bytes.data(), bytes.size());
  std::string text(bytes.data(), static_cast<size_t>(std::max<ssize_t>(count, 0)));
  while (text.ends_with('\n')) text.pop_back();
  const std::string program = std::string(kAugurfs) + ": ";
  if (text.starts_with(program)) text.erase(0, program.size());
  std::ranges::replace(text, '\n', ' ');
  return Printable(text);
}

}  // namespace augur
