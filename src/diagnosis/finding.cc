// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/finding.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/terminal_text.h"

namespace augur {
namespace {

constexpr size_t kColumns = 100;

std::vector<Finding> ByWeight(std::vector<Finding> findings) {
  std::ranges::stable_sort(findings, {}, &Finding::weight);
  return findings;
}

// The text in lines, the later ones indented as the first one's mark is long.
std::string Wrap(std::string_view mark, std::string_view text) {
  std::string out(mark);
  size_t column = mark.size();
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > mark.size() && column + 1 + word.size() > kColumns) {
      out += "\n" + std::string(mark.size(), ' ');
      column = mark.size();
    } else if (column > mark.size()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

std::string_view MarkOf(Finding::Weight weight) {
  switch (weight) {
    case Finding::Weight::kProblem: return "problem  ";
    case Finding::Weight::kAdvice: return "advice   ";
    case Finding::Weight::kFine: break;
  }
  return "fine     ";
}

const char* NameOf(Finding::Weight weight) {
  switch (weight) {
    case Finding::Weight::kProblem: return "problem";
    case Finding::Weight::kAdvice: return "advice";
    case Finding::Weight::kFine: break;
  }
  return "fine";
}

}  // namespace

bool HasProblem(const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings, [](const Finding& one) { return one.weight == Finding::Weight::kProblem; });
}

std::string RenderFindings(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& one : ByWeight(findings)) {
    out += Wrap(MarkOf(one.weight), TerminalLine(one.text));
    if (!one.cure.empty()) out += Wrap("         -> ", TerminalLine(one.cure));
  }
  return out;
}

std::string RenderFindingsJson(const std::vector<Finding>& findings) {
  using nlohmann::ordered_json;
  ordered_json json = {{"findings", ordered_json::array()}};
  for (const Finding& one : ByWeight(findings)) {
    json["findings"].push_back(
        {{"name", std::string(one.name)}, {"weight", NameOf(one.weight)}, {"text", one.text}, {"cure", one.cure}});
  }
  return json.dump(2, ' ', /*ensure_ascii=*/true, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace augur
