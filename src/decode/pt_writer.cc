// SPDX-License-Identifier: Apache-2.0
#include "decode/pt_writer.h"

#include <libdeflate.h>

#include <array>
#include <string>
#include <string_view>

#include "base/check.h"
#include "decode/field_writer.h"

namespace augur {
namespace {

// Of zip: before each entry, in the directory at the end, and behind that.
constexpr size_t kLocalBytes = 30;
constexpr size_t kCentralBytes = 46;
constexpr size_t kEndBytes = 22;
constexpr uint16_t kVersion = 10;     // 1.0: entries are stored
constexpr uint16_t kFirstDay = 0x21;  // 1 January 1980: the day 0 is none
// The extra field with which torch brings data to its alignment: "FB", a length, and fill.
constexpr size_t kFillHeaderBytes = 4;
constexpr size_t kAlignment = 64;

std::string Opcode(char code, uint64_t value, int count) {
  std::string text(1, code);
  for (int i = 0; i < count; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}

// A number that is not negative, in the shortest form.
std::string PickledInt(uint64_t value) {
  if (value <= UINT8_MAX) return Opcode('K', value, 1);
  if (value <= UINT16_MAX) return Opcode('M', value, 2);
  AUGUR_CHECK(value <= INT32_MAX);
  return Opcode('J', value, 4);
}

// A label, in the form that has one length for all.
std::string PickledLabel(int32_t label) { return Opcode('J', static_cast<uint32_t>(label), 4); }

std::string PickledText(std::string_view text) { return Opcode('X', text.size(), 4).append(text); }

std::string PickledTriple(const std::array<uint64_t, 3>& numbers) {
  return PickledInt(numbers[0]) + PickledInt(numbers[1]) + PickledInt(numbers[2]) + '\x87';
}

// torch._utils._rebuild_tensor_v2(storage, 0, shape, strides, False, OrderedDict()), without a memo.
std::string PickledTensor(const std::array<uint32_t, 3>& shape, ArrayType type) {
  const std::array<uint64_t, 3> sides = {shape[0], shape[1], shape[2]};
  const std::array<uint64_t, 3> strides = {sides[1] * sides[2], sides[2], 1};
  const std::string_view storage = type == ArrayType::kU8 ? "ByteStorage" : "FloatStorage";
  std::string out = "ctorch._utils\n_rebuild_tensor_v2\n(";
  out.append("(").append(PickledText("storage")).append("ctorch\n").append(storage).append("\n");
  out.append(PickledText("0")).append(PickledText("cpu")).append(PickledInt(sides[0] * strides[0])).append("tQ");
  out.append(PickledInt(0)).append(PickledTriple(sides)).append(PickledTriple(strides));
  return out.append(
      "\x89"
      "ccollections\nOrderedDict\n)RtR");
}

// Of protocol 2.
std::string Pickle(const std::array<uint32_t, 3>& shape, ArrayType type, PtItem item, int32_t label) {
  const std::string tensor = PickledTensor(shape, type);
  std::string out("\x80\x02");
  switch (item) {
    case PtItem::kTensor: out += tensor; break;
    case PtItem::kPair: out += tensor + PickledLabel(label) + '\x86'; break;
    case PtItem::kDict:
      out += "}(" + PickledText("image") + tensor + PickledText("label") + PickledLabel(label) + 'u';
      break;
  }
  return out + '.';
}

// One entry of the archive, and where it is.
struct Part {
  std::string_view name;
  std::string_view text = {};  // what it holds, or nothing: the array
  uint64_t bytes = 0;          // of what it holds
  uint64_t at = 0;             // its local header
  uint64_t fill_bytes = 0;     // of the extra field
  uint32_t crc = 0;

  uint64_t content_at() const { return at + kLocalBytes + name.size() + fill_bytes; }
  uint64_t end() const { return content_at() + bytes; }
};

// Where everything lies in the file.
class Archive {
 public:
  Archive(const std::array<uint32_t, 3>& shape, ArrayType type, uint64_t array_bytes, PtItem item, int32_t label)
      : pickle_(Pickle(shape, type, item, label)) {
    AUGUR_CHECK(array_bytes <= UINT32_MAX - (1U << 16));
    parts_ = {{{.name = "archive/data.pkl", .text = pickle_, .bytes = pickle_.size()},
               {.name = "archive/byteorder", .text = "little", .bytes = 6},
               {.name = "archive/data/0", .bytes = array_bytes},
               {.name = "archive/version", .text = "3\n", .bytes = 2}}};
    uint64_t at = 0;
    for (Part& part : parts_) {
      part.at = at;
      if (part.text.empty()) {
        const uint64_t least = part.content_at() + kFillHeaderBytes;
        part.fill_bytes = kFillHeaderBytes + (kAlignment - least % kAlignment) % kAlignment;
      }
      at = part.end();
      directory_bytes_ += kCentralBytes + part.name.size();
    }
  }
  Archive(const Archive&) = delete;  // the parts point into it
  Archive& operator=(const Archive&) = delete;

  uint64_t bytes() const { return parts_.back().end() + directory_bytes_ + kEndBytes; }
  const Part& array() const { return parts_[2]; }

  // All but the array, which is in its place already.
  void Write(std::span<std::byte> out) {
    for (Part& part : parts_) {
      const std::string_view text = part.text;
      FieldWriter(out.data() + part.content_at()).Text(text);
      part.crc = libdeflate_crc32(0, out.data() + part.content_at(), part.bytes);
      FieldWriter local(out.data() + part.at);
      local.Text("PK\x03\x04");
      WriteCommon(part, &local);
      local.Little16(static_cast<uint16_t>(part.fill_bytes));
      local.Text(part.name);
      if (part.fill_bytes == 0) continue;
      local.Text("FB");
      local.Little16(static_cast<uint16_t>(part.fill_bytes - kFillHeaderBytes));
      local.Text(std::string(part.fill_bytes - kFillHeaderBytes, 'Z'));
    }
    FieldWriter directory(out.data() + parts_.back().end());
    for (const Part& part : parts_) {
      directory.Text("PK\x01\x02");
      directory.Little16(kVersion);  // made by
      WriteCommon(part, &directory);
      for (int none = 0; none < 4; ++none) directory.Little16(0);  // extra, comment, disk, internal attributes
      directory.Little32(0);                                       // external attributes
      directory.Little32(static_cast<uint32_t>(part.at));
      directory.Text(part.name);
    }
    directory.Text("PK\x05\x06");
    directory.Little32(0);  // the disk, and that of the directory
    directory.Little16(static_cast<uint16_t>(parts_.size()));
    directory.Little16(static_cast<uint16_t>(parts_.size()));
    directory.Little32(static_cast<uint32_t>(directory_bytes_));
    directory.Little32(static_cast<uint32_t>(parts_.back().end()));
    directory.Little16(0);  // no comment
  }

 private:
  // The fields that the header of an entry and its row of the directory share.
  static void WriteCommon(const Part& part, FieldWriter* out) {
    out->Little16(kVersion);
    out->Little16(0);  // flags
    out->Little16(0);  // stored
    out->Little16(0);  // midnight
    out->Little16(kFirstDay);
    out->Little32(part.crc);
    out->Little32(static_cast<uint32_t>(part.bytes));
    out->Little32(static_cast<uint32_t>(part.bytes));
    out->Little16(static_cast<uint16_t>(part.name.size()));
  }

  const std::string pickle_;
  std::array<Part, 4> parts_;
  uint64_t directory_bytes_ = 0;
};

}  // namespace

uint64_t PtBytes(uint32_t width, uint32_t height, uint32_t channels, const ArrayFormat& format, PtItem item) {
  return Archive(ArrayShape(width, height, channels, format.layout), format.type,
                 ArrayBytes(width, height, channels, format.type), item, 0)
      .bytes();
}

void WritePt(const Image& image, const ArrayFormat& format, std::span<std::byte> out, PtItem item, int32_t label) {
  const uint64_t array_bytes = ArrayBytes(image.width, image.height, image.channels, format.type);
  Archive archive(ArrayShape(image.width, image.height, image.channels, format.layout), format.type, array_bytes, item,
                  label);
  AUGUR_CHECK(out.size() == archive.bytes());
  WriteArray(image, format, out.subspan(archive.array().content_at(), array_bytes));
  archive.Write(out);
}

}  // namespace augur
