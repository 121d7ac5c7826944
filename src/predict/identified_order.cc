// SPDX-License-Identifier: Apache-2.0
#include "predict/identified_order.h"

#include <limits>
#include <utility>

#include "base/check.h"
#include "samplers/epoch_shape.h"

namespace augur {
namespace {

// What this host reads of the indices of all ranks.
void KeepShare(const RankSubset& share, IndexOrder* indices) {
  if (share.IsAll()) return;
  const uint64_t listed = indices->size();
  if (share.kind == RankSubset::Kind::kStrided && share.world_size <= listed) {
    const EpochShape padded = {.multiple = share.world_size};
    padded.Apply(listed, padded.Length(listed), indices);
  }
  share.Keep(0, indices);
}

}  // namespace

IndexOrder WholeOrder(const SampleList& list, const Guess& guess) {
  IndexOrder indices;
  guess.sampler->Take(list.size(), guess.epoch, std::numeric_limits<size_t>::max(), &indices);
  return indices;
}

IdentifiedOrder MakeIdentifiedOrder(std::shared_ptr<const SampleList> list, const Guess& guess, IndexOrder whole) {
  IdentifiedOrder made;
  KeepShare(guess.share, &whole);
  Order files;
  files.reserve(whole.size());
  for (const uint32_t index : whole) files.push_back(list->files()[index]);
  made.order = std::make_shared<const EpochOrder>(std::move(files));
  made.list = std::move(list);
  made.guess = guess;
  made.continues = true;
  made.what = guess.sampler->Describe() + DescribeShare(guess.share);
  return made;
}

IdentifiedOrder MakeIdentifiedOrder(std::shared_ptr<const SampleList> list, const Guess& guess) {
  IndexOrder whole = WholeOrder(*list, guess);
  return MakeIdentifiedOrder(std::move(list), guess, std::move(whole));
}

std::string DescribeShare(const RankSubset& share) { return share.IsAll() ? "" : ", " + share.Describe(); }

IdentifiedOrder WithShare(const IdentifiedOrder& identified, RankSubset share) {
  Guess guess = identified.guess;
  guess.share = std::move(share);
  IdentifiedOrder made = MakeIdentifiedOrder(identified.list, guess);
  IdentifiedOrder changed = identified;
  changed.order = std::move(made.order);
  // That of a searched seed has another name than its sampler's.
  if (!changed.seed) changed.what = std::move(made.what);
  changed.guess = std::move(guess);
  for (Guess& other : changed.others) other.share = changed.guess.share;
  return changed;
}

IdentifiedOrder Continue(const IdentifiedOrder& identified, const Guess& guess) {
  IdentifiedOrder next = MakeIdentifiedOrder(identified.list, guess);
  next.dataset_epoch = identified.dataset_epoch + 1;
  next.bits = identified.bits;
  next.how = identified.how;
  return next;
}

IdentifiedOrder ContinueRecorded(const IdentifiedOrder& identified) {
  AUGUR_CHECK(!identified.recorded.empty());
  IdentifiedOrder next = identified;
  next.begin = 0;
  ++next.dataset_epoch;
  ++next.run_epoch;
  next.order = std::make_shared<const EpochOrder>(*identified.recorded.front());
  next.recorded.erase(next.recorded.begin());
  return next;
}

}  // namespace augur
