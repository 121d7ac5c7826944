// SPDX-License-Identifier: Apache-2.0
#include "http/http_request.h"

#include "base/excerpt.h"

namespace augur {

std::string_view HttpResponse::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::string UrlWithoutSecrets(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  std::string_view scheme;
  if (const size_t end = url.find("://"); end != std::string_view::npos) {
    scheme = url.substr(0, end + 3);
    url.remove_prefix(end + 3);
  }
  const std::string_view authority = url.substr(0, url.find('/'));
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) url.remove_prefix(at + 1);
  return Excerpt(std::string(scheme).append(url));
}

}  // namespace augur
