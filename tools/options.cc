// SPDX-License-Identifier: Apache-2.0
#include "tools/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mount_table.h"
#include "base/nearest.h"
#include "base/units.h"
#include "tools/completions.h"
#include "tools/help.h"
#include "tools/man_page.h"
#include "tools/mount_options.h"
#include "tools/option_text.h"
#include "tools/option_value.h"
#include "tools/version_text.h"

namespace augur {
namespace {

// Options that packaging and tests use and that help does not show.
constexpr std::string_view kManOption = "--man";
constexpr std::string_view kCompletionsOption = "--completions";

std::string KeyOf(const Option& option) {
  return (option.place == OptionPlace::kMount ? "-o " : "") + std::string(option.name);
}

std::string FullName(const Program& program, const Command* command) {
  std::string name(program.name);
  if (command != nullptr && !command->name.empty()) name += " " + std::string(command->name);
  return name;
}

std::string ReadOn(const Program& program, const Command* command) {
  return " ('" + FullName(program, command) + " --help' lists them)";
}

// CLI11 sees to the syntax of a command line: clusters of short options, attached values, "--". Kinds, limits and
// arguments are the table's, so everything is a string here, and what is no option is left in missing_, in order.
class Scanner : public CLI::App {
 public:
  explicit Scanner(const Command& command) {
    set_help_flag();
    allow_extras();
    AddFlag("-h", short_help_);
    AddFlag("--help", help_);
    AddFlag("--version", version_);
    bool mount = false;
    for (const Option& option : command.options) {
      mount = mount || option.place == OptionPlace::kMount;
      if (option.place == OptionPlace::kMount) continue;
      std::string names = "--" + std::string(option.name);
      if (option.short_name != 0) names += std::string(",-") + option.short_name;
      CLI::Option* row = nullptr;
      if (option.kind == OptionKind::kFlag) {
        AddFlag(names, row);
      } else {
        AddValue(names, row);
      }
      rows_.emplace_back(&option, row);
    }
    if (mount) AddValue("-o", mount_);
  }

  // REQUIRES: parsed.
  bool short_help() const { return short_help_->count() > 0; }
  bool help() const { return help_->count() > 0; }
  bool version() const { return version_->count() > 0; }
  const std::vector<std::pair<const Option*, CLI::Option*>>& rows() const { return rows_; }
  const missing_t& rest() const { return missing_; }
  std::vector<std::string> mount_texts() const {
    return mount_ == nullptr ? std::vector<std::string>{} : mount_->results();
  }

