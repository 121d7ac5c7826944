// SPDX-License-Identifier: Apache-2.0
#include "tools/view_option.h"

#include "views/spec_words.h"

namespace augur {

Result<ViewSpec> ReadView(const std::string& prefix, std::string_view text) {
  Result<ViewSpec> view = ParseViewSpec(text);
  if (view.ok()) return view;
  std::string grammar(ViewGrammar());
  grammar.pop_back();  // its last newline, which the message gets
  return Status(Code::kInvalid, prefix + view.status().text() + "\n" + grammar);
}

}  // namespace augur
