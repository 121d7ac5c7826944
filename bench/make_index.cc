// SPDX-License-Identifier: Apache-2.0
//
//   make_index [--files] FILES [--store] STORE [--directories N]
//
// Makes a store that looks like ImageNet to whoever opens, lists or stats it, with any number of files and next to no
// data: every record lies in one sparse file of zeros, and the checksums are those of zeros, so that files can be read
// too. For measuring what the size of an index costs.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "augur/store.h"
#include "augur/store_writer.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "store/sha256.h"

namespace augur {
namespace {

constexpr const char* kZeros = "zeros";
constexpr uint64_t kZerosBytesMax = uint64_t{1} << 40;  // 1 TiB is below the file size limit of every file system
constexpr uint64_t kFilesADirectory = 1281;             // ImageNet: 1,281,167 files in 1,000 folders
constexpr size_t kSizes = 64;

struct Arguments {
  uint64_t files = 0;
  uint64_t directories = 0;
  std::string store;
};

// A size of record and its hashes.
struct Size {
  uint64_t bytes = 0;
  RecordHashes hashes;
};

// Sizes spread log-normally around a mean of 110 KB, with a standard deviation of the logarithm of 0.5: the middles of
// 64 slices of equal probability, by the logistic approximation of the normal distribution.
std::array<Size, kSizes> MakeSizes() {
  constexpr double kMean = 110'000;
  constexpr double kSigma = 0.5;
  constexpr double kLogisticScale = 1.702;  // of the logistic curve that lies closest to the normal one
  std::array<Size, kSizes> sizes;
  const std::vector<std::byte> zeros(kBlockBytes);
  for (size_t i = 0; i < kSizes; ++i) {
    const double p = (static_cast<double>(i) + 0.5) / kSizes;
    const double z = std::log(p / (1 - p)) / kLogisticScale;
    const double bytes = kMean * std::exp(kSigma * z - kSigma * kSigma / 2);
    sizes[i].bytes = static_cast<uint64_t>(bytes);
    sizes[i].hashes = HashRecord(std::span(zeros).first(sizes[i].bytes));
  }
  return sizes;
}

Status MakeZeros(const std::string& path, uint64_t bytes, struct stat* info) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return ErrnoStatus(errno, path);
  return ::fstat(fd.get(), info) == 0 ? Status::Ok() : ErrnoStatus(errno, path);
}

Status Make(const Arguments& arguments) {
  const std::array<Size, kSizes> sizes = MakeSizes();
  uint64_t mean = 0;
  for (const Size& size : sizes) mean += size.bytes / kSizes;
  const uint64_t largest = sizes.back().bytes;
  const uint64_t zeros_bytes = std::min(kZerosBytesMax, std::max<uint64_t>(1, arguments.files) * mean) + largest;
  AUGUR_TRY_ASSIGN(writer, StoreWriter::Begin(arguments.store, {.writer = "make_index " AUGUR_VERSION}));
  struct stat info {};
  AUGUR_TRY(MakeZeros(arguments.store + "/" + kZeros, zeros_bytes, &info));
  AUGUR_TRY_ASSIGN(shard, writer->AddForeignShard(kZeros, zeros_bytes, info.st_mtim.tv_sec,
                                                  static_cast<uint32_t>(info.st_mtim.tv_nsec)));
  const ImageInfo image{.width = 500,
                        .height = 375,
                        .exif_bytes = 0,
                        .kind = ImageKind::kJpeg,
                        .channels = 3,
                        .orientation = 0,
                        .bit_depth = 8};
  uint64_t offset = 0;
  uint64_t added = 0;
  std::array<char, 64> name{};
  for (uint64_t directory = 0; directory < arguments.directories; ++directory) {
    std::snprintf(name.data(), name.size(), "train/n%08lu", static_cast<unsigned long>(directory));
    const std::string folder = name.data();
    AUGUR_TRY(writer->AddDirectory(folder, {.mode = 0755, .mtime_sec = 1'300'000'000, .mtime_nsec = 0}));
    const uint64_t end = arguments.files * (directory + 1) / arguments.directories;
    for (; added < end; ++added) {
      const Size& size = sizes[added * 0x9E3779B97F4A7C15 >> 58];  // the top 6 bits: one of the 64, well mixed
      if (offset > zeros_bytes - largest) offset = 0;
      std::snprintf(name.data(), name.size(), "/n%08lu_%08lu.JPEG", static_cast<unsigned long>(directory),
                    static_cast<unsigned long>(added));
      AUGUR_TRY(writer->AddForeignFile(folder + name.data(),
                                       {.mode = 0644, .mtime_sec = 1'300'000'000, .mtime_nsec = 0}, image, shard,
                                       offset, size.bytes, size.hashes));
      offset += size.bytes;
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  AUGUR_TRY_ASSIGN(summary, writer->Commit());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%s: %lu files in %lu folders, %s; index written in %.1f s\n", arguments.store.c_str(),
              static_cast<unsigned long>(summary.file_count), static_cast<unsigned long>(summary.directory_count),
              FormatSize(summary.tree_bytes).c_str(), seconds.count());
  return Status::Ok();
}

}  // namespace
}  // namespace augur

// Running out of memory is all that can throw here, and ends the program either way.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  augur::Arguments arguments;
  CLI::App app("Makes the index of a store of any number of files, without data.");
  app.add_option("--files,files", arguments.files, "number of files")->required();
  app.add_option("--store,store", arguments.store, "the folder to make")->required();
  app.add_option("--directories", arguments.directories, "number of folders; default: one for 1,281 files");
  CLI11_PARSE(app, argc, argv);
  if (arguments.directories == 0) {
    arguments.directories =
        std::max<uint64_t>(1, (arguments.files + augur::kFilesADirectory - 1) / augur::kFilesADirectory);
  }
  const augur::Status status = augur::Make(arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "make_index: %s\n", status.text().c_str());
  return 2;
}
