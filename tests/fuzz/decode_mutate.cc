// SPDX-License-Identifier: Apache-2.0
// The decoders under mutated files, for compilers without libFuzzer: see README.md.
//
// Usage: decode_mutate SECONDS SEED FILE_OR_FOLDER... ; decodes each file as it is, then mutations of them until the
// time is over, and prints how many there were. SECONDS 0: the files alone. The file that is being tried lies in the
// folder of temporary files until the next one, so that what crashes is kept: decode_mutate-SEED.bin.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/decode_once.h"
#include "fuzz/mutate.h"

namespace augur {
namespace {

using Bytes = std::vector<std::byte>;

Bytes ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

std::vector<Bytes> ReadFiles(const std::vector<std::string>& names) {
  std::vector<Bytes> files;
  for (const std::string& name : names) {
    if (!std::filesystem::is_directory(name)) {
      files.push_back(ReadFile(name));
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(name)) files.push_back(ReadFile(entry.path()));
  }
  return files;
}

int Main(long seconds, uint64_t seed, const std::vector<std::string>& names) {
  const std::vector<Bytes> files = ReadFiles(names);
  if (files.empty()) {
    std::cerr << "decode_mutate: no files\n";
    return 2;
  }
  for (const Bytes& file : files) DecodeOnce(file);
  std::mt19937_64 random(seed);
  const std::filesystem::path kept =
      std::filesystem::temp_directory_path() / ("decode_mutate-" + std::to_string(seed) + ".bin");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  size_t images = 0;
  size_t errors = 0;
  while (std::chrono::steady_clock::now() < end) {
    const Bytes file = Mutate(files[random() % files.size()], files[random() % files.size()], &random);
    std::ofstream(kept, std::ios::binary).write(reinterpret_cast<const char*>(file.data()), std::ssize(file));
    (DecodeOnce(file) ? images : errors) += 1;
  }
  std::filesystem::remove(kept);
  std::cout << files.size() << " files; mutated: " << images << " images, " << errors << " errors\n";
  return 0;
}

}  // namespace
}  // namespace augur

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: decode_mutate SECONDS SEED FILE_OR_FOLDER...\n";
    return 2;
  }
  const std::vector<std::string> names(argv + 3, argv + argc);
  return augur::Main(std::strtol(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10), names);
}
