// SPDX-License-Identifier: Apache-2.0
#include "tools/view_option.h"

#include <string>

#include "views/spec_words.h"

namespace augur {
namespace {

std::string_view ViewText() {
  static const std::string text =
      "The folder's images as ready arrays or plain pixels, or archives of many images in their place. Files that are "
      "no images stay as they are in pixels; the other kinds leave them out. Default: the root has the original files. "
      "With or without this option, the folder MOUNTPOINT/.augur/views/SPEC is the tree in any view, made when it is "
      "first named.\n" +
      std::string(ViewGrammar());
  return text;
}

}  // namespace

Option ViewRow() {
  return {.name = "view",
          .value = "SPEC",
          .kind = OptionKind::kText,
          .brief = "show decoded images, or archives of images",
          .text = ViewText()};
}

Option DecodeThreadsRow() {
  return {.name = "decode-threads",
          .value = "N",
          .kind = OptionKind::kCount,
          .default_value = "0",
          .max = 1024,
          .percent = true,
          .brief = "threads that decode images for views ahead of the reader",
          .text =
              "0: a quarter of the cores, at least 1: the training script needs the others. As 50%: of the cores. "
              "Images that a reader waits for have further threads, as many as there are cores left, at least 1."};
}

Result<ViewSpec> ReadView(const std::string& prefix, std::string_view text) {
  Result<ViewSpec> view = ParseViewSpec(text);
  if (view.ok()) return view;
  return Status(Code::kInvalid, prefix + view.status().text() + " ('augurfs --help' describes the words of a view)");
}

}  // namespace augur
