// SPDX-License-Identifier: Apache-2.0
#include "seed_search/mt19937_scan.h"

#include <array>
#include <utility>

#include "samplers/mt19937.h"
#include "seed_search/mt19937_twist.h"

namespace augur {
namespace {

// The word that TemperMt19937 makes `output` of: tempering loses nothing, so the search compares the words of the state
// and is spared the tempering of every one of them. Each step is undone by repeating it until its shifts have run out.
uint32_t Untemper(uint32_t output) {
  uint32_t word = output ^ (output >> 18);
  word ^= (word << 15) & 0xefc60000U;
  uint32_t seven = word;
  for (int i = 0; i < 4; ++i) seven = word ^ ((seven << 7) & 0x9d2c5680U);
  uint32_t eleven = seven;
  for (int i = 0; i < 2; ++i) eleven = seven ^ (eleven >> 11);
  return eleven;
}

}  // namespace

struct Mt19937Scan::State {
  std::array<TwistState, 2> states;
  size_t now = 0;
};

Mt19937Scan::Mt19937Scan(uint32_t seed) : state_(std::make_unique<State>()) {
  // Source: init_genrand of mt19937ar.
  uint32_t* const words = state_->states[0].words.data();
  words[0] = seed;
  for (uint32_t j = 1; j < Mt19937::kWords; ++j) {
    words[j] = 1812433253U * (words[j - 1] ^ (words[j - 1] >> 30)) + j;
  }
}

Mt19937Scan::~Mt19937Scan() = default;
Mt19937Scan::Mt19937Scan(Mt19937Scan&&) noexcept = default;
Mt19937Scan& Mt19937Scan::operator=(Mt19937Scan&&) noexcept = default;

void Mt19937Scan::Find(uint32_t value, uint64_t count, const std::atomic<bool>* stop,
                       std::vector<uint64_t>* positions) {
  const uint32_t wanted = Untemper(value);
  for (uint64_t looked = 0; looked < count; looked += Mt19937::kWords) {
    // A block takes 0.1 to 0.8 microseconds.
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return;
    TwistState& to = state_->states[1 - state_->now];
    if (TwistAndLook(&state_->states[state_->now], &to, wanted)) {
      for (size_t k = 0; k < Mt19937::kWords; ++k) {
        if (to.words[k] == wanted) positions->push_back(position_ + k);
      }
    }
    state_->now = 1 - state_->now;
    position_ += Mt19937::kWords;
  }
}

}  // namespace augur
