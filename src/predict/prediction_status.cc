// SPDX-License-Identifier: Apache-2.0
#include "predict/prediction_status.h"

#include <algorithm>
#include <utility>

namespace augur {
namespace {

constexpr const char* kHotText = "all files come from memory";

// What is known first, then what is still searched for; or the other way round.
std::string FactOf(const TrackedJob& job) {
  std::string text = job.search.Describe();
  std::string known = job.prediction.Describe();
  if (!job.known() && !known.empty()) known.insert(0, "nothing now; last: ");
  std::string& first = job.known() ? known : text;
  const std::string& second = job.known() ? text : known;
  if (!first.empty() && !second.empty()) first += "; ";
  return first + second;
}

OrderReport ReportOf(const TrackedJob& job, bool hot) {
  const std::string known = job.prediction.Describe();
  if (job.known()) {
    return {.job = job.id(),
            .state = OrderReport::State::kKnown,
            .since = job.known_since,
            .text = known,
            .files = job.search.reads(),
            .script = job.script};
  }
  std::string text = job.search.Describe();
  if (text.empty()) text = hot ? std::string("not looked for: ") + kHotText : "too few reads so far";
  if (!known.empty()) text += "; before that: " + known;
  return {.job = job.id(),
          .state = OrderReport::State::kSought,
          .since = 0,
          .text = std::move(text),
          .files = job.search.reads(),
          .script = job.script};
}

}  // namespace

PredictionStatus DescribeJobs(const JobTable& jobs, bool hot, bool paused, const std::string& ended) {
  PredictionStatus status;
  for (const auto& [id, job] : jobs.all()) {
    std::string fact = FactOf(*job);
    if (!fact.empty()) {
      status.facts.emplace_back(jobs.size() == 1 ? "predicted" : "predicted_job_" + std::to_string(id),
                                std::move(fact));
    }
    status.reports.push_back(ReportOf(*job, hot));
  }
  if (paused) {
    status.facts.emplace_back("predicted", std::string("nothing now; orders are not looked for: ") + kHotText);
    status.reports.push_back({.job = 0, .state = OrderReport::State::kNotSought, .since = 0, .text = kHotText});
  }
  if (!ended.empty()) {
    status.facts.emplace_back(status.facts.empty() ? "predicted" : "predicted_last",
                              "nothing now; last, of a job that has ended: " + ended);
    status.reports.push_back({.job = 0, .state = OrderReport::State::kEnded, .since = 0, .text = ended});
  }
  std::ranges::sort(status.reports, {}, [](const OrderReport& report) { return std::pair(report.state, report.job); });
  return status;
}

}  // namespace augur
