// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/finding_text.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "base/excerpt.h"
#include "base/units.h"
#include "control/status_screen.h"

namespace augur {

std::string PercentText(double part) { return std::to_string(std::lround(part * 100)) + " %"; }

std::string FixedText(double number) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%.1f", number);
  return text.data();
}

std::string RateText(double per_second) {
  return per_second < 10 ? FixedText(per_second) : FormatCount(static_cast<uint64_t>(std::llround(per_second)));
}

std::string BytesRateText(double per_second) { return FormatSize(static_cast<uint64_t>(per_second)) + "/s"; }

std::string TimeText(double seconds) { return FormatDuration(static_cast<uint64_t>(seconds * 1e6)); }

std::string SizeOption(uint64_t bytes) {
  constexpr uint64_t kGiBFrom = 10 * kGiB;
  if (bytes >= kGiBFrom) return std::to_string((bytes + kGiB - 1) / kGiB) + "G";
  return std::to_string((bytes + kMiB - 1) / kMiB) + "M";
}

}  // namespace augur
