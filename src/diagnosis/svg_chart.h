// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace augur {

// A place in a chart: seconds, and a value in the unit of the vertical axis.
struct ChartPoint {
  double seconds = 0;
  double value = 0;
};

// Bytes as text of HTML: bytes that are no character are shown escaped, and no byte begins a tag.
std::string HtmlText(std::string_view bytes);

// SvgChart draws one picture as inline SVG, over a time axis: everything is told by shape and words, and nothing by
// colour alone. A value: call the Add methods, then Render. Points beyond an axis are drawn
// at its end.
class SvgChart {
 public:
  // `title` is shown above, `top_text` is the value at the upper end of the axis, as "12.3 MiB/s". Both as plain text.
  // REQUIRES: seconds_max, value_max > 0.
  SvgChart(std::string title, double seconds_max, double value_max, std::string top_text);

  enum class Stroke { kSolid, kDashed, kDotted };
  void AddLine(const std::vector<ChartPoint>& points, Stroke stroke);
  // A level line over the whole time.
  void AddLevel(double value, std::string_view label);
  // A dot or a cross for each.
  void AddDots(const std::vector<ChartPoint>& points);
  void AddCrosses(const std::vector<ChartPoint>& points);
  enum class Fill { kFull, kStripes, kDots };
  // A bar from `bottom` to `top` over [from, to] seconds.
  void AddBar(double from, double to, double bottom, double top, Fill fill);
  // A vertical line with a word at its top.
  void AddMoment(double seconds, std::string_view label);

  std::string Render() const;

  // The patterns of Fill; once in a page, before the charts.
  static std::string Patterns();
  // A small sample of a fill for a legend.
  static std::string Sample(Fill fill);

 private:
  double X(double seconds) const;
  double Y(double value) const;

  const std::string title_;
  const double seconds_max_;
  const double value_max_;
  const std::string top_text_;
  std::string body_;
};

}  // namespace augur
