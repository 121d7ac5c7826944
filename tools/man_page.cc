// SPDX-License-Identifier: Apache-2.0
#include "tools/man_page.h"

#include <algorithm>
#include <cctype>

#include "tools/option_text.h"

namespace augur {
namespace {

// Text as troff prints it: a plain hyphen would become a typographic one, which cannot be pasted into a shell, and a
// line that begins with a dot or quote would be a request.
std::string Roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '`': out += "\\(ga"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      case '\n': out += "\n.br\n"; break;
      default: out += c;
    }
  }
  return out;
}

std::string Upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

std::string Section(std::string_view title) { return ".SH " + Upper(title) + "\n"; }

// A word in bold with its value in italics: "\fB--threads\fR \fIN\fR".
std::string Form(const Option& option) {
  const bool mount = option.place == OptionPlace::kMount;
  std::string out;
  if (option.short_name != 0) out += std::string("\\fB\\-") + option.short_name + "\\fR, ";
  out += std::string("\\fB") + (mount ? "\\-o " : "\\-\\-") + Roff(option.name);
  if (option.value.empty()) return out + "\\fR";
  return out + (mount ? "=\\fI" : " \\fI") + Roff(option.value) + "\\fR";
}

void AppendOption(const Option& option, std::string& out) {
  out += ".TP\n" + Form(option) + "\n" + Roff(Sentence(option.brief)) + ".\n";
  if (!option.text.empty()) out += Roff(option.text) + "\n";
  if (!option.choice_texts.empty()) out += ".RS\n";
  for (size_t i = 0; i < option.choice_texts.size(); ++i) {
    out += ".TP\n\\fB" + Roff(option.choices[i]) + "\\fR\n" + Roff(option.choice_texts[i]) + "\n";
  }
  if (!option.choice_texts.empty()) out += ".RE\n";
  if (const std::string limits = OptionLimits(option); !limits.empty()) out += "(" + Roff(limits) + ")\n";
}

void AppendArguments(const Command& command, std::string& out) {
  for (const Argument& argument : command.arguments) {
    out += ".TP\n\\fI" + Roff(argument.name) + "\\fR\n" + Roff(Sentence(argument.brief)) + ".\n";
  }
}

void AppendSynopsis(const Program& program, std::string& out) {
  out += Section("synopsis");
  for (const Command& command : program.commands) {
    const std::string usage = UsageLine(program, &command);
    const size_t options = usage.find(" [options]");
    out += "\\fB" + Roff(usage.substr(0, options)) + "\\fR" + Roff(usage.substr(options)) + "\n.br\n";
  }
}

void AppendCommands(const Program& program, std::string& out) {
  out += Section("commands");
  for (const Command& command : program.commands) {
    out += ".SS \"" + Roff(UsageLine(program, &command)) + "\"\n" + Roff(command.text) + "\n";
    AppendArguments(command, out);
    for (const Option& option : command.options) AppendOption(option, out);
  }
  out += Section("options");
  out += "Of the program and of every command:\n";
}

void AppendOwnOptions(const Command& command, std::string& out) {
  out += Section("arguments");
  AppendArguments(command, out);
  out += Section("options");
  for (const Option& option : command.options) {
    if (option.place == OptionPlace::kCommand) AppendOption(option, out);
  }
}

void AppendMountOptions(const Program& program, std::string& out) {
  const Command& command = program.commands.front();
  const bool any = std::any_of(command.options.begin(), command.options.end(),
                               [](const Option& option) { return option.place == OptionPlace::kMount; });
  if (!any) return;
  out += Section("mount options");
  for (const Option& option : command.options) {
    if (option.place == OptionPlace::kMount) AppendOption(option, out);
  }
  out += ".PP\n" + Roff(program.ignored_mount_text) + "\n";
}

}  // namespace

std::string ManPage(const Program& program) {
  const bool subcommands = !program.commands.front().name.empty();
  std::string out = ".TH " + Upper(program.name) + " " + std::to_string(program.man_section) + " \"\" \"augurfs " +
                    AUGUR_VERSION + "\" \"AugurFS\"\n";
  // Ragged right and no hyphens: words here are options and paths.
  out += ".ad l\n.nh\n";
  out += Section("name") + Roff(program.name) + " \\- " + Roff(program.brief) + "\n";
  AppendSynopsis(program, out);
  out += Section("description") + Roff(program.text) + "\n";
  if (subcommands) {
    AppendCommands(program, out);
  } else {
    AppendOwnOptions(program.commands.front(), out);
  }
  for (const Option& option : CommonOptions()) AppendOption(option, out);
  if (!subcommands) AppendMountOptions(program, out);
  out += Section("exit status") + Roff(program.exit_status) + "\n";
  if (!program.examples.empty()) out += Section("examples");
  for (const Example& example : program.examples) {
    out += ".PP\n" + Roff(example.what) + "\n.PP\n.RS 4\n.nf\n" + Roff(example.command) + "\n.fi\n.RE\n";
  }
  out += Section("see also") + Roff(program.see_also) + "\n";
  return out;
}

}  // namespace augur
