// SPDX-License-Identifier: Apache-2.0
#include "store/manifest.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <span>

#include "base/check.h"
#include "base/regular_file.h"
#include "base/unique_fd.h"
#include "store/format.h"
#include "store/hash.h"

namespace augur {
namespace {

constexpr std::string_view kFirstKey = "augurfs-store ";
constexpr std::string_view kChecksumKey = "checksum ";

Status BadManifest(const std::string& text) { return {Code::kCorrupt, text + ": " + std::string(kCopyBackCure)}; }

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::optional<uint64_t> ParseNumber(std::string_view text, int base) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

// Digits without a sign and without leading zeros.
std::optional<uint64_t> ParseDecimal(std::string_view text) {
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  return ParseNumber(text, 10);
}

// Whether `text` is `digits` lower-case hex digits.
bool IsHex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// from_chars takes upper-case digits, the manifest does not.
std::optional<uint64_t> ParseHex64(std::string_view text) {
  if (!IsHex(text, 16)) return std::nullopt;
  return ParseNumber(text, 16);
}

uint64_t SumOf(std::string_view text) { return HashBytes64(std::as_bytes(std::span(text))); }

// Takes the next line, without its LF, off `rest`; nullopt when there is no LF.
std::optional<std::string_view> TakeLine(std::string_view* rest) {
  const size_t end = rest->find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest->substr(0, end);
  rest->remove_prefix(end + 1);
  return line;
}

// The keys between the first line and the checksum, in the order in which Fields has them.
constexpr std::array<std::string_view, 5> kKeys = {"generation", "index", "index-bytes", "index-id", "writer"};
using Fields = std::array<std::string_view, kKeys.size()>;  // empty: missing; no value is

Status TakeField(std::string_view line, Fields* fields) {
  const size_t space = line.find(' ');
  if (space == 0 || space == std::string_view::npos || space + 1 == line.size() || line[space + 1] == ' ') {
    return BadManifest("line " + Quoted(line) + " is not a key, one space and a value");
  }
  const std::string_view key = line.substr(0, space);
  if (key.starts_with("x-")) return Status::Ok();
  for (size_t i = 0; i < kKeys.size(); ++i) {
    if (key != kKeys[i]) continue;
    if (!(*fields)[i].empty()) return BadManifest("key " + Quoted(key) + " stands twice");
    (*fields)[i] = line.substr(space + 1);
    return Status::Ok();
  }
  return BadManifest("unknown key " + Quoted(key));
}

Result<Manifest> FromFields(uint32_t version, const Fields& fields) {
  for (size_t i = 0; i < kKeys.size(); ++i) {
    if (fields[i].empty()) return BadManifest("key " + Quoted(kKeys[i]) + " is missing");
  }
  const auto [generation_text, index, bytes_text, id, writer] = fields;
  const std::optional<uint64_t> generation = ParseDecimal(generation_text);
  if (!generation.has_value() || *generation == 0 || *generation > kGenerationMax) {
    return BadManifest("generation " + Quoted(generation_text) +
                       " is not a number from 1 to 99999999 without leading zeros");
  }
  if (index != IndexName(*generation)) {
    return BadManifest("index " + Quoted(index) + " is not the one of the generation, " + IndexName(*generation));
  }
  const std::optional<uint64_t> bytes = ParseDecimal(bytes_text);
  if (!bytes.has_value())
    return BadManifest("index-bytes " + Quoted(bytes_text) + " is not a number without leading zeros");
  const size_t id_digits = version == 1 ? 32 : 64;
  if (!IsHex(id, id_digits)) {
    return BadManifest("index-id " + Quoted(id) + " is not " + std::to_string(id_digits) + " lower-case hex digits");
  }
  return Manifest{.version = version,
                  .generation = *generation,
                  .index_bytes = *bytes,
                  .index_id = std::string(id),
                  .writer = std::string(writer)};
}

}  // namespace

std::string IndexName(uint64_t generation) {
  AUGUR_CHECK(generation >= 1 && generation <= kGenerationMax);
  std::array<char, 32> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "index-%08llu", static_cast<unsigned long long>(generation));
  return {text.data(), static_cast<size_t>(length)};
}

