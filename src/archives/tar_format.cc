// SPDX-License-Identifier: Apache-2.0
#include "archives/tar_format.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "base/check.h"
#include "base/page.h"

namespace augur {
namespace {

constexpr size_t kBlock = 512;

struct Field {
  size_t begin;
  size_t bytes;
};
constexpr Field kName = {0, 100};
constexpr Field kMode = {100, 8};
constexpr Field kUid = {108, 8};
constexpr Field kGid = {116, 8};
constexpr Field kSize = {124, 12};
constexpr Field kTime = {136, 12};
constexpr Field kSum = {148, 8};
constexpr size_t kType = 156;
constexpr Field kMagic = {257, 8};
constexpr Field kPrefix = {345, 155};

constexpr char kFileType = '0';
constexpr char kPaxType = 'x';

// ".jpg", ".png" and ".cls" have the same length, so that the two members of a sample have paths of one length.
constexpr size_t kEndingBytes = 4;

constexpr uint64_t kOctalMax = 077'777'777'777;  // 11 digits

uint64_t Padded(uint64_t bytes) { return RoundUp(bytes, kBlock); }

void Put(std::string* header, const Field& field, std::string_view text) {
  AUGUR_CHECK(text.size() <= field.bytes);
  text.copy(header->data() + field.begin, text.size());
}

// Digits up to the field's last byte, which is a zero. REQUIRES: they fit.
void PutOctal(std::string* header, const Field& field, uint64_t number) {
  std::array<char, 24> digits;
  const int count = std::snprintf(digits.data(), digits.size(), "%0*llo", static_cast<int>(field.bytes - 1),
                                  static_cast<unsigned long long>(number));
  Put(header, field, std::string_view(digits.data(), static_cast<size_t>(count)));
}

void PutSize(std::string* header, uint64_t bytes) {
  if (bytes <= kOctalMax) return PutOctal(header, kSize, bytes);
  for (size_t i = 0; i < sizeof bytes; ++i) {
    (*header)[kSize.begin + kSize.bytes - 1 - i] = static_cast<char>(bytes >> (8 * i));
  }
  (*header)[kSize.begin] = static_cast<char>(0x80);
}

// Where a path is cut into prefix and name: the '/' between, or npos where the name has all of it. False: it has no
// place in the header.
bool Split(std::string_view path, size_t* slash) {
  *slash = std::string_view::npos;
  if (path.size() <= kName.bytes) return true;
  const size_t first = path.size() - kName.bytes - 1;
  *slash = path.find('/', first);
  return *slash != std::string_view::npos && *slash > 0 && *slash <= kPrefix.bytes && *slash + 1 < path.size();
}

std::string Header(std::string_view path, char type, uint64_t bytes, int64_t time) {
  std::string header(kBlock, '\0');
  size_t slash = 0;
  if (!Split(path, &slash)) {
    Put(&header, kName, path.substr(0, kName.bytes));  // the pax header before has it
  } else if (slash == std::string_view::npos) {
    Put(&header, kName, path);
  } else {
    Put(&header, kPrefix, path.substr(0, slash));
    Put(&header, kName, path.substr(slash + 1));
  }
  PutOctal(&header, kMode, 0644);
  PutOctal(&header, kUid, 0);
  PutOctal(&header, kGid, 0);
  PutSize(&header, bytes);
  PutOctal(&header, kTime, std::min(static_cast<uint64_t>(std::max<int64_t>(time, 0)), kOctalMax));
  header[kType] = type;
  Put(&header, kMagic, std::string_view("ustar\00000", 8));
  // The sum is that of the header with spaces in its own place.
  Put(&header, kSum, "        ");
  uint64_t sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  PutOctal(&header, {kSum.begin, kSum.bytes - 1}, sum);
  header[kSum.begin + kSum.bytes - 1] = ' ';
  return header;
}

// "LENGTH KEYWORD=VALUE\n", where the length counts its own digits.
std::string PaxRecord(std::string_view keyword, std::string_view value) {
  const size_t rest = keyword.size() + value.size() + 3;
  size_t bytes = rest + 1;
  while (std::to_string(bytes).size() + rest != bytes) ++bytes;
  std::string record = std::to_string(bytes);
  return record.append(" ").append(keyword).append("=").append(value).append("\n");
}

void Pad(std::string* text, uint64_t bytes) { text->append(Padded(bytes) - bytes, '\0'); }

// All headers of a member.
std::string Headers(const std::string& path, uint64_t bytes, int64_t time) {
  size_t slash = 0;
  std::string headers;
  if (!Split(path, &slash)) {
    // POSIX wants UTF-8 here. What is none stands as it is, as GNU tar writes it, and as Python reads it.
    const std::string records = PaxRecord("path", path);
    headers = Header("././@PaxHeader", kPaxType, records.size(), time) + records;
    Pad(&headers, headers.size());
  }
  return headers + Header(path, kFileType, bytes, time);
}

std::string_view EndingOf(ImageKind kind) { return kind == ImageKind::kPng ? ".png" : ".jpg"; }

}  // namespace

size_t TarFormat::short_key_bytes() const { return kName.bytes - kEndingBytes; }

// Those of both members, each.
uint64_t TarFormat::ImageOffset(const Sample& /*sample*/, const std::string& key) const {
  return key.size() > short_key_bytes() ? Headers(key + ".cls", 0, 0).size() : kBlock;
}

uint64_t TarFormat::SampleBytes(const Sample& sample, const std::string& key) const {
  return 2 * ImageOffset(sample, key) + Padded(sample.image.size) + kBlock;
}

SampleFrame TarFormat::Frame(const Sample& sample, const std::string& key) const {
  SampleFrame frame;
  const std::string label = std::to_string(sample.label);
  frame.head = Headers(key + std::string(EndingOf(sample.image.image.kind)), sample.image.size, sample.image.mtime_sec);
  frame.tail.assign(Padded(sample.image.size) - sample.image.size, '\0');
  frame.tail += Headers(key + ".cls", label.size(), sample.image.mtime_sec) + label;
  frame.tail.append(kBlock - label.size(), '\0');
  return frame;
}

std::string_view TarFormat::End() const {
  static const std::string kEnd(2 * kBlock, '\0');
  return kEnd;
}

}  // namespace augur
