// SPDX-License-Identifier: Apache-2.0
// What putting decoded pixels into a container costs, and the names of a folder of a view, on one core. Prints one JSON
// object.
//
//   containers_bench [--width N] [--height N] [--images N] [--names N] [--rounds N]
//
// A round measures every row once, there and back again: median, least and most of the rounds are given, and the ratio
// to `copy`, round by round. Time is processor time of the thread. Images are random RGB pixels, several of them in
// turn, each into memory of its own that has been touched before.
//
//   copy          the pixels copied once: what serving them takes at the least
//   SPEC          the file of the view SPEC, of an image that is decoded
//   names         ViewNames of a folder whose every name is an image's, by name (not by image)
//   find          a question to it, by name
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "views/render.h"
#include "views/view_names.h"

namespace augur {
namespace {

struct Arguments {
  uint32_t width = 500;
  uint32_t height = 400;
  size_t images = 20;
  size_t names = 1'000'000;
  int rounds = 5;
};

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// One row: what is measured, and by how many things its time is divided.
struct Row {
  std::string name;
  size_t count = 0;
  std::function<void()> work;
  std::vector<double> us = {};
};

Image Copy(const Image& image) {
  Image copy = MakeImage(image.width, image.height, image.channels);
  std::memcpy(copy.pixels.get(), image.pixels.get(), image.bytes());
  return copy;
}

// The images, and the files that they become.
class Files {
 public:
  explicit Files(const Arguments& arguments)
      : info_{.width = arguments.width,
              .height = arguments.height,
              .kind = ImageKind::kJpeg,
              .channels = 3,
              .bit_depth = 8} {
    std::mt19937 random(1);
    for (size_t i = 0; i < arguments.images; ++i) {
      Image image = MakeImage(info_.width, info_.height, 3);
      for (size_t k = 0; k < image.bytes(); ++k) image.pixels[k] = static_cast<uint8_t>(random());
      images_.push_back(std::move(image));
    }
  }

  size_t count() const { return images_.size(); }

  // Room for the files, touched.
  void Prepare(const ViewSpec& spec) {
    outs_.assign(count(), std::vector<std::byte>(RenderedSize(spec, info_), std::byte{1}));
    spares_.clear();
    for (const Image& image : images_) spares_.push_back(Copy(image));
  }

  // Takes the images that Prepare() has copied: Render keeps none.
  void Render(const ViewSpec& spec) {
    for (size_t i = 0; i < count(); ++i) {
      AUGUR_CHECK(augur::Render(spec, info_, std::move(spares_[i]), {}, &resizer_, outs_[i]).ok());
    }
  }

  void CopyAll() {
    for (size_t i = 0; i < count(); ++i) std::memcpy(outs_[i].data(), images_[i].pixels.get(), images_[i].bytes());
  }

 private:
  const ImageInfo info_;
  std::vector<Image> images_;
  std::vector<Image> spares_;
  std::vector<std::vector<std::byte>> outs_;
  Resizer resizer_;
};

// A folder of images, two of each name but for their endings in every fourth.
struct Folder {
  explicit Folder(size_t count) {
    names.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const bool twin = i % 4 == 1;
      names.push_back("ILSVRC2012_val_" + std::to_string(twin ? i - 1 : i) + (twin ? ".png" : ".JPEG"));
    }
    std::sort(names.begin(), names.end());
  }
  ViewNames View() const {
    return ViewNames({.size = names.size(),
                      .name = [this](uint64_t i) -> Result<std::string_view> { return std::string_view(names[i]); },
                      .ending = [](uint64_t) -> Result<std::string_view> { return std::string_view(".npy"); }});
  }
  std::vector<std::string> names;
};

void Measure(Row* row, const std::function<void()>& prepare) {
  prepare();
  const double begin = ThreadSeconds();
  row->work();
  row->us.push_back((ThreadSeconds() - begin) * 1e6 / static_cast<double>(row->count));
}

nlohmann::ordered_json Spread(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return {{"median", numbers[numbers.size() / 2]}, {"least", numbers.front()}, {"most", numbers.back()}};
}

int Run(const Arguments& arguments) {
  Files files(arguments);
  const Folder folder(arguments.names);
  const ViewNames names = folder.View();
  std::vector<std::string> wanted;
  for (size_t i = 0; i < names.size(); i += 7) wanted.push_back(*names.NameOf(i));

  std::vector<Row> rows;
  std::vector<std::function<void()>> prepares;
  rows.push_back({.name = "copy", .count = files.count(), .work = [&] { files.CopyAll(); }});
  prepares.emplace_back([&] { files.Prepare(*ParseViewSpec("npy")); });
  for (const char* text : {"pixels", "pixels+as=ppm", "pixels+as=bmp", "npy", "npy+layout=chw", "npy+dtype=f32",
                           "npy+dtype=f32+layout=chw", "npy+crop=224"}) {
    const ViewSpec spec = *ParseViewSpec(text);
    rows.push_back({.name = text, .count = files.count(), .work = [&files, spec] { files.Render(spec); }});
    prepares.emplace_back([&files, spec] { files.Prepare(spec); });
  }
  rows.push_back({.name = "names", .count = names.size(), .work = [&] {
                    for (uint64_t i = 0; i < names.size(); ++i) AUGUR_CHECK(!names.NameOf(i)->empty());
                  }});
  prepares.emplace_back([] {});
  rows.push_back({.name = "find", .count = wanted.size(), .work = [&] {
                    for (const std::string& name : wanted) AUGUR_CHECK(names.Find(name)->has_value());
                  }});
  prepares.emplace_back([] {});

  for (int round = 0; round < arguments.rounds; ++round) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t row = round % 2 == 0 ? i : rows.size() - 1 - i;
      Measure(&rows[row], prepares[row]);
    }
  }
  nlohmann::ordered_json out;
  out["image"] = {arguments.width, arguments.height};
  for (const Row& row : rows) {
    out["us"][row.name] = Spread(row.us);
    if (row.name == "copy" || row.name == "names" || row.name == "find") continue;
    std::vector<double> ratios;
    for (size_t i = 0; i < row.us.size(); ++i) ratios.push_back(row.us[i] / rows[0].us[i]);
    out["times copy"][row.name] = Spread(ratios);
  }
  std::puts(out.dump(1).c_str());
  return 0;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("What putting decoded pixels into a container costs");
  app.add_option("--width", arguments.width, "pixels")->check(CLI::Range(1, 10'000));
  app.add_option("--height", arguments.height, "pixels")->check(CLI::Range(1, 10'000));
  app.add_option("--images", arguments.images, "how many, in turn")->check(CLI::Range(1, 10'000));
  app.add_option("--names", arguments.names, "of the folder")->check(CLI::Range(1, 100'000'000));
  app.add_option("--rounds", arguments.rounds, "rounds")->check(CLI::Range(1, 1'000));
  CLI11_PARSE(app, argc, argv);
  return Run(arguments);
}

}  // namespace
}  // namespace augur

// Running out of memory is all that can throw here, and ends the program either way.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) { return augur::Main(argc, argv); }
