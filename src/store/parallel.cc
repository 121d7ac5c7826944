// SPDX-License-Identifier: Apache-2.0
#include "store/parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace augur {

void ForEachPiece(int threads, uint64_t count, uint64_t piece,
                  const std::function<void(uint64_t begin, uint64_t end)>& work) {
  std::atomic<uint64_t> next = 0;
  const uint64_t pieces = count / piece + (count % piece != 0 ? 1 : 0);
  const auto run = [&] {
    for (uint64_t i = next++; i < pieces; i = next++) work(i * piece, std::min(count, (i + 1) * piece));
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < threads && static_cast<uint64_t>(i) < pieces; ++i) {
    try {
      helpers.emplace_back(run);
    } catch (const std::system_error&) {
      break;  // the limit of threads is reached: the rest is done by those there are
    }
  }
  run();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace augur
