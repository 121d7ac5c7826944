// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "base/units.h"
#include "control/control_client.h"
#include "tools/control_commands/commands.h"
#include "tools/control_commands/find_daemon.h"
#include "tools/output.h"

namespace augur {
namespace {

struct Row {
  std::string view;
  std::string place;
  uint64_t images = 0;
  uint64_t bytes = 0;
  uint64_t reads = 0;
  uint64_t hits = 0;
};

// What a daemon of another version says otherwise is nothing.
std::vector<Row> RowsOf(const std::string& body) {
  std::vector<Row> rows;
  const nlohmann::json views = nlohmann::json::parse(body, nullptr, false);
  if (!views.is_array()) return rows;
  for (const nlohmann::json& view : views) {
    if (!view.is_object()) continue;
    Row row;
    row.view = view.value("view", std::string());
    row.place = view.value("root", false) ? "the root" : ".augur/views/" + row.view;
    row.images = view.value("images", uint64_t{0});
    row.bytes = view.value("bytes", uint64_t{0});
    row.reads = view.value("reads", uint64_t{0});
    row.hits = view.value("hits", uint64_t{0});
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string Table(const std::vector<Row>& rows, uint64_t bytes_max) {
  if (rows.empty()) return "no view was used yet: name one as .augur/views/SPEC in the mount\n";
  std::string out;
  size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.place.size());
  for (const Row& row : rows) {
    std::string line = row.place + std::string(width - row.place.size() + 2, ' ');
    line += std::to_string(row.images) + " images, " + FormatSize(row.bytes);
    if (row.reads > 0) {
      line += "; asked for " + std::to_string(row.reads) + " times, " + std::to_string(row.hits * 100 / row.reads) +
              " % made already";
    }
    if (row.bytes > bytes_max) line += "; does not fit in the " + FormatSize(bytes_max) + " of memory= for views";
    out += line + "\n";
  }
  return out;
}

}  // namespace

Status RunViews(const ViewsOptions& options) {
  AUGUR_TRY_ASSIGN(socket, FindDaemon(options.mountpoint));
  const Result<ControlAnswer> answer = AskDaemon(socket, {{"command", "views"}}, nullptr);
  if (!answer.ok()) return answer.status().In(Printable(options.mountpoint));
  const std::vector<Row> rows = RowsOf(answer->body);
  const auto bytes_max = answer->header.value("bytes_max", uint64_t{0});
  if (!options.json) return WriteOut(Table(rows, bytes_max));
  nlohmann::ordered_json json = {{"bytes_max", bytes_max}, {"views", nlohmann::ordered_json::array()}};
  for (const Row& row : rows) {
    json["views"].push_back({{"view", row.view},
                             {"place", row.place},
                             {"images", row.images},
                             {"bytes", row.bytes},
                             {"reads", row.reads},
                             {"hits", row.hits},
                             {"fits", row.bytes <= bytes_max}});
  }
  return WriteOut(json.dump(2) + "\n");
}

}  // namespace augur
