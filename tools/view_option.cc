// SPDX-License-Identifier: Apache-2.0
#include "tools/view_option.h"

#include "views/spec_words.h"

namespace augur {

Result<ViewSpec> ReadView(const std::string& prefix, std::string_view text) {
  Result<ViewSpec> view = ParseViewSpec(text);
  if (view.ok()) return view;
  return Status(Code::kInvalid, prefix + view.status().text() + " ('augurfs --help' describes the words of a view)");
}

}  // namespace augur
