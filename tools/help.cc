// SPDX-License-Identifier: Apache-2.0
#include "tools/help.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "tools/option_text.h"

namespace augur {
namespace {

using Row = std::pair<std::string, std::string>;  // what one types, what it does

std::string SpacedForm(const Option& option) {
  if (option.place == OptionPlace::kMount) return OptionForm(option);
  if (option.short_name == 0) return "    " + OptionForm(option);
  return std::string("-") + option.short_name + ", " + OptionForm(option);
}

void AppendTable(std::string_view heading, const std::vector<Row>& rows, std::string& out) {
  if (rows.empty()) return;
  size_t width = 0;
  for (const auto& [form, brief] : rows) width = std::max(width, form.size());
  out += "\n" + std::string(heading) + ":\n";
  for (const auto& [form, brief] : rows) {
    out += "  " + form;
    if (!brief.empty()) out += std::string(width - form.size() + 2, ' ') + brief;
    out += '\n';
  }
}

// Calls `section` for each category of the command's options, in the order of first mention.
void ForEachCategory(const Command& command,
                     const std::function<void(std::string_view, const std::vector<const Option*>&)>& section) {
  std::vector<std::pair<std::string_view, std::vector<const Option*>>> categories;
  const auto add = [&](const Option& option) {
    const auto found = std::find_if(categories.begin(), categories.end(),
                                    [&](const auto& category) { return category.first == option.category; });
    if (found != categories.end()) {
      found->second.push_back(&option);
    } else {
      categories.push_back({option.category, {&option}});
    }
  };
  for (const Option& option : command.options) add(option);
  for (const Option& option : CommonOptions()) add(option);
  for (const auto& [name, options] : categories) section(name, options);
}

std::string Head(const Program& program, const Command* command) {
  std::string name(program.name);
  std::string_view brief = program.brief;
  if (command != nullptr && !command->name.empty()) {
    name += " " + std::string(command->name);
    brief = command->brief;
  }
  return name + " - " + std::string(brief) + "\n\nUsage: " + UsageLine(program, command) + "\n";
}

std::vector<Row> CommandRows(const Program& program) {
  std::vector<Row> rows;
  rows.reserve(program.commands.size());
  for (const Command& command : program.commands) rows.emplace_back(command.name, command.brief);
  return rows;
}

std::vector<Row> ArgumentRows(const Command& command) {
  std::vector<Row> rows;
  rows.reserve(command.arguments.size());
  for (const Argument& argument : command.arguments) rows.emplace_back(argument.name, argument.brief);
  return rows;
}

void AppendLongOption(const Option& option, std::string& out) {
  out += "  " + SpacedForm(option) + "\n";
  std::string text = Sentence(option.brief) + ".";
  if (!option.text.empty()) text += " " + std::string(option.text);
  out += Wrap(text, 10);
  for (size_t i = 0; i < option.choice_texts.size(); ++i) {
    out += Wrap(std::string(option.choices[i]) + ": " + std::string(option.choice_texts[i]), 12);
  }
  if (const std::string limits = OptionLimits(option); !limits.empty()) out += Wrap("[" + limits + "]", 10);
}

void AppendExamples(const Program& program, std::string& out) {
  if (program.examples.empty()) return;
  out += "\nExamples:\n";
  for (const Example& example : program.examples) {
    out += Wrap(example.what, 2) + "      " + std::string(example.command) + "\n";
  }
}

}  // namespace

std::string ShortHelp(const Program& program, const Command* command) {
  std::string out = Head(program, command);
  std::string name(program.name);
  if (command == nullptr) {
    AppendTable("Commands", CommandRows(program), out);
    name += " COMMAND";
  } else {
    AppendTable("Arguments", ArgumentRows(*command), out);
    ForEachCategory(*command, [&](std::string_view category, const std::vector<const Option*>& options) {
      std::vector<Row> rows;
      for (const Option* option : options) {
        std::string brief(option->brief);
        if (!option->default_value.empty()) brief += " [" + std::string(option->default_value) + "]";
        rows.emplace_back(SpacedForm(*option), brief);
      }
      AppendTable(category, rows, out);
    });
    if (!command->name.empty()) name += " " + std::string(command->name);
  }
  return out + "\n'" + name + " --help' says more.\n";
}

std::string LongHelp(const Program& program, const Command* command) {
  std::string out = Head(program, command);
  const bool whole = command == nullptr || command->name.empty();
  out += "\n" + Wrap(whole ? program.text : command->text, 0);
  if (command == nullptr) {
    AppendTable("Commands", CommandRows(program), out);
    std::vector<Row> rows;
    for (const Option& option : CommonOptions()) rows.emplace_back(SpacedForm(option), option.brief);
    AppendTable("Options", rows, out);
  } else {
    AppendTable("Arguments", ArgumentRows(*command), out);
    ForEachCategory(*command, [&](std::string_view category, const std::vector<const Option*>& options) {
      out += "\n" + std::string(category) + ":\n";
      for (const Option* option : options) AppendLongOption(*option, out);
    });
  }
  if (!whole) return out;
  if (!program.ignored_mount_text.empty()) out += "\n" + Wrap(program.ignored_mount_text, 0);
  AppendExamples(program, out);
  out += "\nExit status:\n" + Wrap(program.exit_status, 2);
  if (command == nullptr) out += "\n'" + std::string(program.name) + " COMMAND --help' describes a command.\n";
  return out;
}

}  // namespace augur
