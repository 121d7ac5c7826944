// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/terminal_text.h"
#include "base/units.h"
#include "control/control_client.h"
#include "tools/control_commands/commands.h"
#include "tools/control_commands/find_daemon.h"
#include "tools/control_commands/order_body.h"
#include "tools/output.h"

namespace augur {
namespace {

Status HintSampler(const HintOptions& options) {
  AUGUR_TRY_ASSIGN(socket, FindDaemon(options.mountpoint));
  const Result<ControlAnswer> answer =
      AskDaemon(socket, {{"command", "hint_sampler"}, {"words", options.sampler}}, nullptr);
  if (!answer.ok()) return answer.status().In(Printable(options.mountpoint));
  return WriteOut("accepted: " + TerminalLine(answer->header.value("accepted", std::string())) + "\n");
}

Status HintOrder(const HintOptions& options) {
  AUGUR_TRY_ASSIGN(order, OrderBody::Open(options.order));
  AUGUR_TRY_ASSIGN(socket, FindDaemon(options.mountpoint));
  const Result<ControlAnswer> answer =
      AskDaemon(socket, {{"command", "hint"}, {"replace", options.replace}}, order.source());
  if (!answer.ok()) return order.Explain(answer.status(), options.mountpoint);
  return WriteOut("accepted: " + TerminalLine(answer->header.value("files", nlohmann::json(0)).dump()) + " files\n");
}

}  // namespace

Status RunHint(const HintOptions& options) {
  return options.sampler.empty() ? HintOrder(options) : HintSampler(options);
}

}  // namespace augur
