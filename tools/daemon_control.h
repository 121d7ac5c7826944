// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "augur/store.h"
#include "control/access_record.h"
#include "control/control_server.h"
#include "control/render.h"
#include "control/statistics.h"
#include "datasets/path_order.h"
#include "fs/file_system.h"
#include "predict/order_predictor.h"
#include "prefetch/prefetch_control.h"
#include "tools/view_totals.h"

namespace augur {

struct DaemonControlOptions {
  std::string mount_point;                         // for people, and as label of the metrics
  std::string order_prefix;                        // what absolute paths in an order begin with; empty: refused
  Facts facts;                                     // what else the mount is
  std::function<std::string()> transport = {};     // how requests come, for people; empty: not said
  std::function<std::string()> fleet_sweep = {};   // how far it is, for people; empty: there is none
  std::function<std::string()> last_upgrade = {};  // the same of the last upgrade; empty text: there was none
  PrefetchControl* prefetch = nullptr;             // nullptr: this mount does not prefetch
  uint64_t order_bytes_max = uint64_t{4} << 30;    // for the files in path order, which hints by number name
  OrderPredictor* predictor = nullptr;             // nullptr: nor does it find out orders by itself
  AccessRecord* accesses = nullptr;                // of readers; nullptr: none are seen
  FileSystem* file_system = nullptr;               // whose views can be asked about; nullptr: there are none
};

// DaemonControl is what a running mount says about itself and what it can be asked: the texts of the virtual files, and
// the commands of augurctl. Safe from any thread. REQUIRES: statistics, prefetch, predictor and file system outlive it,
// and every handler has returned before it is destroyed.
class DaemonControl {
 public:
  DaemonControl(std::shared_ptr<const Store> store, const Statistics& statistics, DaemonControlOptions options);
  DaemonControl(const DaemonControl&) = delete;
  DaemonControl& operator=(const DaemonControl&) = delete;

  // Of this moment.
  std::string Screen() const;
  std::string Table() const;
  std::string Json() const;
  std::string Metrics() const;

  // The commands, for ControlServer:
  //   status {"format": "screen" | "table" | "json"}
  //                                         The text as body.
  //   hint {"replace": bool}, an order file as body
  //                                         {"files": N}. kInvalid by line number. kNoSpace: longer than memory allows.
  //                                         kBusy: another one is being read.
  //   hint_sampler {"words": ["--sampler=torch", ...]}, the words of a SamplerHint
  //                                         {"accepted": what they mean}. kInvalid: the mistake in them.
  //   views                                 As body a list of {"view", "root", "images", "bytes", "largest_bytes",
  //                                         "memory_bytes"} and the counts of ViewCounts. {"bytes_max": N}: memory for
  //                                         made files and the retained cache. {"making_bytes_max": N}: of it, for
  //                                         files in the making. Waits for a walk over the index for each view that is
  //                                         new.
  //   jobs                                  Each job, and whether its order is known, as body: RenderOrders.
  //                                         {"predicts": bool}: whether this mount works out orders.
  //   accesses {"since": N}                 Accesses from number N on, as body: RenderAccesses. {"next": N, "lost": N,
  //                                         "more": bool}: AccessRecord::Page.
  //   warm {"all": bool}, else an order file as body
  //                                         {"run": N}. kInvalid, kNoSpace, kBusy: as hint. kBusy: another run is not
  //                                         done.
  //   warm_progress {"run": N, "end": bool} The fields of WarmReport. kStopped: it has ended before its time.
  //   drop                                  {"retained_cache_bytes": N, "push_window_bytes": N}.
  // hint, hint_sampler, warm, warm_progress and drop are kUnsupported in a mount that does not prefetch.
  std::map<std::string, ControlHandler, std::less<>> Handlers();
  // Handlers that take long end soon, with kStopped: the daemon is about to end.
  void GiveUp() { totals_.GiveUp(); }

 private:
  Facts AllFacts() const;
  Result<ControlReply> Report(const nlohmann::json& request) const;
  Result<ControlReply> Hint(const nlohmann::json& request, const ControlBody& body);
  // One order at a time.
  Result<Order> ReadOrder(uint64_t lines_max, const ControlBody& body);
  Result<Order> ParseOrder(uint64_t lines_max, const ControlBody& body);
  Result<ControlReply> HintSampler(const nlohmann::json& request);
  Result<ControlReply> Jobs() const;
  Result<ControlReply> Accesses(const nlohmann::json& request) const;
  Result<ControlReply> Drop();
  Result<ControlReply> Warm(const nlohmann::json& request, const ControlBody& body);
  Result<ControlReply> WarmProgress(const nlohmann::json& request);
  Result<ControlReply> Views();

  // Constant after construction.
  const std::shared_ptr<const Store> store_;
  const Statistics& statistics_;
  const DaemonControlOptions options_;

  // Own synchronization.
  PathOrder path_order_;
  ViewTotals totals_;
  std::atomic<bool> reading_order_ = false;  // one at a time, so that one budget is enough
};

}  // namespace augur
