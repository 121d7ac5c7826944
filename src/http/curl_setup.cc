// SPDX-License-Identifier: Apache-2.0
#include "http/curl_setup.h"

#include <curl/curl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <mutex>

namespace augur {
namespace {

constexpr const char* kCaCure =
    "it must be a readable file of certificates in PEM (AWS_CA_BUNDLE or the option for the CA bundle names it)";

// Where systems other than that of the build have it: Debian and Ubuntu, Red Hat, openSUSE, Alpine.
constexpr std::array kCaBundles = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                   "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

}  // namespace

Status SetUpCurl() {
  // Never undone: other parts of the process may use libcurl until its end.
  static const CURLcode outcome = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (outcome != CURLE_OK) {
    return {Code::kUnsupported, std::string("libcurl cannot be initialised: ") + curl_easy_strerror(outcome)};
  }
  if ((curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_SSL) == 0) {
    return {Code::kUnsupported, "this libcurl has no TLS: install libcurl4 (OpenSSL)"};
  }
  return Status::Ok();
}

Status CheckCaBundle(const std::string& path) {
  const std::string context = "CA bundle " + path;
  std::ifstream file(path, std::ios::binary);
  if (!file) return ErrnoStatus(errno, context).In(kCaCure);
  constexpr size_t kBytesMax = 16 << 20;  // the system's own has 200 KB
  std::string text(kBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return ErrnoStatus(errno, context).In(kCaCure);
  text.resize(static_cast<size_t>(file.gcount()));
  // OpenSSL reads both.
  if (text.find("-----BEGIN CERTIFICATE-----") == std::string::npos &&
      text.find("-----BEGIN TRUSTED CERTIFICATE-----") == std::string::npos) {
    return {Code::kInvalid, context + ": no certificate in it; " + kCaCure};
  }
  return Status::Ok();
}

std::string SystemCaBundle() {
  const char* const named = curl_version_info(CURLVERSION_NOW)->cainfo;
  std::string path = named == nullptr ? "" : named;
  if (path.empty() || access(path.c_str(), R_OK) == 0) return path;
  for (const char* const other : kCaBundles) {
    if (access(other, R_OK) == 0) return other;
  }
  return path;
}

}  // namespace augur
