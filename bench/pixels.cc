// SPDX-License-Identifier: Apache-2.0
// What decoding and resizing cost on one core. Prints one JSON object.
//
//   pixels_bench --files FOLDER [--count N] [--rounds N] [--only NAME,NAME]
//
// The first N JPEGs of the folder (as far as the walk finds them) are held in memory. Rates are images by processor
// time of the one thread that works. A round measures everything once, there and back again; median, least and most of
// the rounds are given, and of the rows that have a base, the ratio to it round by round.
//
//   decode          DecodeImage
//   turbojpeg       the same by libjpeg-turbo's own API: accurate DCT, fancy upsampling, RGB, one handle for all; the
//   base
//                   of decode (left out where libturbojpeg was not there when this was built)
//   decode 256      DecodeImage, then the shorter side made 256, bilinear
//   decode 256 fast the same with the largest scale_denominator that does
//   stored          the result of `decode` copied once: what serving it takes at the least
//   resize FILTER TARGET  the resize of `decode 256` alone, by each set of vector instructions that the processor has
#include <hwy/targets.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "decode/image_decoder.h"
#include "decode/jpeg_decoder.h"
#include "decode/jpeg_header.h"
#include "decode/resize.h"
#include "decode/resize_kernels.h"
#ifdef AUGUR_TURBOJPEG
#include <turbojpeg.h>
#endif

