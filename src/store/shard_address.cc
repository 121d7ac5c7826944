// SPDX-License-Identifier: Apache-2.0
#include "store/shard_address.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/units.h"

namespace augur {
namespace {

constexpr std::string_view kSchemeEnd = "://";
constexpr size_t kKeyBytesMax = 1024;

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsLetterOrDigit(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

const char* BucketDefect(std::string_view bucket) {
  const bool valid =
      !bucket.empty() && std::ranges::all_of(bucket, [](char c) { return IsLowerOrDigit(c) || c == '-' || c == '.'; });
  return valid ? nullptr : "an address whose bucket has no bucket's name";
}

// Of HOST, HOST:PORT or [IPV6]:PORT.
const char* HostDefect(std::string_view place) {
  constexpr const char* kNoHost = "an address whose host has no host's name";
  const bool in_brackets = place.starts_with('[');
  const size_t bracket = in_brackets ? place.find(']') : 0;
  if (bracket == std::string_view::npos) return kNoHost;
  const size_t colon = place.find(':', bracket);
  const std::string_view host = in_brackets ? place.substr(1, bracket - 1) : place.substr(0, colon);
  const bool valid = !host.empty() && std::ranges::all_of(host, [&](char c) {
    return IsLetterOrDigit(c) || c == '-' || c == '.' || c == '_' || (in_brackets && c == ':');
  });
  const size_t host_end = in_brackets ? bracket + 1 : host.size();
  if (!valid || host_end != std::min(colon, place.size())) return kNoHost;
  if (colon == std::string_view::npos) return nullptr;
  const std::string_view digits = place.substr(colon + 1);
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool is_port = error == std::errc() && end == digits.data() + digits.size() && port > 0;
  return is_port ? nullptr : "an address whose port is no number from 1 to 65,535";
}

// Undoes %XX, as a server does before it looks for a file.
std::string Decoded(std::string_view path, bool* valid) {
  std::string decoded;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      decoded += path[i];
      continue;
    }
    uint8_t byte = 0;
    const std::string_view digits = path.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    *valid = *valid && digits.size() == 2 && error == std::errc() && end == digits.data() + 2;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

// Of a path without its first '/'.
const char* PartsDefect(std::string_view path) {
  if (path.empty()) return "an address that names no object";
  while (true) {
    const size_t end = path.find('/');
    const std::string_view part = path.substr(0, end);
    if (part.empty()) return "an address with an empty part";
    if (part == "." || part == "..") return "an address with '.' or '..' in it";
    if (end == std::string_view::npos) return nullptr;
    path.remove_prefix(end + 1);
  }
}

const char* PathDefect(std::string_view path) {
  const bool visible = std::ranges::all_of(path, [](char c) { return c > ' ' && c < 0x7f; });
  if (!visible) return "an address with a byte in it that must be encoded";
  if (path.find('#') != std::string_view::npos) return "an address with a '#' in it";
  bool valid = true;
  const std::string decoded = Decoded(path, &valid);
  if (!valid || decoded.find('\0') != std::string::npos) return "an address with a '%' that encodes nothing";
  if (std::ranges::count(decoded, '/') != std::ranges::count(path, '/')) return "an address with an encoded '/'";
  return PartsDefect(decoded);
}

}  // namespace

const char* AddressDefect(std::string_view locator) {
  const size_t scheme_bytes = locator.find(kSchemeEnd);
  if (scheme_bytes == std::string_view::npos) return "an address without a scheme";
  const std::string_view scheme = locator.substr(0, scheme_bytes);
  const bool is_s3 = scheme == "s3";
  if (!is_s3 && scheme != "https" && scheme != "http") return "an address of an unknown scheme";
  const std::string_view rest = locator.substr(scheme_bytes + kSchemeEnd.size());
  const size_t slash = rest.find('/');
  const std::string_view place = rest.substr(0, slash);
  const std::string_view path = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  if (place.find('@') != std::string_view::npos) return "an address with a user or a password";
  if (rest.find('?') != std::string_view::npos) return "an address with a query";
  if (const char* defect = is_s3 ? BucketDefect(place) : HostDefect(place)) return defect;
  if (!is_s3) return PathDefect(path);
  return path.size() > kKeyBytesMax ? "an address with a key over 1,024 bytes" : PartsDefect(path);
}

bool IsAddress(std::string_view locator) {
  const size_t end = locator.find(kSchemeEnd);
  return end != std::string_view::npos && end < locator.find('/');
}

std::string FolderOfAddress(std::string_view address) { return std::string(address.substr(0, address.rfind('/'))); }

Status AddressNotAllowed(const ShardInfo& info) {
  const std::string folder = Printable(FolderOfAddress(info.locator));
  return {Code::kPermission, Printable(info.locator) +
                                 ": the store names this address, and requests to it are not allowed: to allow them, "
                                 "mount with -o foreign=" +
                                 folder + ", or give augurpack --foreign=" + folder};
}

}  // namespace augur
