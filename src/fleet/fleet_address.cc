// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_address.h"

#include <algorithm>
#include <charconv>

#include "base/units.h"

namespace augur {
namespace {

constexpr std::string_view kForm = "HOST:PORT is wanted, such as node7:11211 or [fd00::7]:11211";
constexpr size_t kHostBytesMax = 253;  // of a name in the DNS

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsOfName(char c) { return IsLetter(c) || IsDigit(c) || c == '.' || c == '-'; }
bool IsOfNumber6(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}
bool Separates(char c) { return c == '_' || c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

std::string FleetAddress::text() const {
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<FleetAddress> ParseFleetAddress(std::string_view text) {
  const auto wrong = [text] {
    return Status(Code::kInvalid,
                  "'" + Printable(std::string(text)) + "' is no address of a server: " + std::string(kForm));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  FleetAddress address;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size() || address.port == 0) return wrong();
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  const bool good = brackets ? std::ranges::all_of(host, IsOfNumber6) && host.find(':') != std::string_view::npos
                             : std::ranges::all_of(host, IsOfName);
  if (host.empty() || host.size() > kHostBytesMax || !good) return wrong();
  address.host = host;
  return address;
}

Result<std::vector<FleetAddress>> ParseFleetAddresses(std::string_view text) {
  std::vector<FleetAddress> addresses;
  size_t at = 0;
  while (at < text.size()) {
    if (Separates(text[at])) {
      ++at;
    } else if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else {
      const size_t begin = at;
      while (at < text.size() && !Separates(text[at]) && text[at] != '#') ++at;
      AUGUR_TRY_ASSIGN(address, ParseFleetAddress(text.substr(begin, at - begin)));
      if (std::ranges::find(addresses, address) != addresses.end()) {
        return Status(Code::kInvalid, address.text() + " is there twice");
      }
      addresses.push_back(std::move(address));
    }
  }
  if (addresses.empty()) return Status(Code::kInvalid, "there is no server in the list: " + std::string(kForm));
  if (addresses.size() > kFleetMembersMax) {
    return Status(Code::kInvalid, std::to_string(addresses.size()) + " servers are more than the " +
                                      std::to_string(kFleetMembersMax) + " that a list may have");
  }
  return addresses;
}

}  // namespace augur
