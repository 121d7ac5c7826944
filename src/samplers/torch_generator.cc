// SPDX-License-Identifier: Apache-2.0
#include "samplers/torch_generator.h"

namespace augur {
namespace {

std::string Describe(const FreshSeed& fresh) {
  std::string text = "seed " + std::to_string(fresh.seed);
  if (fresh.step == 0) return text + " in every epoch";
  return text + " + " + (fresh.step == 1 ? "epoch" : std::to_string(fresh.step) + " * epoch");
}

std::string Describe(const DrawnSeed& drawn) {
  return "seeds from outputs " + std::to_string(drawn.position) + " + " + std::to_string(drawn.stride) +
         " * epoch of manual_seed(" + std::to_string(drawn.stream_seed) + ")";
}

std::string Describe(const RunStream& run) {
  std::string text = "one generator for the run, seed " + std::to_string(run.seed);
  if (run.offset > 0) text += ", from output " + std::to_string(run.offset);
  if (run.burnt > 0) text += ", behind " + std::to_string(run.burnt) + " permutations";
  text += run.trailing ? ", two permutations" : ", one permutation";
  if (run.extra > 0) text += " and " + std::to_string(run.extra) + " outputs";
  return text + " an epoch";
}

}  // namespace

std::string DescribeGenerator(const TorchGenerator& generator) {
  return std::visit([](const auto& way) { return Describe(way); }, generator);
}

}  // namespace augur
