// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/svg_chart.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/units.h"
#include "diagnosis/finding_text.h"

namespace augur {
namespace {

// In units of the picture, which is as wide as its column: on a phone of 360 px about one pixel each.
constexpr double kWidth = 340;
constexpr double kHeight = 150;
constexpr double kLeft = 4;
constexpr double kRight = kWidth - 4;
constexpr double kTop = 36;
constexpr double kBottom = kHeight - 18;

std::string Number(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", number);
  return text.data();
}

std::string_view FillText(SvgChart::Fill fill) {
  switch (fill) {
    case SvgChart::Fill::kFull: return "#1b5e9b";
    case SvgChart::Fill::kStripes: return "url(#stripes)";
    case SvgChart::Fill::kDots: break;
  }
  return "url(#dots)";
}

std::string Text(double x, double y, std::string_view anchor, std::string_view text) {
  return "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" text-anchor=\"" + std::string(anchor) + "\">" +
         HtmlText(text) + "</text>\n";
}

}  // namespace

std::string HtmlText(std::string_view bytes) {
  std::string out;
  for (const char c : Printable(bytes)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

SvgChart::SvgChart(std::string title, double seconds_max, double value_max, std::string top_text)
    : title_(std::move(title)), seconds_max_(seconds_max), value_max_(value_max), top_text_(std::move(top_text)) {}

double SvgChart::X(double seconds) const {
  return kLeft + std::clamp(seconds / seconds_max_, 0.0, 1.0) * (kRight - kLeft);
}

double SvgChart::Y(double value) const { return kBottom - std::clamp(value / value_max_, 0.0, 1.0) * (kBottom - kTop); }

void SvgChart::AddLine(const std::vector<ChartPoint>& points, Stroke stroke) {
  if (points.empty()) return;
  body_ += "<polyline class=\"line\" points=\"";
  for (const ChartPoint& point : points) body_ += Number(X(point.seconds)) + "," + Number(Y(point.value)) + " ";
  body_.back() = '"';
  if (stroke == Stroke::kDashed) body_ += " stroke-dasharray=\"6 3\"";
  if (stroke == Stroke::kDotted) body_ += " stroke-dasharray=\"2 3\"";
  body_ += "/>\n";
}

void SvgChart::AddLevel(double value, std::string_view label) {
  const std::string y = Number(Y(value));
  body_ += "<line class=\"level\" x1=\"" + Number(kLeft) + "\" x2=\"" + Number(kRight) + "\" y1=\"" + y + "\" y2=\"" +
           y + "\"/>\n" + Text(kRight, std::max(Y(value) - 3, kTop + 9), "end", label);
}

void SvgChart::AddDots(const std::vector<ChartPoint>& points) {
  if (points.empty()) return;
  body_ += "<path class=\"dots\" d=\"";
  for (const ChartPoint& point : points) body_ += "M" + Number(X(point.seconds)) + " " + Number(Y(point.value)) + "h0";
  body_ += "\"/>\n";
}

void SvgChart::AddCrosses(const std::vector<ChartPoint>& points) {
  if (points.empty()) return;
  body_ += "<path class=\"crosses\" d=\"";
  for (const ChartPoint& point : points) {
    body_ += "M" + Number(X(point.seconds) - 2) + " " + Number(Y(point.value) - 2) + "l4 4m-4 0l4-4";
  }
  body_ += "\"/>\n";
}

void SvgChart::AddBar(double from, double to, double bottom, double top, Fill fill) {
  const double left = X(from);
  const double upper = Y(top);
  const double height = Y(bottom) - upper;
  if (height <= 0) return;
  body_ += "<rect class=\"bar\" x=\"" + Number(left) + "\" y=\"" + Number(upper) + "\" width=\"" +
           Number(std::max(X(to) - left, 0.5)) + "\" height=\"" + Number(height) + "\" fill=\"" +
           std::string(FillText(fill)) + "\"/>\n";
}

void SvgChart::AddMoment(double seconds, std::string_view label) {
  const std::string x = Number(X(seconds));
  const bool left = seconds < seconds_max_ / 2;
  body_ += "<line class=\"moment\" x1=\"" + x + "\" x2=\"" + x + "\" y1=\"" + Number(kTop - 10) + "\" y2=\"" +
           Number(kBottom) + "\"/>\n" + Text(X(seconds) + (left ? 3 : -3), kTop - 4, left ? "start" : "end", label);
}

std::string SvgChart::Render() const {
  std::string out = "<svg viewBox=\"0 0 " + Number(kWidth) + " " + Number(kHeight) + "\" role=\"img\">\n<title>" +
                    HtmlText(title_) + "</title>\n";
  out += "<text class=\"name\" x=\"" + Number(kLeft) + "\" y=\"13\">" + HtmlText(title_) + "</text>\n";
  out += Text(kRight, 13, "end", "top: " + top_text_);
  out += "<rect class=\"frame\" x=\"" + Number(kLeft) + "\" y=\"" + Number(kTop) + "\" width=\"" +
         Number(kRight - kLeft) + "\" height=\"" + Number(kBottom - kTop) + "\"/>\n";
  out += body_;
  out += Text(kLeft, kHeight - 5, "start", "0 s") + Text(kRight, kHeight - 5, "end", TimeText(seconds_max_));
  return out + "</svg>\n";
}

std::string SvgChart::Patterns() {
  return "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>\n"
         "<pattern id=\"stripes\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
         "<rect width=\"5\" height=\"5\" fill=\"#ffffff\"/><path d=\"M-1 1l2-2M0 5l5-5M4 6l2-2\" stroke=\"#a03d00\" "
         "stroke-width=\"1.4\"/></pattern>\n"
         "<pattern id=\"dots\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
         "<rect width=\"4\" height=\"4\" fill=\"#ffffff\"/><circle cx=\"2\" cy=\"2\" r=\"1.1\" fill=\"#1b5e9b\"/>"
         "</pattern>\n</defs></svg>\n";
}

std::string SvgChart::Sample(Fill fill) {
  return "<svg class=\"sample\" viewBox=\"0 0 16 12\" aria-hidden=\"true\"><rect class=\"swatch\" x=\"0.5\" y=\"0.5\" "
         "width=\"15\" height=\"11\" fill=\"" +
         std::string(FillText(fill)) + "\"/></svg>";
}

}  // namespace augur
