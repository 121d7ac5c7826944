// SPDX-License-Identifier: Apache-2.0
#include "fs/read_assembly.h"

#include <iterator>
#include <utility>

#include "base/steady_time.h"

namespace augur {
namespace {

template <typename T>
void MoveBehind(std::vector<T>& from, std::vector<T>& to) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }
}

}  // namespace

void ReadAssembly::Arrived(size_t part, Result<ReadReply> reply) {
  parts_[part].reply = std::move(reply);
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  if (const uint64_t since_us = waits_since_us_.load(std::memory_order_relaxed); since_us != 0) {
    statistics_.Record(Histogram::kReadWaitUs, SteadyNowUs() - since_us);
  }
  done_(Join());
}

// Where the last part comes between the two lines, the read has hardly waited, and is not counted.
void ReadAssembly::Asked() {
  if (pending_.load(std::memory_order_relaxed) == 0) return;
  waits_since_us_.store(SteadyNowUs(), std::memory_order_relaxed);
}

Result<ReadReply> ReadAssembly::Join() {
  ReadReply all;
  for (Part& part : parts_) {
    AUGUR_TRY_ASSIGN(reply, std::move(part.reply));
    MoveBehind(reply.pieces, all.pieces);
    MoveBehind(reply.owners, all.owners);
    MoveBehind(reply.pins, all.pins);
  }
  return all;
}

}  // namespace augur
