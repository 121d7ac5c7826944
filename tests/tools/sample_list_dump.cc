// SPDX-License-Identifier: Apache-2.0
// sample_list_dump STORE ROOT RULE: prints the paths of the list that the rule makes of the folder, each ended by a NUL
// (names may have line ends). sample_list_dump rules: prints the rules. For tests against the real libraries.

#include <cstdio>
#include <string>
#include <string_view>

#include "datasets/sample_lists.h"
#include "datasets/sample_rule.h"

namespace augur {
namespace {

Status Dump(const std::string& store_path, const std::string& root, const std::string& rule) {
  AUGUR_TRY_ASSIGN(store, Store::Open(store_path));
  SampleLists lists(store);
  AUGUR_TRY_ASSIGN(list, lists.Make(rule, root));
  for (const EntryNumber file : list->files()) {
    AUGUR_TRY_ASSIGN(path, store->PathOf(file));
    std::fwrite(path.c_str(), 1, path.size() + 1, stdout);
  }
  return Status::Ok();
}

}  // namespace
}  // namespace augur

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "rules") {
    for (const augur::SampleRuleRow& row : augur::SampleRuleRows()) {
      std::printf("%s%s\n", std::string(row.name).c_str(), augur::SampleRule::HasExtension(row) ? " .EXT" : "");
    }
    return 0;
  }
  if (argc != 4) {
    std::fprintf(stderr, "usage: sample_list_dump STORE ROOT RULE, or: sample_list_dump rules\n");
    return 2;
  }
  const augur::Status status = augur::Dump(argv[1], argv[2], argv[3]);
  if (!status.ok()) std::fprintf(stderr, "sample_list_dump: %s\n", status.text().c_str());
  return status.ok() ? 0 : 2;
}
