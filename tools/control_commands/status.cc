// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/terminal_text.h"
#include "base/units.h"
#include "control/control_client.h"
#include "tools/control_commands/commands.h"
#include "tools/control_commands/find_daemon.h"
#include "tools/output.h"

namespace augur {

Status RunStatus(const StatusOptions& options) {
  const char* const format = options.json ? "json" : options.all ? "table" : "screen";
  AUGUR_TRY_ASSIGN(answer, AskMount(options.mountpoint, {{"command", "status"}, {"format", format}}));
  const std::string safe = TerminalText(answer.body);
  if (!options.json || safe == answer.body) return WriteOut(safe);
  // In JSON those characters have escapes of their own.
  const auto json = nlohmann::ordered_json::parse(answer.body, nullptr, false);
  if (json.is_discarded()) return {Code::kCorrupt, Printable(options.mountpoint) + ": the daemon's answer is no JSON"};
  return WriteOut(json.dump(2, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace augur
