// SPDX-License-Identifier: Apache-2.0
#include "control/status_screen.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "base/excerpt.h"
#include "base/units.h"

namespace augur {
namespace {

std::string Count(uint64_t count, std::string_view one, std::string_view many) {
  return FormatCount(count) + " " + std::string(count == 1 ? one : many);
}

std::string Files(uint64_t count) { return Count(count, "file", "files"); }

std::string FactOf(const Facts& facts, std::string_view name) {
  const auto found = std::ranges::find(facts, name, [](const auto& fact) { return std::string_view(fact.first); });
  return found != facts.end() ? found->second : std::string();
}

// "13:02:11" of today, else with the date; local time.
std::string TimeText(int64_t time, int64_t now) {
  const time_t then_seconds = time;
  const time_t now_seconds = now;
  tm then{};
  tm today{};
  localtime_r(&then_seconds, &then);
  localtime_r(&now_seconds, &today);
  const bool same_day = then.tm_yday == today.tm_yday && then.tm_year == today.tm_year;
  std::array<char, 32> text{};
  (void)std::strftime(text.data(), text.size(), same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then);
  return text.data();
}

std::string JobText(const OrderReport& order) {
  return order.job == 0 ? "of readers of no known job" : "of job " + FormatCount(order.job);
}

std::string Since(const OrderReport& order, int64_t now) {
  if (order.since == 0) return "";
  const auto seconds = static_cast<uint64_t>(std::max<int64_t>(now - order.since, 0));
  return " since " + TimeText(order.since, now) + " (" + FormatDuration(seconds * 1'000'000) + ")";
}

// What reading ahead has given so far.
std::string Ahead(const StatisticsSnapshot& snapshot) {
  const uint64_t pushed = snapshot[Stat::kPushes];
  if (pushed == 0) return "no file so far";
  std::string text =
      Files(pushed) + " (" + FormatSize(snapshot[Stat::kPushedBytes]) + ") were in the page cache before their use";
  const HistogramCounts& lead = snapshot[Histogram::kLeadTimeUs];
  if (lead.total() > 0 && lead.Quantile(0.5) != UINT64_MAX) {
    text += ", half of them up to " + FormatDuration(lead.Quantile(0.5)) + " earlier";
  }
  return text;
}

std::string OrderLine(const OrderReport& order, int64_t now) {
  switch (order.state) {
    case OrderReport::State::kKnown: return "known " + JobText(order) + Since(order, now) + ": " + order.text;
    case OrderReport::State::kNotSought: return "not looked for: " + order.text;
    case OrderReport::State::kEnded: return "job that has ended: " + order.text;
    case OrderReport::State::kSought: break;
  }
  return "not known " + JobText(order) + ": " + order.text;
}

// The line that is read when only one is.
std::string FirstLine(const StatusScreen& screen) {
  const auto is_known = [](const OrderReport& order) { return order.state == OrderReport::State::kKnown; };
  const auto known = std::ranges::find_if(screen.orders, is_known);
  if (known != screen.orders.end()) return "order " + OrderLine(*known, screen.now);
  const std::string policy = FactOf(screen.facts, "policy");
  if (policy == "window" || policy == "regions")
    return "order known: files are read in path order, or as given by 'augurctl hint'";
  if (!screen.predicts) return "order not worked out: this mount does not look ahead, or has too little memory= for it";
  const auto sought = std::ranges::find_if(screen.orders, [](const OrderReport& order) {
    return order.state == OrderReport::State::kSought || order.state == OrderReport::State::kNotSought;
  });
  if (sought != screen.orders.end()) return "order " + OrderLine(*sought, screen.now);
  return "order not known: no job reads now";
}

void Add(std::string& out, std::string_view name, const std::string& text) {
  constexpr size_t kNameWidth = 11;
  std::string line(name);
  line.resize(std::max(kNameWidth, line.size()), ' ');
  out += line + text + "\n";
}

// What the files came from that the page cache did not have.
std::string Reads(const StatisticsSnapshot& snapshot) {
  std::string text = Count(snapshot[Stat::kReads], "read", "reads") + " (" + FormatSize(snapshot[Stat::kReadBytes]) +
                     ") that the page cache could not serve";
  const uint64_t blocks = snapshot[Stat::kRecordCacheHits] + snapshot[Stat::kRecordCacheJoins] +
                          snapshot[Stat::kRetainedCacheHits] + snapshot[Stat::kMisses];
  if (blocks > 0) {
    const uint64_t percent = snapshot[Stat::kMisses] * 100 / blocks;
    text += ": " + FormatCount(100 - percent) + " % from memory, " + FormatCount(percent) + " % from the disk";
  }
  return text;
}

// How long readers have waited for us.
std::string Waits(const StatisticsSnapshot& snapshot) {
  const HistogramCounts& waits = snapshot[Histogram::kReadWaitUs];
  if (waits.total() == 0) return "no reader has waited so far";
  const auto up_to = [&](double share) {
    const uint64_t bound = waits.Quantile(share);
    return bound == UINT64_MAX ? std::string("more than half an hour") : "up to " + FormatDuration(bound);
  };
  return FormatDuration(waits.sum) + " in all, in " + Count(waits.total(), "read", "reads") + ": half of them " +
         up_to(0.5) + ", 99 % " + up_to(0.99);
}

std::string Disk(const StatisticsSnapshot& snapshot) {
  std::string text =
      Count(snapshot[Stat::kDiskReads], "read", "reads") + " (" + FormatSize(snapshot[Stat::kDiskBytes]) + ")";
  if (snapshot[Gauge::kDiskBytesPerSecond] > 0) {
    text += "; it can do " + FormatSize(snapshot[Gauge::kDiskBytesPerSecond]) + "/s";
    if (const uint64_t cost_us = snapshot[Gauge::kDiskReadCostUs]; cost_us > 0) {
      text += " and " + FormatCount(1'000'000 / cost_us) + " reads/s";
    }
  }
  return text;
}

std::string Errors(const StatisticsSnapshot& snapshot) {
  std::string text;
  const auto add = [&text](uint64_t count, std::string_view one, std::string_view many) {
    if (count > 0) text += (text.empty() ? "" : ", ") + Count(count, one, many);
  };
  add(snapshot[Stat::kReadFailures], "read failed", "reads failed");
  add(snapshot[Stat::kCorruptBlocks], "record was damaged", "records were damaged");
  add(snapshot[Stat::kDiskErrors], "read of a shard failed", "reads of shards failed");
  add(snapshot[Stat::kIndexErrors], "read of the index failed", "reads of the index failed");
  add(snapshot[Stat::kDecodeErrors], "image could not be decoded", "images could not be decoded");
  return text.empty() ? "none" : text + ": the log has their names";
}

// Of a store on a server.
std::string Server(const StatisticsSnapshot& snapshot) {
  std::string text = Count(snapshot[Gauge::kServerRequests], "request", "requests") + " (" +
                     FormatSize(snapshot[Gauge::kServerBytes]) + ")";
  if (snapshot[Gauge::kServerRetries] > 0)
    text += ", " + FormatCount(snapshot[Gauge::kServerRetries]) + " after a failure";
  if (snapshot[Gauge::kServerHedges] > 0)
    text += ", " + FormatCount(snapshot[Gauge::kServerHedges]) + " sent again because the answer was late";
  if (snapshot[Gauge::kServerSlowDowns] > 0)
    text += "; asked " + Count(snapshot[Gauge::kServerSlowDowns], "time", "times") + " to slow down";
  if (snapshot[Gauge::kIndexMissingBytes] > 0)
    text += "; " + FormatSize(snapshot[Gauge::kIndexMissingBytes]) + " of the index to come";
  if (snapshot[Gauge::kServerDown] > 0) text += "; cannot be reached now: reads wait for it";
  return text;
}

// Of the memcached servers that several machines share.
std::string Fleet(const StatisticsSnapshot& snapshot) {
  std::string text = Count(snapshot[Stat::kFleetHits], "record", "records") + " from " +
                     Count(snapshot[Gauge::kFleetMembers], "server", "servers") + " of the fleet, " +
                     FormatCount(snapshot[Stat::kFleetMisses]) + " not there, " +
                     FormatCount(snapshot[Stat::kFleetKept]) + " given to it";
  if (snapshot[Stat::kFleetRefused] > 0) text += ", " + FormatCount(snapshot[Stat::kFleetRefused]) + " refused";
  if (snapshot[Stat::kFleetWrong] > 0) text += ", " + FormatCount(snapshot[Stat::kFleetWrong]) + " with wrong bytes";
  if (snapshot[Gauge::kFleetMembersOut] > 0)
    text += "; " + Count(snapshot[Gauge::kFleetMembersOut], "server does", "servers do") + " not answer";
  return text;
}

// Its size, as ls(1) shows it, is that of its address space, and says nothing.
std::string SharedFile(const StatusScreen& screen, const StatisticsSnapshot& snapshot) {
  const std::string path = FactOf(screen.facts, "shared_file");
  if (path.empty()) return {};
  return "; its file " + Printable(path) + " takes " + FormatSize(snapshot[Gauge::kRetainedCacheTakenBytes]);
}

}  // namespace

std::string FormatDuration(uint64_t microseconds) {
  constexpr uint64_t kSecond = 1'000'000;
  const uint64_t seconds = microseconds / kSecond;
  std::array<char, 48> text{};
  if (microseconds < 1000) {
    std::snprintf(text.data(), text.size(), "%u us", static_cast<unsigned>(microseconds));
  } else if (microseconds < kSecond) {
    std::snprintf(text.data(), text.size(), "%.1f ms", static_cast<double>(microseconds) / 1000);
  } else if (seconds < 60) {
    std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(microseconds) / kSecond);
  } else if (seconds < 3600) {
    std::snprintf(text.data(), text.size(), "%u min %u s", static_cast<unsigned>(seconds / 60),
                  static_cast<unsigned>(seconds % 60));
  } else {
    return FormatCount(seconds / 3600) + " h " + std::to_string(seconds / 60 % 60) + " min";
  }
  return text.data();
}

