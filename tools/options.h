// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"

namespace augur {

enum class OptionKind {
  kFlag,    // given or not
  kSize,    // bytes, with K, M, G or T: ParseSize
  kCount,   // a whole number
  kOctal,   // a whole number in base 8
  kChoice,  // one of a few words
  kText,    // anything
  kList,    // anything, any number of times
};

// Where an option is given.
enum class OptionPlace {
  kCommand,  // --name, -n
  kMount,    // -o name=value
};

// One row of the table that the parser, -h, --help, the man page, the completions and -o are views of.
struct Option {
  std::string_view name;
  char short_name = 0;
  std::string_view value = {};  // how help calls the value: "SIZE"; empty for a flag
  OptionKind kind = OptionKind::kFlag;
  std::string_view default_value = {};  // as typed; empty: none, or `text` says what happens
  uint64_t min = 0;                     // of sizes and numbers
  uint64_t max = UINT64_MAX;
  bool percent = false;  // also "25%", of what `text` names
  std::vector<std::string_view> choices = {};
  std::vector<std::string_view> choice_texts = {};  // what each choice is, where the words do not say it; else none
  std::string_view category = "Options";
  std::string_view brief = {};  // one line, without full stop
  std::string_view text = {};   // more sentences for --help and the man page; may be empty
  OptionPlace place = OptionPlace::kCommand;
};

// --json, the same everywhere; `text` says what the object has.
Option JsonOption(std::string_view text);

// An argument that is known by its place. At most one of a command takes more than one value.
struct Argument {
  std::string_view name;  // "STORE"
  std::string_view brief;
  bool optional = false;
  bool many = false;  // one or more; with `optional`, any number
};

struct Example {
  std::string_view command;
  std::string_view what;
};

// A program without subcommands, or one subcommand.
struct Command {
  std::string_view name;  // empty for a program without subcommands
  std::string_view brief;
  std::string_view text;
  std::vector<Argument> arguments;
  std::vector<Option> options;
};

// A program: what its command line, its help and its man page are made from.
struct Program {
  std::string_view name;
  int man_section = 1;
  std::string_view brief;
  std::string_view text;
  std::vector<Command> commands;  // one without name, or any number with names
  // Words that mount(8) and fstab put after -o and that mean nothing here; one that ends in '*' is a prefix.
  std::vector<std::string_view> ignored_mount_options;
  std::string_view ignored_mount_text;
  std::vector<Example> examples;
  std::string_view exit_status;
  std::string_view see_also;  // "augurpack(1), mount(8)"
};

// What one command line gives an option or an argument, or its default.
struct Value {
  bool given = false;              // typed, not a default
  uint64_t number = 0;             // kSize, kCount, kOctal; 0 with `percent`
  unsigned percent = 0;            // 1 to 100 where the option is given so, else 0
  std::vector<std::string> texts;  // kText, kChoice, arguments: none or one; kList and arguments of many: all
};

// The values of one command line by the names of the table, with defaults filled in; kinds and limits of the table
// hold. A mount option is asked for by its name with "-o " before it, so that both places may use one word.
// REQUIRES, for every accessor: a name of the table.
class Values {
 public:
  // Every option and argument of the command, at its default.
  explicit Values(const Command& command);
  Values() = default;

  bool Given(std::string_view name) const;
  uint64_t Number(std::string_view name) const;
  unsigned Percent(std::string_view name) const;         // 0: not given so
  const std::string& Text(std::string_view name) const;  // empty when there is none
  const std::vector<std::string>& List(std::string_view name) const;
  const Value& Of(std::string_view name) const { return Find(name); }

  // Puts other texts in place of those that were given. REQUIRES: a text or list that was given.
  void SetTexts(std::string_view name, std::vector<std::string> texts);

  Value& At(const Option& option);
  Value& At(const Argument& argument);

 private:
  const Value& Find(std::string_view name) const;

  std::map<std::string, Value, std::less<>> values_;
};

// A command line, without the program's name, that gives these values.
std::vector<std::string> CommandLineOf(const Command& command, const Values& values);

// What a command line asks for: a text to print, or a command to run with its values.
struct Parsed {
  std::string print;  // not empty: for stdout, and nothing to run
  const Command* command = nullptr;
  Values values;
};

// Reads a command line by the table. Touches nothing but its arguments: no file, no environment, no CPU count.
// kInvalid: the mistake, the accepted form, and where to read on.
Result<Parsed> ParseCommandLine(const Program& program, int argc, const char* const* argv);

}  // namespace augur
