// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "augur/status.h"
#include "tools/hint_options.h"
#include "tools/options.h"

namespace augur {

struct StatusOptions {
  std::string mountpoint;
  bool all = false;  // every number, not one screen
  bool json = false;
};

struct TopOptions {
  std::string mountpoint;
  uint64_t seconds = 1;  // between two looks
  bool once = false;
  bool json = false;  // only with `once`
};

struct DoctorOptions {
  std::string mountpoint;  // empty: of the machine alone
  uint64_t seconds = 10;
  bool json = false;
};

struct ReportOptions {
  std::string mountpoint;
  uint64_t seconds = 60;
  std::string output;  // the page
};

struct DropOptions {
  std::string mountpoint;
  bool json = false;
};

struct ViewsOptions {
  std::string mountpoint;
  std::string spec;  // the one that is asked about; empty: all that were used
  bool json = false;
};

struct WarmOptions {
  std::string mountpoint;
  std::string order;  // a file, or "-": stdin; empty: all files
  bool json = false;
};

struct RestartOptions {
  std::string mountpoint;
  std::string binary;                // empty: the program that serves now
  std::vector<std::string> options;  // "memory=1G"
  bool json = false;
  bool reload = false;  // shows the newest generation of the store
};

using AugurctlCommand = std::variant<HintOptions, StatusOptions, TopOptions, DoctorOptions, ReportOptions, DropOptions,
                                     ViewsOptions, WarmOptions, RestartOptions>;

struct AugurctlOptions {
  std::string print;  // not empty: --help and the like; this goes to stdout, and there is no command to run
  AugurctlCommand command;
};

// The options of augurctl, as data.
const Program& AugurctlProgram();

// Reads a command line of augurctl; touches nothing but its arguments. kInvalid: the mistake in it, and the
// accepted form.
Result<AugurctlOptions> ParseAugurctl(int argc, const char* const* argv);

}  // namespace augur
