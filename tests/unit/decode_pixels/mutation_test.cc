// SPDX-License-Identifier: Apache-2.0
// Files with bytes flipped, cut, and pieces moved go through the decoders, which must give an image of the size that
// they measured, or an error. Under the sanitizers this looks for reads and writes outside; tests/fuzz goes on for
// longer.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "decode/image_decoder.h"
#include "fuzz/decode_once.h"
#include "fuzz/mutate.h"
#include "unit/decode_pixels/files.h"

namespace augur {
namespace {

std::vector<FileBytes> Seeds() {
  std::vector<FileBytes> files = {
      MakeJpegFile(70, 50),
      MakeJpegFile(50, 70, {.progressive = true}),
      MakeJpegFile(40, 40, {.space = 1, .restart_rows = 1, .sampling = {11}}),
      MakeJpegFile(40, 40, {.space = 5, .sampling = {21, 11, 11, 21}}),
      MakeJpegFile(40, 40, {.progressive = true, .arithmetic = true, .sampling = {12, 11, 11}}),
      MakePngFile(40, 40, SPNG_COLOR_TYPE_TRUECOLOR, 8, MakeSamples(40, 40, 3)),
      MakePngFile(40, 40, SPNG_COLOR_TYPE_GRAYSCALE, 16, MakeSamples(40, 40, 2)),
      MakePngFile(40, 40, SPNG_COLOR_TYPE_GRAYSCALE, 1, MakeSamples(5, 40, 1)),
  };
  spng_plte palette = {};
  palette.n_entries = 16;
  files.push_back(MakePngFile(40, 40, SPNG_COLOR_TYPE_INDEXED, 4, MakeSamples(20, 40, 1), &palette));
  return files;
}

TEST(Mutation, DecodersStandEverything) {
  const char* const asked = std::getenv("AUGUR_TEST_SEED");  // NOLINT(concurrency-mt-unsafe): one thread
  const uint64_t seed = asked != nullptr ? std::strtoull(asked, nullptr, 10) : std::random_device()();
  SCOPED_TRACE("AUGUR_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::vector<FileBytes> seeds = Seeds();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  size_t images = 0;
  size_t errors = 0;
  while (std::chrono::steady_clock::now() < end) {
    const FileBytes file = Mutate(seeds[random() % seeds.size()], seeds[random() % seeds.size()], &random);
    (DecodeOnce(file) ? images : errors) += 1;
  }
  // Otherwise the mutations are of no use: too gentle or too rough.
  EXPECT_GT(images, 20U);
  EXPECT_GT(errors, 20U);
}

}  // namespace
}  // namespace augur