namespace augur {
namespace {

using FileBytes = std::vector<std::byte>;

constexpr uint32_t kShort = 256;

struct Arguments {
  std::string folder;
  size_t count = 100;
  int rounds = 5;
  std::vector<std::string> only;
};

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::vector<FileBytes> ReadJpegs(const std::string& folder, size_t count) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_regular_file(error)) paths.push_back(entry->path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<FileBytes> files;
  for (const auto& path : paths) {
    if (files.size() == count) break;
    std::ifstream in(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const auto bytes = std::as_bytes(std::span(text));
    if (LooksLikeJpeg(bytes) && DecodeJpeg(bytes).ok()) files.emplace_back(bytes.begin(), bytes.end());
  }
  return files;
}

// torchvision's Resize(kShort).
ResizeSpec SpecFor(uint32_t width, uint32_t height, ResizeFilter filter) {
  const uint64_t shorter = std::min(width, height);
  return {.width = static_cast<uint32_t>(uint64_t{kShort} * width / shorter),
          .height = static_cast<uint32_t>(uint64_t{kShort} * height / shorter),
          .filter = filter};
}

// What is measured, all on the same files.
class Work {
 public:
  explicit Work(const std::vector<FileBytes>& files) : files_(files) {
    for (const FileBytes& file : files) images_.push_back(*DecodeImage(file));
  }

  void Decode() const {
    for (const FileBytes& file : files_) AUGUR_CHECK(DecodeImage(file).ok());
  }

  void DecodeAndResize(bool fast) {
    for (const FileBytes& file : files_) {
      DecodeOptions options;
      if (fast) {
        const DecodeNeeds needs = *MeasureImage(file);
        const ResizeSpec spec = SpecFor(needs.width, needs.height, ResizeFilter::kBilinear);
        options.scale_denominator = ScaleDenominatorFor(needs.width, needs.height, spec.width, spec.height);
      }
      const Image image = *DecodeImage(file, options);
      AUGUR_CHECK(resizer_.Resize(image, SpecFor(image.width, image.height, ResizeFilter::kBilinear)).ok());
    }
  }

  void Resize(ResizeFilter filter) {
    for (const Image& image : images_)
      AUGUR_CHECK(resizer_.Resize(image, SpecFor(image.width, image.height, filter)).ok());
  }

  void Copy() const {
    for (const Image& image : images_) {
      const Image copy = MakeImage(image.width, image.height, image.channels);
      std::memcpy(copy.pixels.get(), image.pixels.get(), image.bytes());
      AUGUR_CHECK(copy.pixels[image.bytes() - 1] == image.pixels[image.bytes() - 1]);
    }
  }

#ifdef AUGUR_TURBOJPEG
  void TurboJpeg() const {
    const tjhandle handle = tjInitDecompress();
    for (const FileBytes& file : files_) {
      const auto* const bytes = reinterpret_cast<const unsigned char*>(file.data());
      int width = 0;
      int height = 0;
      int subsampling = 0;
      int space = 0;
      AUGUR_CHECK(tjDecompressHeader3(handle, bytes, file.size(), &width, &height, &subsampling, &space) == 0);
      const Image image = MakeImage(static_cast<uint32_t>(width), static_cast<uint32_t>(height), 3);
      AUGUR_CHECK(tjDecompress2(handle, bytes, file.size(), image.pixels.get(), width, 0, height, TJPF_RGB,
                                TJFLAG_ACCURATEDCT) == 0);
    }
    tjDestroy(handle);
  }
#endif

 private:
  const std::vector<FileBytes>& files_;
  std::vector<Image> images_;
  Resizer resizer_;
};

struct Row {
  std::string name;
  std::function<void()> work;
  int64_t target = 0;  // the vectors to use; 0: the best
};

std::vector<Row> Rows(Work* work) {
  std::vector<Row> rows = {{"decode", [work] { work->Decode(); }},
                           {"decode 256", [work] { work->DecodeAndResize(false); }},
                           {"decode 256 fast", [work] { work->DecodeAndResize(true); }},
                           {"stored", [work] { work->Copy(); }}};
#ifdef AUGUR_TURBOJPEG
  rows.insert(rows.begin(), {"turbojpeg", [work] { work->TurboJpeg(); }});
#endif
  const std::pair<const char*, ResizeFilter> filters[] = {
      {"bilinear", ResizeFilter::kBilinear}, {"bicubic", ResizeFilter::kBicubic}, {"lanczos", ResizeFilter::kLanczos}};
  std::vector<std::string> seen;
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    const std::string name = ResizeTarget();
    hwy::SetSupportedTargetsForTest(0);
    // A set for which nothing was compiled of its own is served by a lesser one.
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
    seen.push_back(name);
    for (const auto& [filter_name, filter] : filters) {
      rows.push_back(
          {std::string("resize ") + filter_name + " " + name, [work, kind = filter] { work->Resize(kind); }, target});
    }
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return rows;
}

nlohmann::json Spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {{"median", values[values.size() / 2]}, {"least", values.front()}, {"most", values.back()}};
}

nlohmann::json Measure(const std::vector<Row>& rows, size_t images, int rounds) {
  std::map<std::string, std::vector<double>> rates;
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[round % 2 == 0 ? i : rows.size() - 1 - i];
      hwy::SetSupportedTargetsForTest(row.target);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      const double begin = ThreadSeconds();
      row.work();
      rates[row.name].push_back(static_cast<double>(images) / (ThreadSeconds() - begin));
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  nlohmann::json out;
  for (const auto& [name, values] : rates) out["images by second and core"][name] = Spread(values);
  if (rates.contains("turbojpeg") && rates.contains("decode")) {
    std::vector<double> ratios;
    for (int i = 0; i < rounds; ++i) {
      const auto round = static_cast<size_t>(i);
      ratios.push_back(rates["decode"][round] / rates["turbojpeg"][round]);
    }
    out["decode to turbojpeg"] = Spread(ratios);
  }
  return out;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("What decoding and resizing cost");
  app.add_option("--files", arguments.folder, "folder with JPEGs (bench/dataset.py makes one)")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--count", arguments.count, "how many of them")->check(CLI::Range(1, 1'000'000));
  app.add_option("--rounds", arguments.rounds, "rounds")->check(CLI::Range(1, 1000));
  app.add_option("--only", arguments.only, "the rows whose names begin so")->delimiter(',');
  CLI11_PARSE(app, argc, argv);

  const std::vector<FileBytes> files = ReadJpegs(arguments.folder, arguments.count);
  if (files.empty()) {
    std::fprintf(stderr, "pixels_bench: %s: no JPEGs\n", arguments.folder.c_str());
    return 2;
  }
  Work work(files);
  std::vector<Row> rows = Rows(&work);
  if (!arguments.only.empty()) {
    std::erase_if(rows, [&](const Row& row) {
      return std::none_of(arguments.only.begin(), arguments.only.end(),
                          [&](const std::string& name) { return row.name.starts_with(name); });
    });
  }
  nlohmann::json out = Measure(rows, files.size(), arguments.rounds);
  out["images"] = files.size();
  out["rounds"] = arguments.rounds;
  std::printf("%s\n", out.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace augur

// Running out of memory is all that can throw here, and ends the program either way.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) { return augur::Main(argc, argv); }
