// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/processor_use.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <string_view>

#include "base/proc_text.h"
#include "base/text_file.h"
#include "base/units.h"

namespace augur {
namespace {

uint64_t TickUs() {
  const long ticks = sysconf(_SC_CLK_TCK);
  return 1'000'000 / static_cast<uint64_t>(ticks > 0 ? ticks : 100);
}

uint64_t NumberAt(const std::vector<std::string_view>& fields, size_t place) {
  if (place >= fields.size()) return 0;
  const Result<uint64_t> number = ParseCount(fields[place]);
  return number.ok() ? *number : 0;
}

// "cpu  user nice system idle iowait irq softirq steal guest guest_nice", in ticks. Guests are in user and nice.
void ReadMachine(const std::string& root, ProcessorUse* use) {
  const Result<std::string> text = ReadTextFile(root + "/stat");
  if (!text.ok()) return;
  std::vector<std::string_view> fields;
  for (const std::string_view field : Split(std::string_view(*text).substr(0, text->find('\n')), ' ')) {
    if (!field.empty()) fields.push_back(field);
  }
  constexpr size_t kFirst = 1;
  constexpr size_t kIdle = 4;
  constexpr size_t kIoWait = 5;
  constexpr size_t kSteal = 8;
  for (size_t place = kFirst; place <= kSteal; ++place) {
    const uint64_t us = NumberAt(fields, place) * TickUs();
    use->machine_all_us += us;
    if (place != kIdle && place != kIoWait) use->machine_busy_us += us;
  }
}

struct ProcessLine {
  bool there = false;
  uint32_t parent = 0;
  uint64_t us = 0;
};

// "pid (comm) state ppid ...": the name may hold blanks and brackets.
ProcessLine ReadProcess(const std::string& root, uint32_t pid) {
  const Result<std::string> text = ReadTextFile(root + "/" + std::to_string(pid) + "/stat");
  if (!text.ok()) return {};
  const size_t name_end = text->rfind(") ");
  if (name_end == std::string::npos) return {};
  const std::vector<std::string_view> fields = Split(std::string_view(*text).substr(name_end + 2), ' ');
  constexpr size_t kParent = 1;
  constexpr size_t kUserTicks = 11;
  constexpr size_t kSystemTicks = 12;
  return {.there = true,
          .parent = static_cast<uint32_t>(NumberAt(fields, kParent)),
          .us = (NumberAt(fields, kUserTicks) + NumberAt(fields, kSystemTicks)) * TickUs()};
}

std::map<uint32_t, ProcessLine> ReadProcesses(const std::string& root) {
  std::map<uint32_t, ProcessLine> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(root.c_str()), &closedir);
  if (folder == nullptr) return processes;
  while (const dirent* const entry = readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe): our own DIR
    const std::string_view name(entry->d_name);
    if (!std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    const Result<uint64_t> pid = ParseCount(name);
    if (!pid.ok()) continue;
    const ProcessLine line = ReadProcess(root, static_cast<uint32_t>(*pid));
    if (line.there) processes.emplace(static_cast<uint32_t>(*pid), line);
  }
  return processes;
}

}  // namespace

ProcessorUse ReadProcessorUse(uint32_t daemon, const std::vector<uint32_t>& scripts, const std::string& root) {
  ProcessorUse use;
  ReadMachine(root, &use);
  if (daemon != 0) use.daemon_us = ReadProcess(root, daemon).us;
  if (scripts.empty()) return use;
  const std::map<uint32_t, ProcessLine> processes = ReadProcesses(root);
  const std::set<uint32_t> wanted(scripts.begin(), scripts.end());
  for (const auto& [pid, line] : processes) {
    if (wanted.contains(pid)) use.scripts.emplace(pid, line.us);
    // A process is a worker if a script is above it; a chain of parents is short.
    constexpr int kGenerationsMax = 16;
    uint32_t above = line.parent;
    for (int i = 0; i < kGenerationsMax && above > 1 && !wanted.contains(pid); ++i) {
      if (wanted.contains(above)) {
        use.workers.emplace(pid, line.us);
        break;
      }
      const auto parent = processes.find(above);
      if (parent == processes.end()) break;
      above = parent->second.parent;
    }
  }
  return use;
}

}  // namespace augur
