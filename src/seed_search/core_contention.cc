// SPDX-License-Identifier: Apache-2.0
#include "seed_search/core_contention.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

namespace augur {
namespace {

// A small file of /proc, from its beginning. Empty: it cannot be read.
class SmallText {
 public:
  explicit SmallText(const UniqueFd& file) {
    if (!file.valid()) return;
    const ssize_t got = ::pread(file.get(), bytes_.data(), bytes_.size(), 0);
    if (got > 0) text_ = std::string_view(bytes_.data(), static_cast<size_t>(got));
  }
  SmallText(const SmallText&) = delete;
  SmallText& operator=(const SmallText&) = delete;

  // The number at the beginning of the field, from 0; fields are divided by single blanks.
  std::optional<int64_t> Number(int field) const {
    std::string_view rest = text_;
    for (int i = 0; i < field; ++i) {
      const size_t blank = rest.find(' ');
      if (blank == std::string_view::npos) return std::nullopt;
      rest.remove_prefix(blank + 1);
    }
    int64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    return error == std::errc() ? std::optional(number) : std::nullopt;
  }

 private:
  std::array<char, 128> bytes_{};
  std::string_view text_;
};

}  // namespace

CoreContention::Time CoreContention::Pass(const Look& look) {
  own_ += look.own;
  waited_ += look.waited;
  ++looks_;
  excess_threads_ += look.excess_threads;
  workers_ += std::max(look.workers, 1U);
  if (own_ + waited_ < kWindow) return Time::zero();
  pause_ = Wanted() ? std::clamp(2 * pause_, kPauseMin, kPauseMax) : Time::zero();
  if (pause_ > Time::zero()) had_excess_ = false;
  own_ = waited_ = Time::zero();
  looks_ = 0;
  excess_threads_ = workers_ = 0;
  return pause_ + Time(static_cast<int64_t>(Chance() * static_cast<double>(pause_.count()) / 2));
}

double CoreContention::Chance() { return std::uniform_real_distribution<double>()(random_); }

// What the window says.
bool CoreContention::Wanted() {
  const Time window = own_ + waited_;
  if (static_cast<double>(waited_.count()) > kWaitedPart * static_cast<double>(window.count())) return true;
  const double too_many = excess_threads_ / looks_ - kExcessThreads;
  const bool before = std::exchange(had_excess_, too_many > 0);
  if (too_many <= 0) return false;
  const bool newcomer = pause_ > Time::zero();
  if (newcomer) return true;
  // Once more, as a newcomer may have made it so; and then as many as are too many, on the average.
  const double part = (too_many + kExcessThreads) / (workers_ / looks_);
  return before && Chance() < part;
}

RunDelay::RunDelay() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

std::optional<std::chrono::nanoseconds> RunDelay::Total() const {
  // Nanoseconds that it ran, nanoseconds that it waited, and how often it was put on a core.
  const auto waited = SmallText(file_).Number(1);
  return waited ? std::optional(std::chrono::nanoseconds(*waited)) : std::nullopt;
}

RunQueueLength::RunQueueLength()
    : file_(::open("/proc/loadavg", O_RDONLY | O_CLOEXEC)), cores_(static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN))) {}

int RunQueueLength::Now() const {
  const auto runnable = SmallText(file_).Number(3);
  return runnable && cores_ > 0 ? static_cast<int>(std::max<int64_t>(0, *runnable - cores_)) : 0;
}

}  // namespace augur
