// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace augur {

// Numbers in the sentences of a finding.

std::string PercentText(double part);          // "62 %"
std::string FixedText(double number);          // "3.2"
std::string RateText(double per_second);       // "1,525": rounded
std::string BytesRateText(double per_second);  // "16.6 MiB/s"
std::string TimeText(double seconds);          // "8.2 s", "3.4 ms"
// A size as memory= takes it, rounded up: "700M", "13G".
std::string SizeOption(uint64_t bytes);

}  // namespace augur
