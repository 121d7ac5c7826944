// SPDX-License-Identifier: Apache-2.0
#include "predict/order_predictor.h"

#include <spdlog/spdlog.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX's

#include <functional>
#include <future>
#include <utility>

#include "base/thread.h"
#include "predict/order_finder.h"
#include "predict/run_recorder.h"

namespace augur {
namespace {

// CLOCK_BOOTTIME, to which start times of processes refer.
uint64_t BootTimeUs() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

OrderPredictorOptions WithDefaults(OrderPredictorOptions options) {
  if (!options.clock_us) options.clock_us = BootTimeUs;
  if (!options.known) options.known = OrderFinder::AllKnown();
  return options;
}

}  // namespace

OrderPredictor::OrderPredictor(std::shared_ptr<const Store> store, PredictedOrders& orders, Statistics& statistics,
                               OrderPredictorOptions options)
    : store_(std::move(store)),
      orders_(orders),
      statistics_(statistics),
      options_(WithDefaults(std::move(options))),
      queue_(options_.accesses_max, statistics) {}

OrderPredictor::~OrderPredictor() { Stop(); }

Status OrderPredictor::Start() {
  AUGUR_TRY_ASSIGN(searcher,
                   Searcher::Start({.threads = options_.search_threads, .idle_class = options_.search_idle_class}));
  searcher_ = std::move(searcher);
  if (!options_.replay_folder.empty()) {
    ReplayLimits limits;
    limits.load_bytes_max = RunRecorder::BytesMax(PredictionFiles(options_.memory_bytes));
    Result<std::unique_ptr<ReplayStore>> runs = ReplayStore::Open(options_.replay_folder, store_->summary(), limits);
    if (runs.ok()) {
      runs_ = std::move(runs).value();
    } else {
      spdlog::info("orders are not remembered from run to run: {}", runs.status().text());
    }
  }
  tracker_ = std::make_unique<OrderTracker>(store_, orders_, statistics_, options_, runs_.get(), *searcher_, queue_);
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-predict", [this] { Run(); }));
  thread_ = std::move(thread);
  return Status::Ok();
}

void OrderPredictor::Stop() {
  queue_.Stop();
  if (thread_.joinable()) thread_.join();
  searcher_.reset();
}

void OrderPredictor::OnRead(uint32_t view, EntryNumber file, uint32_t reader) {
  queue_.AddRead(view, file, reader, NowUs());
}

void OrderPredictor::OnOpened(uint32_t view, std::span<const EntryNumber> files) {
  queue_.AddOpens(view, files, NowUs());
}

void OrderPredictor::AddHint(SamplerDescription hint) {
  queue_.Post([this, hint = std::move(hint)] { tracker_->AddHint(hint); });
}

// What is told is taken in after the events that are there with it: the second one comes after all of it.
void OrderPredictor::Flush() {
  for (int i = 0; i < 2; ++i) {
    const auto taken = std::make_shared<std::promise<void>>();
    queue_.Post([taken] { taken->set_value(); });
    taken->get_future().wait();
  }
}

Facts OrderPredictor::Describe() const {
  const MutexLock lock(mu_);
  return status_.facts;
}

std::vector<OrderReport> OrderPredictor::Reports() const {
  const MutexLock lock(mu_);
  return status_.reports;
}

void OrderPredictor::Run() {
  AccessQueue::Batch batch;
  while (queue_.Take(tracker_->paused(), &batch)) {
    for (const std::function<void()>& event : batch.events) event();
    tracker_->Take(batch);
    PredictionStatus status = tracker_->Describe();
    const MutexLock lock(mu_);
    status_ = std::move(status);
  }
  tracker_->Finish(batch);
}

}  // namespace augur
