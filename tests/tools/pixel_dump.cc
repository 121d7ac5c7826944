// SPDX-License-Identifier: Apache-2.0
// The decoders and the resize of src/decode, for tests that hold them against Pillow: many images, one process.
//
// Usage: pixel_dump. Reads commands from stdin until its end, each a line of words, then so many bytes as it says:
//   decode KEEP_GREY TOLERANT SCALE_DENOMINATOR BYTES               and a file
//   resize W H CHANNELS TO_W TO_H FILTER PASSES [L T R B]           and pixels; FILTER 0 bilinear 1 bicubic 2 lanczos,
//                                                                   PASSES 12 13; the box is floats
//   encode W H SPACE QUALITY PROGRESSIVE ARITHMETIC RESTART ADOBE SAMPLING...   and samples (odd_jpeg.h)
// and answers each on stdout: "ok W H CHANNELS\n" and pixels (of encode "ok BYTES\n" and a file), or "error TEXT\n".
// Exit 2 with a line on stderr: a wrong command.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "decode/image_decoder.h"
#include "decode/resize.h"
#include "tools/odd_jpeg.h"

namespace augur {
namespace {

void Answer(const Result<Image>& image) {
  if (!image.ok()) {
    std::cout << "error " << image.status().text() << "\n" << std::flush;
    return;
  }
  std::cout << "ok " << image->width << " " << image->height << " " << image->channels << "\n";
  std::cout.write(reinterpret_cast<const char*>(image->pixels.get()), static_cast<std::streamsize>(image->bytes()));
  std::cout << std::flush;
}

bool ReadBytes(void* to, size_t bytes) {
  std::cin.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  return std::cin.good();
}

bool Decode(std::istream& words) {
  DecodeOptions options;
  size_t bytes = 0;
  if (!(words >> options.keep_grey >> options.tolerant >> options.scale_denominator >> bytes)) return false;
  std::vector<std::byte> file(bytes);
  if (bytes > 0 && !ReadBytes(file.data(), bytes)) return false;
  Answer(DecodeImage(file, options));
  return true;
}

bool Resize(std::istream& words, Resizer* resizer) {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t channels = 0;
  unsigned filter = 0;
  unsigned passes = 0;
  ResizeSpec spec;
  if (!(words >> width >> height >> channels >> spec.width >> spec.height >> filter >> passes)) return false;
  spec.filter = static_cast<ResizeFilter>(filter);
  spec.passes = passes == 13 ? PassOrder::kPillow13 : PassOrder::kPillow12;
  ResizeBox box;
  if (words >> box.left >> box.top >> box.right >> box.bottom) spec.box = box;
  const Image image = MakeImage(width, height, channels);
  if (!ReadBytes(image.pixels.get(), image.bytes())) return false;
  Answer(resizer->Resize(image, spec));
  return true;
}

bool Encode(std::istream& words) {
  uint32_t width = 0;
  uint32_t height = 0;
  OddJpeg how;
  if (!(words >> width >> height >> how.space >> how.quality >> how.progressive >> how.arithmetic >> how.restart_rows >>
        how.adobe)) {
    return false;
  }
  how.sampling.clear();
  for (int factors = 0; words >> factors;) how.sampling.push_back(factors);
  std::vector<uint8_t> samples(size_t{width} * height * how.sampling.size());
  if (!ReadBytes(samples.data(), samples.size())) return false;
  const std::vector<std::byte> file = WriteOddJpeg(samples.data(), width, height, how);
  std::cout << "ok " << file.size() << "\n";
  std::cout.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  std::cout << std::flush;
  return true;
}

int Main() {
  Resizer resizer;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    const bool done = command == "decode"   ? Decode(words)
                      : command == "resize" ? Resize(words, &resizer)
                                            : command == "encode" && Encode(words);
    if (!done) {
      std::cerr << "pixel_dump: wrong command: " << line << "\n";
      return 2;
    }
  }
  return 0;
}

}  // namespace
}  // namespace augur

int main() {
  std::ios::sync_with_stdio(false);
  return augur::Main();
}
