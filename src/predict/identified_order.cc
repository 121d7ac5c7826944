// SPDX-License-Identifier: Apache-2.0
#include "predict/identified_order.h"

#include <limits>
#include <utility>

#include "base/check.h"

namespace augur {

IdentifiedOrder MakeFinding(std::shared_ptr<const SampleList> list, const Guess& guess) {
  IdentifiedOrder finding;
  IndexOrder indices;
  guess.sampler->Take(list->size(), guess.epoch, std::numeric_limits<size_t>::max(), &indices);
  if (!guess.share.IsAll()) guess.share.Keep(0, &indices);
  Order files;
  files.reserve(indices.size());
  for (const uint32_t index : indices) files.push_back(list->files()[index]);
  finding.order = std::make_shared<const EpochOrder>(std::move(files));
  finding.list = std::move(list);
  finding.guess = guess;
  finding.continues = true;
  finding.what = guess.sampler->Describe();
  return finding;
}

IdentifiedOrder Continue(const IdentifiedOrder& finding, const Guess& guess) {
  IdentifiedOrder next = MakeFinding(finding.list, guess);
  next.nth = finding.nth + 1;
  next.bits = finding.bits;
  next.how = finding.how;
  return next;
}

IdentifiedOrder ContinueRecorded(const IdentifiedOrder& finding) {
  AUGUR_CHECK(!finding.recorded.empty());
  IdentifiedOrder next = finding;
  next.begin = 0;
  ++next.nth;
  ++next.run_epoch;
  next.order = std::make_shared<const EpochOrder>(*finding.recorded.front());
  next.recorded.erase(next.recorded.begin());
  return next;
}

}  // namespace augur
