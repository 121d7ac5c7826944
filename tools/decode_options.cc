// SPDX-License-Identifier: Apache-2.0
#include "tools/decode_options.h"

#include <string>
#include <string_view>

#include "tools/view_option.h"
#include "views/spec_words.h"

namespace augur {
namespace {

std::string_view DecodeText() {
  static const std::string text =
      "The store has the tree that 'augurfs -o view=SPEC' would show of SRC: images as ready arrays or plain "
      "pixels, other files left out of npy and pt and as they are in pixels. SRC may be a store, too. Any other SRC "
      "is first packed into a store in STORE/.augurpack-work, which needs as much disk space as the files of SRC and "
      "is removed "
      "at the end. An image that cannot be decoded counts as a file that cannot be read (--on-error); +tolerant takes "
      "truncated ones. --include and --exclude go by the names in SRC. --threads also says how many images "
      "are decoded at once, 0: as many as cores. --resume goes on only with the same SPEC, SRC and patterns, else "
      "it starts anew; once SRC is packed, it is not read again.\n"
      "With a kind of archives, from tar to zarr, STORE is a folder. The archives are written into it as files, for "
      "machines without the mount. Their bytes are those of the view. SRC is first packed into "
      "STORE/.augurpack-archives, unless it is a store. Where SRC has a folder train, val or test, each folder has "
      "archives; else they are of all images. --whole-view writes both.\n" +
      std::string(ViewGrammar());
  return text;
}

}  // namespace

Option DecodeRow() {
  return {.name = "decode",
          .value = "SPEC",
          .kind = OptionKind::kText,
          .brief = "pack a view of SRC: its images decoded",
          .text = DecodeText()};
}

Option WholeViewRow() {
  return {.name = "whole-view",
          .brief = "with --decode of archives: write all archives at the root of the view",
          .text =
              "Those of all images, and those of each folder of SRC. Then each image is written twice. Without it the "
              "archives of the data sets alone are written: where SRC has a folder train, val or test, those of its "
              "folders, else those of all images. Give it for scripts that read the others."};
}

Option IndexesRow() {
  return {.name = "indexes",
          .brief = "with --decode tfrecord: write the index of each file for DALI",
          .text =
              "It lies beside the file and has .idx behind its name. Scripts that read all of 'train-*' would take it "
              "for a TFRecord file, so there is none without this option. With it let them read 'train-*[0-9]'."};
}

Status ReadDecode(const Values& values, CreateOptions& options) {
  if (values.Given("decode")) {
    AUGUR_TRY_ASSIGN(view, ReadView("--decode: ", values.Text("decode")));
    options.decode = view;
  }
  options.whole_view = values.Given("whole-view");
  options.indexes = values.Given("indexes");
  if (options.whole_view && !(options.decode && options.decode->has_archives())) {
    return {Code::kInvalid,
            "--whole-view: is for archives: add --decode with one of the kinds from tar to zarr, or leave it out"};
  }
  if (options.indexes && !(options.decode && options.decode->kind == ViewKind::kTfrecord)) {
    return {Code::kInvalid, "--indexes: is for TFRecord files: add --decode tfrecord, or leave it out"};
  }
  return {};
}

}  // namespace augur
