// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/run_checks.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/excerpt.h"
#include "base/units.h"
#include "diagnosis/data_checks.h"
#include "diagnosis/finding_text.h"
#include "diagnosis/machine_checks.h"
#include "diagnosis/order_checks.h"
#include "diagnosis/script_checks.h"
#include "diagnosis/view_checks.h"

namespace augur {
namespace {

using Weight = Finding::Weight;

void Append(std::vector<Finding> more, std::vector<Finding>& all) {
  for (Finding& one : more) all.push_back(std::move(one));
}

Finding NothingRead(const RunWindow& window) {
  const std::string time = TimeText(window.seconds());
  // Those at the beginning have waited since.
  const uint64_t waiting =
      std::min(window.before().reading.numbers[Gauge::kReadsInFlight], window.Now(Gauge::kReadsInFlight));
  if (waiting > 0) {
    return {.weight = Weight::kProblem,
            .name = "reads-stuck",
            .text = FormatCount(waiting) + (waiting == 1 ? " read waits" : " reads wait") +
                    " for the mount, which has answered none in " + time + ".",
            .cure = "The disk or the server that holds the store does not answer. The log names it (" +
                    Printable(window.Fact("log")) + ")."};
  }
  if (window.readers_processors() > kWaitShareMin) {
    return {.weight = Weight::kFine,
            .name = "page-cache",
            .text = "The daemon got no read in " + time +
                    ", and the script runs: all its files come from the page cache, or it reads none now.",
            .cure = {}};
  }
  return {.weight = Weight::kAdvice,
          .name = "nothing-read",
          .text = "No program has read from the mount in " + time + ".",
          .cure =
              "Look while the script loads its data. If it should: it is stopped, waits for something else, or "
              "reads another folder."};
}

// The sentence that all others follow from.
Finding Verdict(const RunWindow& window) {
  const double share = window.wait_share();
  const double waited = window.wait_seconds();
  const std::string readers = window.readers() > 0
                                  ? FormatCount(window.readers()) + (window.readers() == 1 ? " reader" : " readers")
                                  : std::string("an unknown number of readers");
  const std::string rate = "The script has read " + RateText(static_cast<double>(window.files()) / window.seconds()) +
                           " files/s with " + readers + ".";
  const std::string waits = " These waited for the mount for " + PercentText(share) + " of their time (" +
                            TimeText(waited) + " of " + TimeText(window.seconds()) + " in all).";
  if (share < kWaitShareMin) {
    return {.weight = Weight::kFine,
            .name = "not-waiting",
            .text = rate + waits + " The mount does not hold it back.",
            .cure = {}};
  }
  return {.weight = Weight::kProblem,
          .name = "waiting",
          .text = rate + waits,
          .cure = "A mount that answers at once would make loading " + FixedText(1 / (1 - std::min(share, 0.95))) +
                  " times as fast. What it waits for follows."};
}

void CheckErrors(const RunWindow& window, std::vector<Finding>& findings) {
  constexpr std::array<std::pair<Stat, std::string_view>, 4> kKinds = {
      {{Stat::kCorruptBlocks, "damaged records"},
       {Stat::kDiskErrors, "reads of shards that failed"},
       {Stat::kIndexErrors, "reads of the index that failed"},
       {Stat::kDecodeErrors, "images that could not be decoded"}}};
  std::string text;
  bool now = false;
  bool damaged = false;
  for (const auto& [stat, what] : kKinds) {
    if (window.Total(stat) == 0) continue;
    damaged = damaged || stat != Stat::kDecodeErrors;
    text += (text.empty() ? "" : ", ") + FormatCount(window.Total(stat)) + " " + std::string(what);
    now = now || window.Delta(stat) > 0;
  }
  if (text.empty()) return;
  std::string cure = "The log names the files (" + Printable(window.Fact("log")) + ").";
  if (damaged) cure += " 'augurpack verify STORE' checks the whole store.";
  // Its bytes are those that were packed, so verify finds nothing.
  if (window.Total(Stat::kDecodeErrors) > 0) {
    cure += " An image that cannot be decoded was broken when it was packed: mend it, and pack it anew.";
  }
  findings.push_back({.weight = now ? Weight::kProblem : Weight::kAdvice,
                      .name = "errors",
                      .text = "The mount has met errors: " + text + ".",
                      .cure = std::move(cure)});
}

// While it is down no read ends, so what readers have waited does not tell it.
void CheckLink(const RunWindow& window, std::vector<Finding>& findings) {
  if (window.Now(Gauge::kServerDown) == 0) return;
  findings.push_back(
      {.weight = Weight::kProblem,
       .name = "link-down",
       .text = "The server of the store cannot be reached, and reads wait for it.",
       .cure = "Look at the network and at the server. The log names the cause. Reads go on as soon as it answers."});
}

void CheckDaemon(const RunWindow& window, std::vector<Finding>& findings) {
  if (const std::string death = window.Fact("last_restart"); !death.empty()) {
    findings.push_back({.weight = Weight::kAdvice,
                        .name = "daemon-died",
                        .text = "A daemon of this mount has died, and another one goes on: " + Printable(death) + ".",
                        .cure = "If it was killed for memory, lower memory=. Else report it with the log."});
  }
  if (window.Now(Gauge::kFleetMembersOut) > 0) {
    findings.push_back({.weight = Weight::kAdvice,
                        .name = "fleet-out",
                        .text = FormatCount(window.Now(Gauge::kFleetMembersOut)) + " of " +
                                FormatCount(window.Now(Gauge::kFleetMembers)) +
                                " servers of the fleet do not answer, so their share comes from the store's server.",
                        .cure = "Look at these memcached servers. The log names them."});
  }
}

// What of the machine matters to a mount that is there.
void AddMachine(const MachineFacts& machine, std::vector<Finding>& findings) {
  for (Finding& one : CheckMachine(machine)) {
    constexpr std::array<std::string_view, 3> kBeforeMounting = {"fuse-device", "fusermount", "user-allow-other"};
    const bool before = std::ranges::find(kBeforeMounting, one.name) != kBeforeMounting.end();
    if (!before && one.weight != Weight::kFine) findings.push_back(std::move(one));
  }
}

}  // namespace

std::vector<Finding> CheckRun(const RunWindow& window, const MachineFacts& machine) {
  std::vector<Finding> findings;
  if (window.files() == 0 && window.Delta(Stat::kReads) == 0) {
    findings.push_back(NothingRead(window));
    if (findings[0].weight == Weight::kFine) Append(CheckScript(window, machine), findings);
  } else {
    findings.push_back(Verdict(window));
    Append(CheckScript(window, machine), findings);
    Append(CheckData(window, machine), findings);
    Append(CheckView(window, machine), findings);
    Append(CheckOrder(window, machine), findings);
  }
  CheckLink(window, findings);
  CheckErrors(window, findings);
  CheckDaemon(window, findings);
  AddMachine(machine, findings);
  return findings;
}

}  // namespace augur