std::string ShardName(uint64_t generation, uint32_t number) {
  AUGUR_CHECK(generation >= 1 && generation <= kGenerationMax);
  std::array<char, 48> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "shard-%08llu-%05u", static_cast<unsigned long long>(generation), number);
  return {text.data(), static_cast<size_t>(length)};
}

std::string RenderManifest(const Manifest& manifest) {
  std::string text = std::string(kFirstKey) + std::to_string(manifest.version) + "\n";
  text += "generation " + std::to_string(manifest.generation) + "\n";
  text += "index " + IndexName(manifest.generation) + "\n";
  text += "index-bytes " + std::to_string(manifest.index_bytes) + "\n";
  text += "index-id " + manifest.index_id + "\n";
  text += "writer " + manifest.writer + "\n";
  if (!manifest.note.empty()) text += manifest.note + "\n";
  text += std::string(kChecksumKey) + HexOf(SumOf(text)) + "\n";
  AUGUR_CHECK(text.size() <= format::kManifestBytesMax);
  return text;
}

Result<Manifest> ParseManifest(std::string_view text) {
  if (text.size() > format::kManifestBytesMax) return BadManifest("over 4096 bytes");
  std::string_view rest = text;
  const std::optional<std::string_view> first = TakeLine(&rest);
  if (!first.has_value() || !first->starts_with(kFirstKey)) {
    return BadManifest("the first line is not 'augurfs-store 2' or 'augurfs-store 1': not the manifest of a store");
  }
  const std::string_view version = first->substr(kFirstKey.size());
  const std::optional<uint64_t> version_number = ParseNumber(version, 10);
  if (!version_number.has_value()) return BadManifest("version " + Quoted(version) + " is not a number");
  const bool known = *version_number >= format::kVersionMin && *version_number <= format::kVersion;
  if (!known || version != std::to_string(*version_number)) {
    return Status(Code::kUnsupported, "format version " + std::string(version) +
                                          ", this program reads versions 1 and 2: use a newer AugurFS");
  }
  for (const char c : text) {
    if (c != '\n' && (c < ' ' || c > '~')) return BadManifest("a byte that is not ASCII text");
  }

  Fields fields;
  while (true) {
    const size_t line_offset = text.size() - rest.size();
    const std::optional<std::string_view> line = TakeLine(&rest);
    if (!line.has_value()) return BadManifest("it does not end with a checksum line: truncated");
    if (!line->starts_with(kChecksumKey)) {
      AUGUR_TRY(TakeField(*line, &fields));
      continue;
    }
    const std::optional<uint64_t> sum = ParseHex64(line->substr(kChecksumKey.size()));
    if (!sum.has_value()) return BadManifest("the checksum is not 16 lower-case hex digits");
    if (*sum != SumOf(text.substr(0, line_offset))) return BadManifest("checksum mismatch");
    if (!rest.empty()) return BadManifest("text after the checksum line");
    return FromFields(static_cast<uint32_t>(*version_number), fields);
  }
}

Result<Manifest> ReadManifestAt(int folder_fd) {
  Result<UniqueFd> opened = OpenRegularAt(folder_fd, kManifestName, O_RDONLY, Links::kFollow, kManifestName);
  if (opened.status().code() == Code::kNotFound) {
    return Status(Code::kNotFound, "not a store: there is no manifest in it (augurpack create makes a store)");
  }
  if (opened.status().code() == Code::kInvalid) return BadManifest(opened.status().text());
  if (opened.status().code() == Code::kPermission) {
    return Status(Code::kPermission, opened.status().text() +
                                         ": only users who may read the store can use it: be one " +
                                         "of them, or let its owner do chmod -R a+rX");
  }
  if (!opened.ok()) return opened.status();
  const UniqueFd fd = std::move(opened).value();
  std::array<char, format::kManifestBytesMax + 1> text{};
  size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(fd.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, kManifestName);
    if (got == 0) break;
    length += static_cast<size_t>(got);
  }
  Result<Manifest> manifest = ParseManifest({text.data(), length});
  if (!manifest.ok()) return manifest.status().In(kManifestName);
  return manifest;
}

Result<Manifest> ReadManifest(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, folder);
  Result<Manifest> manifest = ReadManifestAt(fd.get());
  if (!manifest.ok()) return manifest.status().In(folder);
  return manifest;
}

}  // namespace augur
