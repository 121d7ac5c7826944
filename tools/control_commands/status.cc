// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"
#include "control/control_client.h"
#include "tools/control_commands/commands.h"
#include "tools/control_commands/find_daemon.h"
#include "tools/output.h"

namespace augur {

Status RunStatus(const StatusOptions& options) {
  AUGUR_TRY_ASSIGN(socket, FindDaemon(options.mountpoint));
  const Result<ControlAnswer> answer = AskDaemon(socket,
                                                 {{"command", "status"},
                                                  {"format", options.json  ? "json"
                                                             : options.all ? "table"
                                                                           : "screen"}},
                                                 nullptr, /*soon=*/true);
  if (!answer.ok()) return answer.status().In(Printable(options.mountpoint));
  return WriteOut(answer->body);
}

}  // namespace augur
