// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "base/terminal_text.h"
#include "base/units.h"
#include "control/control_client.h"
#include "tools/control_commands/commands.h"
#include "tools/control_commands/find_daemon.h"
#include "tools/output.h"
#include "views/view_spec.h"

namespace augur {
namespace {

struct Row {
  std::string view;
  std::string place;
  uint64_t images = 0;
  uint64_t bytes = 0;
  uint64_t largest_bytes = 0;  // what the largest image takes to make
  uint64_t memory_bytes = 0;   // the memory= that has room for it
  uint64_t reads = 0;
  uint64_t hits = 0;
  uint64_t images_decoded = 0;
  uint64_t decode_errors = 0;
  uint64_t rendered_bytes = 0;
  uint64_t decode_us = 0;  // of all images_decoded together
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
    row.largest_bytes = view.value("largest_bytes", uint64_t{0});
    row.memory_bytes = view.value("memory_bytes", uint64_t{0});
    row.reads = view.value("reads", uint64_t{0});
    row.hits = view.value("hits", uint64_t{0});
    row.images_decoded = view.value("images_decoded", uint64_t{0});
    row.decode_errors = view.value("decode_errors", uint64_t{0});
    row.rendered_bytes = view.value("rendered_bytes", uint64_t{0});
    row.decode_us = view.value("decode_us", uint64_t{0});
    rows.push_back(std::move(row));
  }
  return rows;
}

// What the daemon has for views, bytes.
struct Room {
  uint64_t bytes_max = 0;         // for their files, made and kept
  uint64_t making_bytes_max = 0;  // of it, for those in the making
};

std::string Table(const std::vector<Row>& rows, const Room& room) {
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
    if (row.images_decoded > 0) {
      line += "; decoded " + std::to_string(row.images_decoded) + " images to " + FormatSize(row.rendered_bytes) +
              ", " + std::to_string(row.decode_us / row.images_decoded) + " us each";
    }
    if (row.decode_errors > 0) {
      line += "; could not decode one " + std::to_string(row.decode_errors) + " times, see the log";
    }
    if (row.bytes > room.bytes_max) {
      line += "; does not fit in the " + FormatSize(room.bytes_max) +
              " of memory= for views, and will lose against the JPEGs unless the page cache or decoded-cache= holds it";
    }
    if (row.largest_bytes > room.making_bytes_max) {
      line += "; its largest image takes " + FormatSize(row.largest_bytes) + " to make, more than the " +
              FormatSize(room.making_bytes_max) + " for that, and cannot be read: mount with memory= of about " +
              FormatSize(row.memory_bytes);
    }
    out += line + "\n";
  }
  return out;
}

// What is at fault is told without the daemon, which has nothing to add.
Result<std::string> CheckedSpec(const std::string& spec) {
  if (spec.empty()) return std::string();
  AUGUR_TRY_ASSIGN(view, ParseViewSpec(spec));
  return CanonicalSpec(view);
}

}  // namespace

Status RunViews(const ViewsOptions& options) {
  AUGUR_TRY_ASSIGN(spec, CheckedSpec(options.spec));
  AUGUR_TRY_ASSIGN(socket, FindDaemon(options.mountpoint));
  const Result<ControlAnswer> answer = AskDaemon(socket, {{"command", "views"}}, nullptr);
  if (!answer.ok()) return answer.status().In(Printable(options.mountpoint));
  std::vector<Row> rows = RowsOf(answer->body);
  if (!spec.empty()) std::erase_if(rows, [&](const Row& row) { return row.view != spec; });
  const Room room = {.bytes_max = answer->header.value("bytes_max", uint64_t{0}),
                     .making_bytes_max = answer->header.value("making_bytes_max", uint64_t{0})};
  if (!options.json && !spec.empty() && rows.empty()) {
    return WriteOut(".augur/views/" + spec + "  is a view, and was not used yet\n");
  }
  if (!options.json) return WriteOut(TerminalText(Table(rows, room)));
  nlohmann::ordered_json json = {{"bytes_max", room.bytes_max},
                                 {"making_bytes_max", room.making_bytes_max},
                                 {"views", nlohmann::ordered_json::array()}};
  for (const Row& row : rows) {
    json["views"].push_back({{"view", row.view},
                             {"place", row.place},
                             {"images", row.images},
                             {"bytes", row.bytes},
                             {"reads", row.reads},
                             {"hits", row.hits},
                             {"images_decoded", row.images_decoded},
                             {"decode_errors", row.decode_errors},
                             {"rendered_bytes", row.rendered_bytes},
                             {"decode_us", row.decode_us},
                             {"largest_bytes", row.largest_bytes},
                             {"fits", row.bytes <= room.bytes_max}});
  }
  return WriteOut(json.dump(2, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace augur
