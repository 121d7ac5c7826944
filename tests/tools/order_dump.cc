// SPDX-License-Identifier: Apache-2.0
// Prints the indices that a sampler takes, one a line, so that tests in Python can compare them with the library's own:
//
//   order_dump SAMPLES EPOCH COUNT --sampler NAME [--seed N ...]    the words of `augurctl hint`
//   order_dump names                                                names of the samplers, one a line
//
// COUNT 0: the whole epoch. "# ..." is what the sampler says of itself. Exit status 2: bad words, with the cause.
// For tests that ask much, `order_dump -` reads such lines of words from standard input, and answers each with the
// indices in one line; a request that fails is answered by "error: ...".
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/units.h"
#include "samplers/sampler_description.h"
#include "samplers/sampler_hint.h"
#include "samplers/sampler_registry.h"

namespace augur {
namespace {

struct Answer {
  std::string what;
  IndexOrder indices;
};

Result<Answer> Ask(std::span<const std::string> words) {
  if (words.size() < 3) return Status(Code::kInvalid, "usage: order_dump SAMPLES EPOCH COUNT --sampler NAME ...");
  AUGUR_TRY_ASSIGN(samples, ParseCount(words[0]));
  AUGUR_TRY_ASSIGN(epoch, ParseCount(words[1]));
  AUGUR_TRY_ASSIGN(count, ParseCount(words[2]));
  if (samples == 0 || samples > UINT32_MAX) return Status(Code::kInvalid, "SAMPLES must be from 1 to 2^32 - 1");
  AUGUR_TRY_ASSIGN(hint, ParseSamplerHint(words.subspan(3)));
  AUGUR_TRY_ASSIGN(spec, ResolveSamplerHint(hint));
  Answer answer{.what = spec.Describe(), .indices = {}};
  spec.Take(samples, epoch, count == 0 ? SIZE_MAX : count, &answer.indices);
  return answer;
}

int Serve() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream text(line);
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    const Result<Answer> answer = Ask(words);
    std::string out = answer.ok() ? "" : "error: " + answer.status().text();
    if (answer.ok()) {
      for (const uint32_t index : answer->indices) out += std::to_string(index) + " ";
    }
    std::cout << out << std::endl;
  }
  return 0;
}

int Main(std::vector<std::string> words) {
  if (words.size() == 1 && words[0] == "-") return Serve();
  if (words.size() == 1 && words[0] == "names") {
    for (const NamedSampler& named : NamedSamplers()) std::cout << named.name << "\n";
    return 0;
  }
  const Result<Answer> answer = Ask(words);
  if (!answer.ok()) {
    std::cerr << "order_dump: " << answer.status().text() << "\n";
    return 2;
  }
  std::cout << "# " << answer->what << "\n";
  for (const uint32_t index : answer->indices) std::cout << index << "\n";
  return 0;
}

}  // namespace
}  // namespace augur

int main(int count, char** words) { return augur::Main(std::vector<std::string>(words + 1, words + count)); }