std::string RenderStatus(const StatusScreen& screen, const StatisticsSnapshot& snapshot) {
  const std::string first = FirstLine(screen);
  std::string out = Printable(first) + "\n";
  // The others, each on a line of its own: the one of the first line is not said twice.
  constexpr size_t kJobsMax = 6;
  size_t jobs = 0;
  size_t more = 0;
  for (const OrderReport& order : screen.orders) {
    const std::string line = OrderLine(order, screen.now);
    if (first.find(line) != std::string::npos) continue;
    if (jobs++ < kJobsMax) {
      Add(out, order.state == OrderReport::State::kEnded ? "ended" : "also", Printable(line));
    } else {
      ++more;
    }
  }
  if (more > 0) Add(out, "also", Count(more, "job", "jobs") + " more: --all lists them");
  for (const auto& [name, value] : screen.facts) {
    if (name.starts_with("hint")) Add(out, "hint", Printable(value));
  }
  Add(out, "mount",
      Printable(FactOf(screen.facts, "mountpoint")) + " shows " + Printable(FactOf(screen.facts, "store")) +
          ", generation " + FactOf(screen.facts, "generation"));
  if (const std::string writable = FactOf(screen.facts, "writable"); !writable.empty()) {
    Add(out, "writable", "what programs write is kept in " + Printable(writable));
  }
  if (const std::string preset = FactOf(screen.facts, "preset"); !preset.empty()) {
    Add(out, "preset", Printable(preset));
  }
  if (const std::string transport = FactOf(screen.facts, "transport"); transport.starts_with("uring")) {
    Add(out, "transport", Printable(transport));
  }
  if (screen.prefetches) Add(out, "ahead", Ahead(snapshot));
  Add(out, "reads", Reads(snapshot));
  Add(out, "waits", Waits(snapshot));
  if (snapshot[Gauge::kServerRequests] > 0) {
    Add(out, "server", Server(snapshot));
  } else {
    Add(out, "disk", Disk(snapshot));
  }
  if (snapshot[Gauge::kFleetMembers] > 0) Add(out, "fleet", Fleet(snapshot));
  if (const std::string sweep = FactOf(screen.facts, "fleet_sweep"); !sweep.empty()) Add(out, "", Printable(sweep));
  if (snapshot[Stat::kImagesDecoded] + snapshot[Stat::kDecodedHits] > 0) {
    Add(out, "views",
        Count(snapshot[Stat::kImagesDecoded], "image", "images") + " decoded to " +
            FormatSize(snapshot[Stat::kRenderedBytes]) + ", " + FormatCount(snapshot[Stat::kDecodedHits]) +
            " found decoded on the disk ('augurctl views' has more)");
  }
  Add(out, "memory",
      FormatSize(snapshot[Gauge::kMemoryBytes]) + " of the daemon and " +
          FormatSize(snapshot[Gauge::kPushWindowBytes]) + " of the page cache, of " +
          FormatSize(snapshot[Gauge::kMemoryBytesMax]) + " (memory=)");
  if (screen.prefetches) {
    Add(out, "kept",
        FormatSize(snapshot[Gauge::kRetainedCacheBytes]) + " of " + FormatSize(snapshot[Gauge::kStoreBytes]) +
            " of the store for the next epoch, " + FormatSize(snapshot[Gauge::kPageCacheLeftBytes]) +
            " more in the page cache" + SharedFile(screen, snapshot));
  }
  Add(out, "errors", Errors(snapshot));
  if (snapshot[Stat::kRestarts] > 0) {
    Add(out, "restarts",
        Count(snapshot[Stat::kRestarts], "daemon has", "daemons have") +
            " gone on after one that died; the last death: " + Printable(FactOf(screen.facts, "last_restart")));
  }
  if (const std::string upgrade = FactOf(screen.facts, "last_upgrade"); !upgrade.empty()) {
    Add(out, "upgrade", Printable(upgrade));
  }
  Add(out, "log", Printable(FactOf(screen.facts, "log")));
  return out + "\nWhy is it not faster: augurctl doctor. Live: augurctl top. All numbers: augurctl status --all\n";
}

}  // namespace augur
