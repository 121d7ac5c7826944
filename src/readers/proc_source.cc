// SPDX-License-Identifier: Apache-2.0
#include "readers/proc_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace augur {
namespace {

// Enough for what decides: the program and its first arguments come first. Two scripts that differ only after this are
// told apart by their parents.
constexpr size_t kCommandBytesMax = 4096;
// ARG_MAX of old, and the most that a shell's environment has in practice.
constexpr size_t kEnvironmentBytesMax = 128 << 10;

std::string_view LineAfter(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + name.size());
  rest = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  return rest;
}

template <typename Number>
bool Parse(std::string_view text, Number* number) {
  return std::from_chars(text.data(), text.data() + text.size(), *number).ec == std::errc();
}

std::vector<std::string_view> SplitAtZeros(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\0'), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The program, or the script or module that Python runs.
std::string_view ProgramOf(const std::vector<std::string_view>& words) {
  if (words.empty()) return {};
  const std::string_view program = BaseName(words[0]);
  if (!program.starts_with("python")) return program;
  for (size_t i = 1; i < words.size(); i++) {
    if (words[i] == "-m") return i + 1 < words.size() ? words[i + 1] : std::string_view();
    if (words[i] == "-c") return {};
    if (words[i] == "-X" || words[i] == "-W") {
      i++;
    } else if (!words[i].starts_with('-')) {
      return BaseName(words[i]);
    }
  }
  return {};
}

bool IsLauncher(std::string_view program) {
  static constexpr auto kLaunchers = std::to_array<std::string_view>({"torchrun",
                                                                      "torch.distributed.run",
                                                                      "torch.distributed.launch",
                                                                      "accelerate",
                                                                      "accelerate.commands.launch",
                                                                      "accelerate.commands.accelerate_cli",
                                                                      "deepspeed",
                                                                      "deepspeed.launcher.launch",
                                                                      "composer",
                                                                      "horovodrun",
                                                                      "mpirun",
                                                                      "mpiexec",
                                                                      "mpiexec.hydra",
                                                                      "orterun",
                                                                      "orted",
                                                                      "prterun",
                                                                      "prted",
                                                                      "hydra_pmi_proxy",
                                                                      "hydra_bstrap_proxy",
                                                                      "srun"});
  return std::find(kLaunchers.begin(), kLaunchers.end(), program) != kLaunchers.end() ||
         program.starts_with("slurmstepd");
}

// A child that Python's multiprocessing, or joblib's, started by exec.
bool IsHelper(std::string_view command) {
  return command.find("multiprocessing.spawn") != std::string_view::npos ||
         command.find("multiprocessing.forkserver") != std::string_view::npos ||
         command.find("--multiprocessing-fork") != std::string_view::npos ||
         command.find("loky.backend") != std::string_view::npos;
}

}  // namespace

ProcSource::ProcSource(std::string root)
    : root_(std::move(root)), tick_us_(1'000'000 / static_cast<uint64_t>(std::max(sysconf(_SC_CLK_TCK), 1L))) {}

bool ProcSource::Read(uint32_t id, std::string_view name, size_t bytes_max, std::string* text) const {
  std::string path = root_ + "/" + std::to_string(id) + "/";
  path += name;
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return false;
  text->resize(bytes_max);
  size_t length = 0;
  while (length < bytes_max) {
    const ssize_t got = read(fd.get(), text->data() + length, bytes_max - length);
    if (got < 0) return false;  // ESRCH: it has gone since the open
    if (got == 0) break;
    length += static_cast<size_t>(got);
  }
  text->resize(length);
  return true;
}

std::optional<ProcessFacts> ProcSource::Look(uint32_t thread) {
  std::string text;
  ProcessFacts facts;
  if (!Read(thread, "status", 4096, &text)) return std::nullopt;
  if (!Parse(LineAfter(text, "\nTgid:"), &facts.pid) || !Parse(LineAfter(text, "\nPPid:"), &facts.parent)) {
    return std::nullopt;
  }
  // What is only left for its parent to collect reads no more.
  if (LineAfter(text, "\nState:").starts_with('Z')) return std::nullopt;

  // Field 22, in ticks; field 2, the name, is in brackets and may have any character in it.
  if (!Read(facts.pid, "stat", 4096, &text)) return std::nullopt;
  std::string_view fields = text;
  fields.remove_prefix(std::min(fields.rfind(')') + 1, fields.size()));
  for (int field = 2; field < 22; field++) {
    const size_t space = fields.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    fields.remove_prefix(space + 1);
  }
  uint64_t ticks = 0;
  if (!Parse(fields, &ticks)) return std::nullopt;
  facts.start_us = ticks * tick_us_;

  if (Read(facts.pid, "cmdline", kCommandBytesMax, &text) && !text.empty()) {
    facts.command = std::hash<std::string_view>()(text);
    facts.helper = IsHelper(text);
    facts.launcher = IsLauncher(ProgramOf(SplitAtZeros(text)));
  }
  return facts;
}

LaunchFacts ProcSource::Launch(uint32_t pid) {
  std::string text;
  LaunchFacts launch;
  if (!Read(pid, "environ", kEnvironmentBytesMax, &text)) return launch;
  const std::vector<std::string_view> variables = SplitAtZeros(text);
  const auto value = [&variables](std::string_view name) -> std::string_view {
    for (const std::string_view variable : variables) {
      if (variable.size() > name.size() && variable[name.size()] == '=' && variable.starts_with(name)) {
        return variable.substr(name.size() + 1);
      }
    }
    return {};
  };
  struct Names {
    std::string_view rank;
    std::string_view world_size;
    std::array<std::string_view, 3> launch;  // what together names the launch
  };
  static constexpr auto kKinds = std::to_array<Names>({
      {"RANK", "WORLD_SIZE", {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"}},
      {"OMPI_COMM_WORLD_RANK",
       "OMPI_COMM_WORLD_SIZE",
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMIX_SERVER_URI"}},
      {"SLURM_PROCID", "SLURM_NTASKS", {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_JOB_NODELIST"}},
      {"PMI_RANK", "PMI_SIZE", {"PMI_PORT", "PMI_ID_BASE", "HYDI_CONTROL_FD"}},
  });
  for (const Names& names : kKinds) {
    if (!Parse(value(names.rank), &launch.rank) || !Parse(value(names.world_size), &launch.world_size) ||
        launch.rank >= launch.world_size) {
      launch = {};
      continue;
    }
    std::string name(names.rank);
    for (const std::string_view part : names.launch) {
      name += '\n';
      name += value(part);
    }
    launch.launch = std::hash<std::string>()(name) | 1;
    return launch;
  }
  return launch;
}

}  // namespace augur
