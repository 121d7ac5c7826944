// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/order_checks.h"

#include <string>

#include "base/excerpt.h"
#include "base/units.h"
#include "diagnosis/run_checks.h"

namespace augur {
namespace {

using Weight = Finding::Weight;

// Fewer are too few to find an order by.
constexpr uint64_t kFilesToKnow = 200;

std::string NameOf(const OrderReport& job) {
  return job.job == 0 ? "of processes that are not visible here" : "of job " + FormatCount(job.job);
}

Finding CheckJob(const OrderReport& job, bool waits) {
  switch (job.state) {
    case OrderReport::State::kKnown:
      return {.weight = Weight::kFine,
              .name = "order-known",
              .text = "The order " + NameOf(job) + " is known: " + Printable(job.text) + ".",
              .cure = {}};
    case OrderReport::State::kNotSought:
      return {.weight = Weight::kFine,
              .name = "order-not-needed",
              .text = "No order is looked for: " + Printable(job.text) + ".",
              .cure = {}};
    default: break;
  }
  return {.weight = waits && job.files >= kFilesToKnow ? Weight::kProblem : Weight::kAdvice,
          .name = "order-unknown",
          .text = "The order " + NameOf(job) + " is not known after " + FormatCount(job.files) +
                  " files, so nothing is read ahead: " + Printable(job.text) + ".",
          .cure =
              "If the script sets a seed, name its sampler: augurctl hint MOUNT --sampler torch --seed N. For ranks: "
              "--sampler distributed --world-size W --ranks LIST. Else give the paths of an epoch: --order FILE."};
}

}  // namespace

std::vector<Finding> CheckOrder(const RunWindow& window, const MachineFacts& /*machine*/) {
  std::vector<Finding> findings;
  const bool waits = window.wait_share() >= kWaitShareMin;
  // Without prediction, a pass in path order and a hint are followed all the same.
  const bool off = window.Fact("prefetch") == "off";
  if (off || (!window.after().predicts && window.Now(Gauge::kOrdersQueued) == 0)) {
    findings.push_back({.weight = waits ? Weight::kProblem : Weight::kAdvice,
                        .name = "predict-off",
                        .text = "This mount works out no order: it has -o predict=off, or too little memory=.",
                        .cure = "Mount without predict=off, and with -o memory=256M or more."});
    return findings;
  }
  for (const OrderReport& job : window.after().jobs) {
    if (job.state == OrderReport::State::kEnded) continue;
    const bool reads = window.FilesOf(job) > 0 || job.state == OrderReport::State::kNotSought;
    if (reads) findings.push_back(CheckJob(job, waits));
  }
  if (const uint64_t lost = window.Delta(Stat::kOrdersLost); lost > 0) {
    findings.push_back({.weight = Weight::kAdvice,
                        .name = "order-lost",
                        .text = "The reads have left an order that was known (" + FormatCount(lost) +
                                " times): the script has read other files than its sampler draws.",
                        .cure = "The log says which reads did not agree. A script that skips files, or reads with "
                                "another sampler in between, can be told by 'augurctl hint --order'."});
  }
  const uint64_t dropped = window.Delta(Stat::kAccessesDropped) + window.Delta(Stat::kPrefetchAccessesDropped);
  if (dropped > 0) {
    findings.push_back({.weight = Weight::kAdvice,
                        .name = "daemon-busy",
                        .text = "The daemon was too busy to see " + FormatCount(dropped) + " reads and opens.",
                        .cure = "Leave it a processor: fewer workers, or a smaller nice value for augurfs."});
  }
  return findings;
}

}  // namespace augur
