// SPDX-License-Identifier: Apache-2.0
#include "s3/ini_file.h"

#include <limits>

#include "base/blanks.h"
#include "base/excerpt.h"
#include "base/proc_text.h"
#include "s3/ascii_case.h"

namespace augur {
namespace {

constexpr std::string_view kIniBlanks = " \t\r\f\v";

std::string_view Trimmed(std::string_view text) { return WithoutBlanks(text, kIniBlanks); }

// Takes the lines of a file one after the other. `configparser._read` is what it follows.
class IniReader {
 public:
  Status Take(std::string_view line) {
    ++line_;
    const std::string_view text = Trimmed(line);
    if (text.starts_with('#') || text.starts_with(';')) return Status::Ok();
    if (text.empty()) {
      if (value_ != nullptr) *value_ += '\n';
      return Status::Ok();
    }
    const size_t indent = line.find_first_not_of(kIniBlanks);
    if (value_ != nullptr && indent > indent_) {
      value_->append("\n").append(text);
      return Status::Ok();
    }
    indent_ = indent;
    return text.starts_with('[') && text.find(']') != std::string_view::npos ? BeginSection(text) : TakeKey(text);
  }

  IniSections Finish() && {
    for (auto& [name, section] : sections_) {
      for (auto& [key, value] : section) {
        const size_t last = value.find_last_not_of(" \t\r\f\v\n");
        value.resize(last == std::string::npos ? 0 : last + 1);
      }
    }
    return std::move(sections_);
  }

 private:
  Status Defect(const std::string& cause) const {
    return {Code::kInvalid, "line " + std::to_string(line_) + ": " + cause};
  }

  Status BeginSection(std::string_view text) {
    const std::string name(text.substr(1, text.rfind(']') - 1));
    const auto [place, is_new] = sections_.try_emplace(name);
    if (!is_new) return Defect("section [" + Excerpt(name) + "] is there twice: make one of them");
    section_ = &place->second;
    value_ = nullptr;
    return Status::Ok();
  }

  Status TakeKey(std::string_view text) {
    const size_t delimiter = text.find_first_of("=:");
    if (section_ == nullptr) return Defect("it stands before the first [section]");
    if (delimiter == std::string_view::npos) return Defect("it is neither [section] nor 'key = value'");
    const std::string key = LowerCase(Trimmed(text.substr(0, delimiter)));
    if (key.empty()) return Defect("a value without a key");
    const auto [place, is_new] = section_->try_emplace(key, Trimmed(text.substr(delimiter + 1)));
    if (!is_new) return Defect("key '" + Excerpt(key) + "' is there twice in its section: remove one");
    value_ = &place->second;
    return Status::Ok();
  }

  IniSections sections_;
  IniSection* section_ = nullptr;
  std::string* value_ = nullptr;  // of the last key, for lines that belong to it
  size_t indent_ = 0;             // of that key's line
  size_t line_ = 0;
};

}  // namespace

Result<IniSections> ParseIni(std::string_view text) {
  if (text.find('\0') != std::string_view::npos)
    return Status(Code::kInvalid, "it is no text: it has bytes of value 0");
  IniReader reader;
  for (const std::string_view line : Split(text, '\n')) AUGUR_TRY(reader.Take(line));
  return std::move(reader).Finish();
}

IniSection ParseIniBlock(std::string_view value) {
  IniSection block;
  for (const std::string_view line : Split(value, '\n')) {
    const size_t equals = line.find('=');
    if (equals != std::string_view::npos) {
      block.insert_or_assign(std::string(Trimmed(line.substr(0, equals))),
                             std::string(Trimmed(line.substr(equals + 1))));
    }
  }
  return block;
}

}  // namespace augur
