// SPDX-License-Identifier: Apache-2.0
#include "tools/completions.h"

#include <algorithm>
#include <vector>

#include "tools/option_text.h"

namespace augur {
namespace {

bool HasMountOptions(const Command& command) {
  return std::any_of(command.options.begin(), command.options.end(),
                     [](const Option& option) { return option.place == OptionPlace::kMount; });
}

std::string Join(const std::vector<std::string_view>& words, std::string_view between) {
  std::string out;
  for (const std::string_view word : words) {
    if (!out.empty()) out += between;
    out += word;
  }
  return out;
}

// "--force --quiet --help --version" for the word list of bash.
std::string OptionWords(const Command& command) {
  std::string out;
  for (const Option& option : command.options) {
    if (option.place == OptionPlace::kCommand) out += "--" + std::string(option.name) + " ";
  }
  if (HasMountOptions(command)) out += "-o ";
  return out + "--help --version";
}

std::string MountWords(const Command& command) {
  std::string out;
  for (const Option& option : command.options) {
    if (option.place != OptionPlace::kMount) continue;
    if (!out.empty()) out += ' ';
    out += std::string(option.name) + (option.value.empty() ? "" : "=");
  }
  return out;
}

// What follows an option with a value, as branches of a case over the word before it.
void AppendBashValues(const Command& command, std::string& out) {
  std::string plain;
  for (const Option& option : command.options) {
    if (option.place != OptionPlace::kCommand || option.kind == OptionKind::kFlag) continue;
    const std::string name = "--" + std::string(option.name);
    if (option.kind == OptionKind::kChoice) {
      out += "      " + name + ") COMPREPLY=($(compgen -W \"" + Join(option.choices, " ") +
             "\" -- \"$cur\")); return ;;\n";
    } else {
      plain += (plain.empty() ? "" : "|") + name;
    }
  }
  if (!plain.empty()) out += "      " + plain + ") return ;;\n";
}

// Bash parts words at '=', so a mount option's name stands two words before its value.
void AppendBashMount(const Command& command, std::string& out) {
  out +=
      "  local key=\n"
      "  if [[ $prev == = ]]; then key=${COMP_WORDS[COMP_CWORD-2]##*,}; fi\n"
      "  if [[ $cur == = ]]; then key=${prev##*,}; cur=; fi\n"
      "  case $key in\n";
  for (const Option& option : command.options) {
    if (option.place != OptionPlace::kMount || option.choices.empty()) continue;
    out += "    " + std::string(option.name) + ") COMPREPLY=($(compgen -W \"" + Join(option.choices, " ") +
           "\" -- \"$cur\")); return ;;\n";
  }
  out +=
      "    ?*) if [[ $cur != *,* ]]; then compopt -o default; return; fi ;;\n"
      "  esac\n"
      "  if [[ $prev == -o || $cur == *,* ]]; then\n"
      "    local done=\n"
      "    if [[ $cur == *,* ]]; then done=${cur%,*},; fi\n"
      "    compopt -o nospace\n"
      "    COMPREPLY=($(compgen -P \"$done\" -W \"" +
      MountWords(command) +
      "\" -- \"${cur##*,}\"))\n"
      "    return\n"
      "  fi\n";
}

void AppendBashCommand(const Command& command, std::string& out) {
  out += "    " + (command.name.empty() ? std::string("*") : std::string(command.name)) + ")\n    case $prev in\n";
  AppendBashValues(command, out);
  out += "      *) ;;\n    esac\n    words=\"" + OptionWords(command) + "\" ;;\n";
}

// A text between brackets in a spec of zsh's _arguments, itself between single quotes.
std::string ZshText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
    if (c == '\'') out += "\\''";
  }
  return out;
}

std::string ZshValue(const Option& option) {
  if (option.kind == OptionKind::kFlag) return {};
  std::string completes = option.value == "PATH" ? "_files" : " ";
  if (!option.choices.empty()) completes = "(" + Join(option.choices, " ") + ")";
  return ":" + ZshText(option.value) + ":" + completes;
}

void AppendZshOption(const Option& option, std::string& out) {
  const bool value = option.kind != OptionKind::kFlag;
  const std::string repeat = option.kind == OptionKind::kList ? "*" : "";
  const std::string text = "[" + ZshText(option.brief) + "]" + ZshValue(option) + "' \\\n";
  out += "    '" + repeat + "--" + std::string(option.name) + (value ? "=" : "") + text;
  if (option.short_name != 0) out += std::string("    '") + repeat + "-" + option.short_name + text;
}

void AppendZshCommand(const Command& command, const std::string& function, std::string& out) {
  out += function + "() {\n";
  if (HasMountOptions(command)) {
    out += "  local context state state_descr line\n  typeset -A opt_args\n  local -a mount_options=(\n";
    for (const Option& option : command.options) {
      if (option.place != OptionPlace::kMount) continue;
      out += "    '" + std::string(option.name) + "[" + ZshText(option.brief) + "]" + ZshValue(option) + "'\n";
    }
    out += "  )\n";
  }
  out += "  _arguments -s -S \\\n";
  for (const Option& option : command.options) {
    if (option.place == OptionPlace::kCommand) AppendZshOption(option, out);
  }
  for (const Option& option : CommonOptions()) AppendZshOption(option, out);
  if (HasMountOptions(command)) out += "    '*-o[mount options]:mount option:->mount' \\\n";
  out += "    '*:file:_files'\n";
  if (HasMountOptions(command))
    out += "  if [[ $state == mount ]]; then _values -s , 'mount option' $mount_options; fi\n";
  out += "}\n\n";
}

}  // namespace

std::string BashCompletions(const Program& program) {
  const std::string name(program.name);
  const bool subcommands = !program.commands.front().name.empty();
  std::string out = "# bash completion of " + name + ", made by '" + name + " --completions bash'\n_" + name +
                    "() {\n"
                    "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
                    "  COMPREPLY=()\n";
  if (subcommands) {
    std::vector<std::string_view> names;
    names.reserve(program.commands.size());
    for (const Command& command : program.commands) names.push_back(command.name);
    out +=
        "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
        "    COMPREPLY=($(compgen -W \"" +
        Join(names, " ") +
        " --help --version\" -- \"$cur\"))\n"
        "    return\n"
        "  fi\n";
  } else if (HasMountOptions(program.commands.front())) {
    AppendBashMount(program.commands.front(), out);
  }
  out += "  case ${COMP_WORDS[1]} in\n";
  for (const Command& command : program.commands) AppendBashCommand(command, out);
  out +=
      "  esac\n"
      "  if [[ $cur == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "  else\n"
      "    compopt -o default\n"
      "  fi\n"
      "}\n"
      "complete -F _" +
      name + " " + name + "\n";
  return out;
}

std::string ZshCompletions(const Program& program) {
  const std::string name(program.name);
  std::string out = "#compdef " + name + "\n# made by '" + name + " --completions zsh'\n\n";
  if (program.commands.front().name.empty()) {
    AppendZshCommand(program.commands.front(), "_" + name, out);
    return out + "_" + name + " \"$@\"\n";
  }
  for (const Command& command : program.commands) {
    AppendZshCommand(command, "_" + name + "-" + std::string(command.name), out);
  }
  out += "_" + name + "() {\n  local -a commands=(\n";
  for (const Command& command : program.commands) {
    out += "    '" + std::string(command.name) + ":" + ZshText(command.brief) + "'\n";
  }
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
      "  (( $+functions[_" +
      name + "-$command] )) && _" + name + "-$command\n}\n\n_" + name + " \"$@\"\n";
  return out;
}

}  // namespace augur