 private:
  void AddFlag(const std::string& names, CLI::Option*& out) {
    out = add_flag(names)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  // One value each time, however often the option is given.
  void AddValue(const std::string& names, CLI::Option*& out) {
    out = add_option(names, CLI::callback_t())
              ->expected(1)
              ->allow_extra_args(false)
              ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  CLI::Option* short_help_ = nullptr;
  CLI::Option* help_ = nullptr;
  CLI::Option* version_ = nullptr;
  CLI::Option* mount_ = nullptr;
  std::vector<std::pair<const Option*, CLI::Option*>> rows_;
};

// CLI11 takes "--name= next" for "--name next"; to us the value is missing.
Status RefuseEmptyValues(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word.starts_with("--") && word.ends_with("=") && word.find('=') + 1 == word.size()) {
      return {Code::kInvalid, Printable(word.substr(0, word.size() - 1)) + ": the value is empty"};
    }
  }
  return Status::Ok();
}

Status Scan(Scanner& scanner, const std::vector<std::string>& words) {
  AUGUR_TRY(RefuseEmptyValues(words));
  std::vector<std::string> backwards(words.rbegin(), words.rend());
  try {
    scanner.parse(backwards);
  } catch (const CLI::ArgumentMismatch&) {
    // The only mismatch left to happen here: the line ends where a value should stand.
    return {Code::kInvalid, Printable(words.back()) + ": the value is missing"};
  } catch (const CLI::Error& error) {
    return {Code::kInvalid, error.what()};
  }
  return Status::Ok();
}

Status UnknownOption(const Program& program, const Command* command, std::string_view typed) {
  const std::string_view name = typed.substr(0, typed.find('='));
  std::vector<std::string_view> known = {"help", "version"};
  std::string text = Printable(name) + ": no such option";
  if (command != nullptr) {
    for (const Option& option : command->options) {
      const bool mount = option.place == OptionPlace::kMount;
      if (mount && name.starts_with("--") && name.substr(2) == option.name) {
        return {Code::kInvalid, text + "; it is a mount option: " + OptionForm(option)};
      }
      if (!mount) known.push_back(option.name);
    }
  }
  if (name.starts_with("--")) {
    const std::string_view near = NearestWord(name.substr(2), known);
    if (!near.empty()) text += "; did you mean --" + std::string(near) + "?";
  }
  return {Code::kInvalid, text + ReadOn(program, command)};
}

Status ReadOptions(const Scanner& scanner, Values& values) {
  for (const auto& [option, row] : scanner.rows()) {
    Value& value = values.At(*option);
    value.given = row->count() > 0;
    for (const std::string& text : row->results()) {
      if (option->kind == OptionKind::kFlag && text == "true") continue;  // CLI11's word for a flag that was given
      AUGUR_TRY(ReadValue(*option, text, value));
    }
  }
  return Status::Ok();
}

// Gives the words to the arguments in their order; the one that takes many gets what the others leave.
Status ReadArguments(const Program& program, const Command& command, const std::vector<std::string>& words,
                     Values& values) {
  size_t needed = 0;
  for (const Argument& argument : command.arguments) needed += argument.optional ? 0 : 1;
  const std::string accepted = "; the form is: " + UsageLine(program, &command);
  size_t spare = words.size() > needed ? words.size() - needed : 0;  // beyond one for each that must be there
  size_t next = 0;
  for (const Argument& argument : command.arguments) {
    if (!argument.optional && next == words.size()) {
      return {Code::kInvalid, std::string(argument.name) + " is missing" + accepted};
    }
    size_t take = argument.optional ? 0 : 1;
    const size_t more = argument.many ? spare : std::min<size_t>(spare, 1 - take);
    take += more;
    spare -= more;
    Value& value = values.At(argument);
    value.given = take > 0;
    value.texts.assign(words.begin() + static_cast<std::ptrdiff_t>(next),
                       words.begin() + static_cast<std::ptrdiff_t>(next + take));
    if (!argument.optional && std::ranges::find(value.texts, "") != value.texts.end()) {
      return {Code::kInvalid, std::string(argument.name) + " is empty, as where a variable has no value" + accepted};
    }
    next += take;
  }
  if (next < words.size()) {
    return {Code::kInvalid, "'" + Printable(words[next]) + "' is one argument too many" + accepted};
  }
  return Status::Ok();
}

Result<Parsed> ParseCommand(const Program& program, const Command& command, const std::vector<std::string>& words) {
  Scanner scanner(command);
  AUGUR_TRY(Scan(scanner, words));
  Parsed parsed;
  parsed.command = &command;
  parsed.values = Values(command);
  if (scanner.help() || scanner.short_help()) {
    parsed.print = scanner.help() ? LongHelp(program, &command) : ShortHelp(program, &command);
    return parsed;
  }
  if (scanner.version()) {
    parsed.print = VersionText(program);
    return parsed;
  }
  std::vector<std::string> arguments;
  for (const auto& [kind, word] : scanner.rest()) {
    if (kind == CLI::detail::Classifier::POSITIONAL_MARK) continue;
    if (kind != CLI::detail::Classifier::NONE) return UnknownOption(program, &command, word);
    arguments.push_back(word);
  }
  AUGUR_TRY(ReadOptions(scanner, parsed.values));
  for (const std::string& text : scanner.mount_texts()) {
    for (const std::string& word : SplitMountOptions(text)) {
      AUGUR_TRY(ReadMountOption(program, command, word, parsed.values));
    }
  }
  AUGUR_TRY(ReadArguments(program, command, arguments, parsed.values));
  return parsed;
}

// The words that stand for the program as a whole: help, version, and what packaging asks for. Not one of them: an
// empty text.
Result<std::string> ProgramText(const Program& program, const std::vector<std::string>& words) {
  if (words[0] == kManOption && words.size() == 1) return ManPage(program);
  if (words[0] == kCompletionsOption && words.size() == 2) {
    if (words[1] == "bash") return BashCompletions(program);
    if (words[1] == "zsh") return ZshCompletions(program);
    return Status(Code::kInvalid, "--completions: '" + Printable(words[1]) + "' is not bash or zsh");
  }
  return std::string();
}

Result<Parsed> ParseSubcommand(const Program& program, const std::vector<std::string>& words) {
  Parsed parsed;
  if (words[0] == "-h") parsed.print = ShortHelp(program, nullptr);
  if (words[0] == "--help" || (words[0] == "help" && words.size() == 1)) parsed.print = LongHelp(program, nullptr);
  if (words[0] == "--version") parsed.print = VersionText(program);
  if (!parsed.print.empty()) return parsed;
  if (words[0] == "help") return ParseSubcommand(program, {words[1], "--help"});
  std::vector<std::string_view> names;
  for (const Command& command : program.commands) {
    if (command.name == words[0]) return ParseCommand(program, command, {words.begin() + 1, words.end()});
    names.push_back(command.name);
  }
  if (words[0].starts_with("-")) return UnknownOption(program, nullptr, words[0]);
  std::string text = "'" + Printable(words[0]) + "': no such command";
  if (const std::string_view near = NearestWord(words[0], names); !near.empty()) {
    text += "; did you mean " + std::string(near) + "?";
  }
  return Status(Code::kInvalid, text + ReadOn(program, nullptr));
}

}  // namespace

Option JsonOption(std::string_view text) {
  return {.name = "json", .brief = "print the result as one JSON object", .text = text};
}

Values::Values(const Command& command) {
  for (const Argument& argument : command.arguments) values_[std::string(argument.name)] = {};
  for (const Option& option : command.options) {
    Value value;
    if (!option.default_value.empty()) AUGUR_CHECK(ReadValue(option, option.default_value, value).ok());
    values_[KeyOf(option)] = std::move(value);
  }
}

const Value& Values::Find(std::string_view name) const {
  const auto found = values_.find(name);
  AUGUR_CHECK(found != values_.end());
  return found->second;
}

bool Values::Given(std::string_view name) const { return Find(name).given; }

uint64_t Values::Number(std::string_view name) const { return Find(name).number; }

unsigned Values::Percent(std::string_view name) const { return Find(name).percent; }

const std::string& Values::Text(std::string_view name) const {
  static const std::string none;
  const Value& value = Find(name);
  return value.texts.empty() ? none : value.texts.back();
}

const std::vector<std::string>& Values::List(std::string_view name) const { return Find(name).texts; }

void Values::SetTexts(std::string_view name, std::vector<std::string> texts) {
  const auto found = values_.find(name);
  AUGUR_CHECK(found != values_.end() && found->second.given);
  found->second.texts = std::move(texts);
}

std::vector<std::string> CommandLineOf(const Command& command, const Values& values) {
  std::vector<std::string> words;
  for (const Option& option : command.options) {
    const std::string key = KeyOf(option);
    if (!values.Given(key)) continue;
    const bool mount = option.place == OptionPlace::kMount;
    for (const std::string& assignment : AssignmentsOf(option, values.Of(key))) {
      if (mount) words.emplace_back("-o");
      words.push_back(mount ? EscapeMountOption(assignment) : "--" + assignment);
    }
  }
  words.emplace_back("--");
  for (const Argument& argument : command.arguments) {
    const std::vector<std::string>& texts = values.List(argument.name);
    words.insert(words.end(), texts.begin(), texts.end());
  }
  return words;
}

Value& Values::At(const Option& option) { return values_.at(KeyOf(option)); }

Value& Values::At(const Argument& argument) { return values_.at(std::string(argument.name)); }

Result<Parsed> ParseCommandLine(const Program& program, int argc, const char* const* argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const bool subcommands = !program.commands.front().name.empty();
  if (words.empty() && !subcommands) {
    const Command* only = &program.commands.front();
    return Status(Code::kInvalid, "no arguments; the form is: " + UsageLine(program, only) + " ('" +
                                      FullName(program, only) + " --help' says more)");
  }
  if (words.empty()) return ParseSubcommand(program, {"-h"});
  AUGUR_TRY_ASSIGN(text, ProgramText(program, words));
  if (!text.empty()) {
    Parsed parsed;
    parsed.print = std::move(text);
    return parsed;
  }
  if (subcommands) return ParseSubcommand(program, words);
  return ParseCommand(program, program.commands.front(), words);
}

}  // namespace augur
