// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "augur/status.h"
#include "tools/options.h"

namespace augur {

// A command line of `augurctl hint`: an order or a sampler; just one of the two is there.
struct HintOptions {
  std::string mountpoint;
  std::string order;                 // a file, or "-": stdin
  bool replace = false;              // the orders given before are forgotten
  std::vector<std::string> sampler;  // the words of a SamplerHint
};

// The command with its options, as data; augurctl gives it its argument MOUNTPOINT.
Command HintCommand();

// The values of its command line. kInvalid: the options do not go together, or the sampler is wrong.
Result<HintOptions> ReadHint(const Values& values);

}  // namespace augur
