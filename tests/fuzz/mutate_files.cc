// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mutate_files.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <vector>

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

}  // namespace

int MutateFiles(const std::string& name, int argc, char** argv,
                const std::function<bool(std::span<const std::byte>)>& once,
                const std::function<void(std::span<const std::byte>, std::span<std::byte>)>& mend) {
  if (argc < 4) {
    std::cerr << "usage: " << name << " SECONDS SEED FILE_OR_FOLDER...\n";
    return 2;
  }
  const std::vector<Bytes> files = ReadFiles({argv + 3, argv + argc});
  if (files.empty()) {
    std::cerr << name << ": no files\n";
    return 2;
  }
  for (const Bytes& file : files) once(file);
  const std::string seed = argv[2];
  std::mt19937_64 random(std::strtoull(seed.c_str(), nullptr, 10));
  const std::filesystem::path kept = std::filesystem::temp_directory_path() / (name + "-" + seed + ".bin");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::strtol(argv[1], nullptr, 10));
  size_t sound = 0;
  size_t errors = 0;
  while (std::chrono::steady_clock::now() < end) {
    const Bytes& was = files[random() % files.size()];
    Bytes file = Mutate(was, files[random() % files.size()], &random);
    if (mend && random() % 4 != 0) mend(was, file);
    std::ofstream(kept, std::ios::binary).write(reinterpret_cast<const char*>(file.data()), std::ssize(file));
    (once(file) ? sound : errors) += 1;
  }
  std::filesystem::remove(kept);
  std::cout << files.size() << " files; mutated: " << sound << " sound, " << errors << " errors\n";
  return 0;
}

}  // namespace augur
