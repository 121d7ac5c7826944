// SPDX-License-Identifier: Apache-2.0
#include "search/courtesy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace augur {

Courtesy::Time Courtesy::Pass(Time own, Time waited) {
  own_ += own;
  waited_ += waited;
  const Time window = own_ + waited_;
  if (window < kWindow) return Time::zero();
  const bool wanted = static_cast<double>(waited_.count()) > kWaitedPart * static_cast<double>(window.count());
  own_ = waited_ = Time::zero();
  pause_ = wanted ? std::clamp(2 * pause_, kPauseMin, kPauseMax) : Time::zero();
  return pause_;
}

RunDelay::RunDelay() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

std::optional<std::chrono::nanoseconds> RunDelay::Total() const {
  if (!file_.valid()) return std::nullopt;
  std::array<char, 128> text{};
  const ssize_t got = ::pread(file_.get(), text.data(), text.size(), 0);
  if (got <= 0) return std::nullopt;
  // Nanoseconds that it ran, nanoseconds that it waited, and how often it was put on a core.
  const std::string_view line(text.data(), static_cast<size_t>(got));
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  int64_t waited = 0;
  const auto [end, error] = std::from_chars(line.data() + blank + 1, line.data() + line.size(), waited);
  if (error != std::errc()) return std::nullopt;
  return std::chrono::nanoseconds(waited);
}

}  // namespace augur
