// SPDX-License-Identifier: Apache-2.0
#include "s3/utc_time.h"

#include <charconv>
#include <cstdio>
#include <optional>

#include "base/excerpt.h"

namespace augur {
namespace {

struct CivilTime {
  int year, month, day, hour, minute, second;
};

CivilTime CivilTimeOf(UtcTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return {.year = static_cast<int>(date.year()),
          .month = static_cast<int>(static_cast<unsigned>(date.month())),
          .day = static_cast<int>(static_cast<unsigned>(date.day())),
          .hour = static_cast<int>(clock.hours().count()),
          .minute = static_cast<int>(clock.minutes().count()),
          .second = static_cast<int>(clock.seconds().count())};
}

// Takes `digits` decimal digits from the front of the text, and `end` behind them unless that is 0.
bool TakeNumber(std::string_view& text, size_t digits, char end, int& number) {
  if (text.size() < digits || text.front() == '-') return false;
  const char* const last = text.data() + digits;
  const auto [place, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || place != last) return false;
  text.remove_prefix(digits);
  if (end == 0) return true;
  if (text.empty() || text.front() != end) return false;
  text.remove_prefix(1);
  return true;
}

// The distance from UTC at the end of a time: "", "Z", "+hh:mm" or "+hhmm".
std::optional<std::chrono::minutes> TakeOffset(std::string_view text) {
  if (text.empty() || text == "Z") return std::chrono::minutes(0);
  const int sign = text.front() == '+' ? 1 : -1;
  if (text.front() != '+' && text.front() != '-') return std::nullopt;
  text.remove_prefix(1);
  int hours = 0;
  int minutes = 0;
  const bool taken =
      TakeNumber(text, 2, text.size() == 5 ? ':' : '\0', hours) && TakeNumber(text, 2, 0, minutes) && text.empty();
  if (!taken) return std::nullopt;
  return std::chrono::minutes(sign * (hours * 60 + minutes));
}

void DropFraction(std::string_view& text) {
  if (text.empty() || text.front() != '.') return;
  text.remove_prefix(1);
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') text.remove_prefix(1);
}

std::optional<UtcTime> TakeIsoTime(std::string_view text) {
  CivilTime t{};
  const bool taken = TakeNumber(text, 4, '-', t.year) && TakeNumber(text, 2, '-', t.month) &&
                     TakeNumber(text, 2, 'T', t.day) && TakeNumber(text, 2, ':', t.hour) &&
                     TakeNumber(text, 2, ':', t.minute) && TakeNumber(text, 2, 0, t.second);
  if (!taken || t.hour > 23 || t.minute > 59 || t.second > 60) return std::nullopt;
  DropFraction(text);
  const std::optional<std::chrono::minutes> offset = TakeOffset(text);
  const std::chrono::year_month_day date{std::chrono::year(t.year), std::chrono::month(static_cast<unsigned>(t.month)),
                                         std::chrono::day(static_cast<unsigned>(t.day))};
  if (!offset || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(t.hour) + std::chrono::minutes(t.minute) +
         std::chrono::seconds(t.second) - *offset;
}

}  // namespace

UtcTime UtcNow() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

std::string AmzDate(UtcTime time) {
  const CivilTime t = CivilTimeOf(time);
  char text[80];
  const int bytes = std::snprintf(text, sizeof text, "%04d%02d%02dT%02d%02d%02dZ", t.year, t.month, t.day, t.hour,
                                  t.minute, t.second);
  return {text, static_cast<size_t>(bytes)};
}

std::string IsoTime(UtcTime time) {
  const CivilTime t = CivilTimeOf(time);
  char text[80];
  const int bytes = std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", t.year, t.month, t.day, t.hour,
                                  t.minute, t.second);
  return {text, static_cast<size_t>(bytes)};
}

Result<UtcTime> ParseIsoTime(std::string_view text) {
  if (const std::optional<UtcTime> time = TakeIsoTime(text)) return *time;
  return Status(Code::kInvalid, "'" + Excerpt(text) + "' is no time like 2013-05-24T00:00:00Z");
}

}  // namespace augur
