// SPDX-License-Identifier: Apache-2.0
#include "predict/identified_order.h"

#include <limits>
#include <utility>

#include "base/check.h"

namespace augur {

IdentifiedOrder MakeIdentifiedOrder(std::shared_ptr<const SampleList> list, const Guess& guess) {
  IdentifiedOrder made;
  IndexOrder indices;
  guess.sampler->Take(list->size(), guess.epoch, std::numeric_limits<size_t>::max(), &indices);
  if (!guess.share.IsAll()) guess.share.Keep(0, &indices);
  Order files;
  files.reserve(indices.size());
  for (const uint32_t index : indices) files.push_back(list->files()[index]);
  made.order = std::make_shared<const EpochOrder>(std::move(files));
  made.list = std::move(list);
  made.guess = guess;
  made.continues = true;
  made.what = guess.sampler->Describe();
  return made;
}

IdentifiedOrder Continue(const IdentifiedOrder& identified, const Guess& guess) {
  IdentifiedOrder next = MakeIdentifiedOrder(identified.list, guess);
  next.nth = identified.nth + 1;
  next.bits = identified.bits;
  next.how = identified.how;
  return next;
}

IdentifiedOrder ContinueRecorded(const IdentifiedOrder& identified) {
  AUGUR_CHECK(!identified.recorded.empty());
  IdentifiedOrder next = identified;
  next.begin = 0;
  ++next.nth;
  ++next.run_epoch;
  next.order = std::make_shared<const EpochOrder>(*identified.recorded.front());
  next.recorded.erase(next.recorded.begin());
  return next;
}

}  // namespace augur
