// SPDX-License-Identifier: Apache-2.0
#include "tools/control_endpoint.h"

#include <unistd.h>

#include <array>
#include <ctime>
#include <utility>

#include "control/control_socket.h"
#include "fuse/holder_link.h"
#include "tools/control_commands/find_daemon.h"

namespace augur {
namespace {

std::string TimeText(time_t seconds) {
  tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return text.data();
}

// "2026-11-26 13:02:11: process 4711 was killed by signal 9 (KILL)".
std::string LastRestart(const DaemonDeath& death) {
  return TimeText(death.time) + ": process " + std::to_string(death.pid) + " " + DescribeDeath(death);
}

// "2026-11-26 13:02:11: process 4711 of version 0.1.0 handed over to process 4713; requests waited for 9 ms"; empty:
// there was none.
std::string LastUpgrade(const Upgrade* upgrade) {
  if (upgrade == nullptr || upgrade->to == 0) return "";
  constexpr int64_t kNsPerMs = 1'000'000;
  return TimeText(upgrade->time) + ": process " + std::to_string(upgrade->from.process) + " of version " +
         upgrade->from.version.data() + " handed over to process " + std::to_string(upgrade->to) +
         "; requests waited for " + std::to_string(upgrade->gap_ns / kNsPerMs) + " ms";
}

}  // namespace

ControlEndpoint::ControlEndpoint(const ControlledMount& mount, const std::string& log) : mount_(mount) {
  MountStack& stack = mount_.stack;
  const Store& store = *stack.store();
  Facts facts = {{"store", store.path()},
                 {"generation", std::to_string(store.summary().generation)},
                 {"reading_by", stack.engine().Description()},
                 {"log", log},
                 {"version", AUGUR_VERSION},
                 {"process", std::to_string(getpid())}};
  const AugurfsOptions& options = mount_.options;
  if (!options.preset.empty()) facts.emplace_back("preset", options.preset);
  if (!options.flags.writable.empty()) facts.emplace_back("writable", options.flags.writable);
  if (!stack.SharedFile().empty()) facts.emplace_back("shared_file", stack.SharedFile());
  const LastingState* const state = mount_.state;
  if (state != nullptr && state->last_death.pid != 0)
    facts.emplace_back("last_restart", LastRestart(state->last_death));
  const Upgrade* const upgrade = state != nullptr ? &state->upgrade : nullptr;
  const std::string& path = mount_.mount.shown_path();
  control_ =
      std::make_unique<DaemonControl>(stack.store(), stack.statistics(),
                                      DaemonControlOptions{.mount_point = path,
                                                           .order_prefix = mount_.mount.handed_down() ? "" : path,
                                                           .facts = std::move(facts),
                                                           .transport = [this] { return mount_.transport.Describe(); },
                                                           .fleet_sweep = stack.FleetSweepFact(),
                                                           .last_upgrade = [upgrade] { return LastUpgrade(upgrade); },
                                                           .prefetch = stack.prefetcher(),
                                                           .order_bytes_max = stack.settings().prefetch.order_bytes_max,
                                                           .predictor = stack.predictor(),
                                                           .accesses = &stack.accesses(),
                                                           .file_system = &stack.file_system()});
  stack.file_system().AddVirtualFile("stats.json", [this] { return control_->Json(); });
  stack.file_system().AddVirtualFile("metrics", [this] { return control_->Metrics(); });
  const Status status = Listen();
  if (!status.ok()) problem_ = "augurctl will not reach this mount: control socket: " + status.text();
}

Status ControlEndpoint::Listen() {
  AUGUR_TRY_ASSIGN(socket, ControlSocket::Listen(mount_.mount.RuntimeFolders()));
  const uint64_t generation = mount_.stack.store()->summary().generation;
  AUGUR_TRY_ASSIGN(upgrade,
                   DaemonUpgrade::Make({.values = mount_.options.values, .generation = generation, .newest = [this] {
                                          return mount_.stack.generations().Newest();
                                        }}));
  upgrade_ = std::move(upgrade);
  auto handlers = control_->Handlers();
  handlers.emplace("restart",
                   [this](const nlohmann::json& request, const ControlBody&) { return upgrade_->Ask(request); });
  handlers.emplace("serving", [state = mount_.state, generation](const nlohmann::json&, const ControlBody&) {
    return Result<ControlReply>(DescribeServing(state, generation));
  });
  AUGUR_TRY_ASSIGN(server, ControlServer::Start(std::move(socket), std::move(handlers)));
  server_ = std::move(server);
  mount_.stack.file_system().AddVirtualFile(kControlFile, [path = server_->path() + "\n"] { return path; });
  return Status::Ok();
}

void ControlEndpoint::Stop() {
  control_->GiveUp();
  if (upgrade_) upgrade_->GiveUp();
  server_.reset();
}

}  // namespace augur
