// SPDX-License-Identifier: Apache-2.0
#include "tools/daemon_control.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "control/json_values.h"
#include "control/status_screen.h"
#include "datasets/order_file.h"
#include "samplers/sampler_description.h"
#include "samplers/sampler_hint.h"

namespace augur {
namespace {

Status NoPrefetch() {
  return {Code::kUnsupported,
          "this mount does not look ahead (-o predict=off, or too little memory=): unmount it, and mount it without "
          "predict=off and with memory=64M or more"};
}

bool IsTrue(const nlohmann::json& request, const char* name) {
  const auto found = request.find(name);
  return found != request.end() && *found == true;
}

}  // namespace

DaemonControl::DaemonControl(std::shared_ptr<const Store> store, const Statistics& statistics,
                             DaemonControlOptions options)
    : store_(std::move(store)),
      statistics_(statistics),
      options_(std::move(options)),
      path_order_(store_, options_.order_bytes_max),
      totals_(store_) {}

Facts DaemonControl::AllFacts() const {
  Facts facts = {{"mountpoint", options_.mount_point}};
  facts.insert(facts.end(), options_.facts.begin(), options_.facts.end());
  if (options_.transport) facts.emplace_back("transport", options_.transport());
  if (options_.fleet_sweep) facts.emplace_back("fleet_sweep", options_.fleet_sweep());
  if (options_.last_upgrade) {
    if (std::string text = options_.last_upgrade(); !text.empty()) {
      facts.emplace_back("last_upgrade", std::move(text));
    }
  }
  if (options_.prefetch == nullptr) {
    facts.emplace_back("prefetch", "off");
  } else {
    for (auto& fact : options_.prefetch->Describe()) facts.push_back(std::move(fact));
  }
  if (options_.predictor != nullptr) {
    for (auto& fact : options_.predictor->Describe()) facts.push_back(std::move(fact));
  }
  return facts;
}

std::string DaemonControl::Screen() const {
  StatusScreen screen = {.facts = AllFacts(),
                         .orders = {},
                         .predicts = options_.predictor != nullptr,
                         .prefetches = options_.prefetch != nullptr,
                         .now = time(nullptr)};
  if (options_.predictor != nullptr) screen.orders = options_.predictor->Reports();
  return RenderStatus(screen, statistics_.Snapshot());
}

std::string DaemonControl::Table() const { return RenderTable(AllFacts(), statistics_.Snapshot()); }
std::string DaemonControl::Json() const { return RenderJson(AllFacts(), statistics_.Snapshot()); }
std::string DaemonControl::Metrics() const {
  return RenderPrometheus({{"mountpoint", options_.mount_point}}, statistics_.Snapshot());
}

std::map<std::string, ControlHandler, std::less<>> DaemonControl::Handlers() {
  return {
      {"status", [this](const nlohmann::json& request, const ControlBody&) { return Report(request); }},
      {"hint", [this](const nlohmann::json& request, const ControlBody& body) { return Hint(request, body); }},
      {"hint_sampler", [this](const nlohmann::json& request, const ControlBody&) { return HintSampler(request); }},
      {"views", [this](const nlohmann::json&, const ControlBody&) { return Views(); }},
      {"warm", [this](const nlohmann::json& request, const ControlBody& body) { return Warm(request, body); }},
      {"warm_progress", [this](const nlohmann::json& request, const ControlBody&) { return WarmProgress(request); }},
      {"jobs", [this](const nlohmann::json&, const ControlBody&) { return Jobs(); }},
      {"accesses", [this](const nlohmann::json& request, const ControlBody&) { return Accesses(request); }},
      {"drop", [this](const nlohmann::json&, const ControlBody&) { return Drop(); }},
  };
}

Result<ControlReply> DaemonControl::Report(const nlohmann::json& request) const {
  const auto format = request.find("format");
  const auto is = [&](const char* name) { return format != request.end() && *format == name; };
  return ControlReply{.header = nlohmann::json::object(),
                      .body = is("json")     ? Json()
                              : is("screen") ? Screen()
                                             : Table()};
}

Result<ControlReply> DaemonControl::Hint(const nlohmann::json& request, const ControlBody& body) {
  if (options_.prefetch == nullptr) return NoPrefetch();
  const auto place = IsTrue(request, "replace") ? PrefetchControl::Place::kInstead : PrefetchControl::Place::kBehind;
  AUGUR_TRY_ASSIGN(order, ReadOrder(options_.prefetch->OrderFilesMax(place), body));
  ControlReply reply;
  reply.header["files"] = order.size();
  AUGUR_TRY(options_.prefetch->AddOrder(std::move(order), place));
  return reply;
}

Result<Order> DaemonControl::ReadOrder(uint64_t lines_max, const ControlBody& body) {
  if (reading_order_.exchange(true)) {
    return Status(Code::kBusy,
                  "another 'augurctl hint' or 'augurctl warm' is still sending its order: wait for it, or end it");
  }
  Result<Order> order = ParseOrder(lines_max, body);
  reading_order_ = false;
  return order;
}

Result<Order> DaemonControl::ParseOrder(uint64_t lines_max, const ControlBody& body) {
  std::function<Result<Entry>(std::string_view path)> find;
  if (options_.file_system != nullptr) {
    find = [this](std::string_view path) { return options_.file_system->FindByPath(path); };
  }
  OrderFileParser parser(store_, &path_order_,
                         {.find = std::move(find), .mount_point = options_.order_prefix, .lines_max = lines_max});
  std::string piece;
  while (true) {
    AUGUR_TRY_ASSIGN(more, body(piece));
    if (!more) break;
    AUGUR_TRY(parser.Feed(piece));
  }
  return parser.Finish();
}

Result<ControlReply> DaemonControl::HintSampler(const nlohmann::json& request) {
  if (options_.predictor == nullptr) return NoPrefetch();
  std::vector<std::string> words;
  const auto given = request.find("words");
  const auto is_text = [](const nlohmann::json& word) { return word.is_string(); };
  if (given == request.end() || !given->is_array() || !std::ranges::all_of(*given, is_text)) {
    return Status(Code::kInvalid, "the request has no list of words: ask by an 'augurctl' of this version");
  }
  for (const nlohmann::json& word : *given) words.push_back(word.get<std::string>());
  AUGUR_TRY_ASSIGN(hint, ParseSamplerHint(words));
  AUGUR_TRY_ASSIGN(spec, ResolveSamplerHint(hint));
  // Which list of samples it will be is not known; none is longer.
  AUGUR_TRY(spec.CheckReach(std::max<uint64_t>(store_->summary().file_count, 1)));
  ControlReply reply;
  reply.header["accepted"] = spec.Describe();
  options_.predictor->AddHint(std::move(spec));
  return reply;
}

Result<ControlReply> DaemonControl::Views() {
  ControlReply reply;
  nlohmann::json views = nlohmann::json::array();  // more than a header may have
  // Those that were asked for, and those that the retained cache keeps.
  reply.header["bytes_max"] = (options_.file_system != nullptr ? options_.file_system->rendered_bytes_max() : 0) +
                              statistics_.Snapshot()[Gauge::kRetainedCacheBytesMax];
  reply.header["making_bytes_max"] = options_.file_system != nullptr ? options_.file_system->rendered_bytes_max() : 0;
  const auto all = options_.file_system != nullptr ? options_.file_system->Views() : std::vector<ViewRef>();
  for (const ViewRef& view : all) {
    AUGUR_TRY_ASSIGN(total, totals_.Of(*view));
    views.push_back({{"view", view->text},
                     {"root", view->number == ViewTable::kRootNumber},
                     {"images", total.images},
                     {"bytes", total.bytes},
                     {"largest_bytes", total.largest_bytes},
                     {"memory_bytes", MemoryForViews(total.largest_bytes)},
                     {"reads", view->counts->reads.load(std::memory_order_relaxed)},
                     {"hits", view->counts->hits.load(std::memory_order_relaxed)},
                     {"images_decoded", view->counts->images_decoded.load(std::memory_order_relaxed)},
                     {"decode_errors", view->counts->decode_errors.load(std::memory_order_relaxed)},
                     {"rendered_bytes", view->counts->rendered_bytes.load(std::memory_order_relaxed)},
                     {"decode_us", view->counts->decode_us.load(std::memory_order_relaxed)}});
  }
  reply.body = views.dump();
  return reply;
}

Result<ControlReply> DaemonControl::Jobs() const {
  return ControlReply{
      .header = {{"predicts", options_.predictor != nullptr}},
      .body = RenderOrders(options_.predictor != nullptr ? options_.predictor->Reports() : std::vector<OrderReport>())};
}

Result<ControlReply> DaemonControl::Accesses(const nlohmann::json& request) const {
  AccessRecord::Page page;
  if (options_.accesses != nullptr) page = options_.accesses->Take(CountIn(request, "since"));
  return ControlReply{.header = {{"next", page.next}, {"lost", page.lost}, {"more", page.more}},
                      .body = RenderAccesses(page.accesses)};
}

Result<ControlReply> DaemonControl::Drop() {
  if (options_.prefetch == nullptr) return NoPrefetch();
  const DropReport dropped = options_.prefetch->Drop();
  ControlReply reply;
  reply.header["retained_cache_bytes"] = dropped.retained_cache_bytes;
  reply.header["push_window_bytes"] = dropped.push_window_bytes;
  return reply;
}

Result<ControlReply> DaemonControl::Warm(const nlohmann::json& request, const ControlBody& body) {
  if (options_.prefetch == nullptr) return NoPrefetch();
  std::shared_ptr<const Order> files;
  if (IsTrue(request, "all")) {
    AUGUR_TRY_ASSIGN(all, path_order_.Files());
    files = std::move(all);
  } else {
    AUGUR_TRY_ASSIGN(order, ReadOrder(options_.prefetch->OrderFilesMax(PrefetchControl::Place::kInstead), body));
    files = std::make_shared<const Order>(std::move(order));
  }
  AUGUR_TRY_ASSIGN(run, options_.prefetch->BeginWarm(std::move(files)));
  return ControlReply{.header = {{"run", run}}, .body = {}};
}

Result<ControlReply> DaemonControl::WarmProgress(const nlohmann::json& request) {
  if (options_.prefetch == nullptr) return NoPrefetch();
  const auto run = request.find("run");
  if (run == request.end() || !run->is_number_unsigned()) {
    return Status(Code::kInvalid, "the request names no run: ask by an 'augurctl' of this version");
  }
  AUGUR_TRY_ASSIGN(report, options_.prefetch->Warmed(run->get<uint64_t>(), IsTrue(request, "end")));
  return ControlReply{.header = {{"files", report.files},
                                 {"bytes", report.bytes},
                                 {"planned_files", report.planned_files},
                                 {"planned_bytes", report.planned_bytes},
                                 {"kept_files", report.kept_files},
                                 {"kept_bytes", report.kept_bytes},
                                 {"unreadable_files", report.unreadable_files},
                                 {"too_long_files", report.too_long_files},
                                 {"running", report.running}},
                      .body = {}};
}

}  // namespace augur
