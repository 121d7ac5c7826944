// SPDX-License-Identifier: Apache-2.0
#include "pack/lst_file.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/units.h"

namespace augur {

Status LstFile::ReadBeside(const std::string& container_path) {
  const std::string path = std::filesystem::path(container_path).replace_extension(".lst").string();
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  if (!file) return {Code::kIo, Printable(path) + ": cannot be read: make it readable, or move it away"};
  std::string line;
  for (uint64_t line_number = 1; std::getline(file, line); ++line_number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    uint64_t number = 0;
    const auto [end, failure] = std::from_chars(line.data(), line.data() + line.size(), number);
    const size_t tab = line.rfind('\t');
    const bool sound = failure == std::errc() && *end == '\t' && tab + 1 < line.size();
    if (!sound || !paths_.emplace(number, line.substr(tab + 1)).second) {
      return {Code::kInvalid, Printable(path) + ": line " + std::to_string(line_number) + ": " +
                                  (sound ? "its number is on an earlier line, too"
                                         : "is not of the form NUMBER, LABEL, PATH with tabs between") +
                                  ": mend the list, or move it away"};
    }
  }
  if (file.bad()) return {Code::kIo, Printable(path) + ": cannot be read to its end"};
  return {};
}

const std::string* LstFile::PathOf(uint64_t number) const {
  const auto found = paths_.find(number);
  return found == paths_.end() ? nullptr : &found->second;
}

}  // namespace augur
