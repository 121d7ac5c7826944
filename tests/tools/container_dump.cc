// SPDX-License-Identifier: Apache-2.0
// container_dump: what views make of images, for tests that compare with real readers. Each line of standard input is a
// question, each is answered by one line; "error TEXT" when it cannot be answered. Paths have no spaces.
//   canonical SPEC                  the canonical form
//   geometry SPEC WIDTH HEIGHT      "WIDTH HEIGHT" resized, "WIDTH HEIGHT" cropped, "LEFT TOP" of the crop
//   render SPEC WIDTH HEIGHT CHANNELS ORIENTATION PIXELS EXIF OUT
//                                   a JPEG of CHANNELS components whose decoded pixels are the file PIXELS and whose
//                                   EXIF block is the file EXIF (- for none) to the file OUT: the ending of its
//                                   container
//   convert SPEC IN OUT             the same from a real file; "absent" or "original" if it does not become another one

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "decode/center_crop.h"
#include "decode/image_probe.h"
#include "views/geometry.h"
#include "views/render.h"

namespace augur {
namespace {

Result<std::vector<std::byte>> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Status(Code::kNotFound, path);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return std::vector<std::byte>(begin, begin + text.size());
}

// Keeps the tables of weights from one question to the next, as a mount does.
Resizer* SharedResizer() {
  static Resizer resizer;
  return &resizer;
}

Result<std::string> Write(const ViewSpec& spec, const ImageInfo& info, const std::vector<std::byte>& file,
                          const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  out.close();
  if (!out) return Status(Code::kIo, path);
  return std::string(EndingOf(AppearanceOf(spec, info)));
}

Result<std::string> Geometry(const ViewSpec& spec, std::istream& words) {
  ImageExtent image;
  words >> image.width >> image.height;
  const ViewGeometry geometry = GeometryOf(spec, image);
  std::ostringstream out;
  out << geometry.resized.width << ' ' << geometry.resized.height << ' ' << geometry.cropped.width << ' '
      << geometry.cropped.height << ' ' << CenterCropBegin(geometry.resized.width, geometry.cropped.width) << ' '
      << CenterCropBegin(geometry.resized.height, geometry.cropped.height);
  return out.str();
}

Result<std::string> RenderPixels(const ViewSpec& spec, std::istream& words) {
  ImageInfo info{.kind = ImageKind::kJpeg, .bit_depth = 8};
  unsigned channels = 0;
  unsigned orientation = 0;
  std::string pixels_path;
  std::string exif_path;
  std::string out_path;
  words >> info.width >> info.height >> channels >> orientation >> pixels_path >> exif_path >> out_path;
  info.channels = static_cast<uint8_t>(channels);
  info.orientation = static_cast<uint8_t>(orientation);
  std::vector<std::byte> exif;
  if (exif_path != "-") {
    AUGUR_TRY_ASSIGN(read, ReadFile(exif_path));
    exif = std::move(read);
  }
  info.exif_bytes = static_cast<uint32_t>(exif.size());
  AUGUR_TRY_ASSIGN(pixels, ReadFile(pixels_path));
  Image image = MakeImage(info.width, info.height, ChannelsOf(spec, info));
  if (pixels.size() != image.bytes()) return Status(Code::kInvalid, "PIXELS has another size");
  std::ranges::copy(pixels, reinterpret_cast<std::byte*>(image.pixels.get()));
  std::vector<std::byte> out(RenderedSize(spec, info));
  AUGUR_TRY(Render(spec, info, std::move(image), exif, SharedResizer(), out));
  return Write(spec, info, out, out_path);
}

Result<std::string> Convert(const ViewSpec& spec, std::istream& words) {
  std::string in_path;
  std::string out_path;
  words >> in_path >> out_path;
  AUGUR_TRY_ASSIGN(file, ReadFile(in_path));
  const ImageInfo info = ProbeImage(file);
  const Appearance appearance = AppearanceOf(spec, info);
  if (appearance == Appearance::kAbsent) return std::string("absent");
  if (appearance == Appearance::kOriginal) return std::string("original");
  std::vector<std::byte> out(RenderedSize(spec, info));
  AUGUR_TRY(RenderFile(spec, info, file, SharedResizer(), out));
  return Write(spec, info, out, out_path);
}

Result<std::string> Answer(std::istream& words) {
  std::string question;
  std::string text;
  words >> question >> text;
  AUGUR_TRY_ASSIGN(spec, ParseViewSpec(text));
  if (question == "canonical") return CanonicalSpec(spec);
  if (question == "geometry") return Geometry(spec, words);
  if (question == "render") return RenderPixels(spec, words);
  if (question == "convert") return Convert(spec, words);
  return Status(Code::kInvalid, "not a question: " + question);
}

}  // namespace
}  // namespace augur

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    const augur::Result<std::string> answer = augur::Answer(words);
    std::cout << (answer.ok() ? *answer : "error " + answer.status().text()) << std::endl;
  }
  return 0;
}
