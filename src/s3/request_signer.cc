// SPDX-License-Identifier: Apache-2.0
#include "s3/request_signer.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/sha256_algorithm.h"
#include "s3/ascii_case.h"

namespace augur {
namespace {

using Sum = std::array<unsigned char, 32>;

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

// A context of HMAC-SHA-256 to copy from: to make one looks the digest up by its name.
EVP_MAC_CTX* HmacModel() {
  static EVP_MAC_CTX* const model = [] {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    AUGUR_CHECK(mac != nullptr);
    EVP_MAC_CTX* const context = EVP_MAC_CTX_new(mac);
    AUGUR_CHECK(context != nullptr);
    char name[] = "SHA256";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
                                 OSSL_PARAM_construct_end()};
    AUGUR_CHECK(EVP_MAC_CTX_set_params(context, params) == 1);
    return context;
  }();
  return model;
}

Sum Sha256Of(std::string_view text) {
  Sum sum;
  AUGUR_CHECK(EVP_Digest(text.data(), text.size(), sum.data(), nullptr, Sha256Algorithm(), nullptr) == 1);
  return sum;
}

Sum Hmac(std::span<const unsigned char> key, std::string_view text) {
  const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(EVP_MAC_CTX_dup(HmacModel()),
                                                                          &EVP_MAC_CTX_free);
  AUGUR_CHECK(context != nullptr);
  AUGUR_CHECK(EVP_MAC_init(context.get(), key.data(), key.size(), nullptr) == 1);
  AUGUR_CHECK(EVP_MAC_update(context.get(), reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1);
  Sum sum;
  size_t bytes = 0;
  AUGUR_CHECK(EVP_MAC_final(context.get(), sum.data(), &bytes, sum.size()) == 1 && bytes == sum.size());
  return sum;
}

std::string Hex(const Sum& sum) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * sum.size());
  for (const unsigned char byte : sum) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

// Without blanks at its ends, and with one space for each run of them.
std::string TrimmedValue(std::string_view value) {
  std::string trimmed;
  trimmed.reserve(value.size());
  bool blank = false;
  for (const char c : value) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      blank = true;
      continue;
    }
    if (blank && !trimmed.empty()) trimmed += ' ';
    blank = false;
    trimmed += c;
  }
  return trimmed;
}

bool IsAddedBySigner(std::string_view name) {
  return name == "host" || name == "x-amz-date" || name == "x-amz-content-sha256" || name == "x-amz-security-token" ||
         name == "authorization";
}

// The headers in the order of their whole names, each name once.
struct CanonicalHeaders {
  std::string lines;  // "name:value\n" each
  std::string names;  // "a;b"
};

CanonicalHeaders Canonical(NameValues headers) {
  std::stable_sort(headers.begin(), headers.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  CanonicalHeaders canonical;
  for (size_t i = 0; i < headers.size(); ++i) {
    const auto& [name, value] = headers[i];
    if (i > 0 && headers[i - 1].first == name) {
      canonical.lines.back() = ',';
    } else {
      if (i > 0) canonical.names += ';';
      canonical.names += name;
      canonical.lines += name;
      canonical.lines += ':';
    }
    canonical.lines += value;
    canonical.lines += '\n';
  }
  return canonical;
}

}  // namespace

std::string PayloadHash(std::string_view bytes) { return Hex(Sha256Of(bytes)); }

RequestSigner::RequestSigner(std::string region, std::string service)
    : region_(std::move(region)), service_(std::move(service)) {}

RequestSigner::Sum RequestSigner::KeyOf(const std::string& secret, std::string_view day) const {
  const MutexLock lock(mu_);
  if (last_.day != day || last_.secret != secret) {
    const std::string first = "AWS4" + secret;
    Sum key = Hmac(std::span(reinterpret_cast<const unsigned char*>(first.data()), first.size()), day);
    key = Hmac(key, region_);
    key = Hmac(key, service_);
    key = Hmac(key, "aws4_request");
    last_ = {.secret = secret, .day = std::string(day), .key = key};
  }
  return last_.key;
}

NameValues RequestSigner::Sign(const SignableRequest& request, const Credentials& credentials, UtcTime time) const {
  if (credentials.anonymous()) return {};
  const std::string date = AmzDate(time);
  const std::string_view day = std::string_view(date).substr(0, 8);

  NameValues added;
  added.reserve(4);
  added.emplace_back("x-amz-date", date);
  if (service_ == "s3") added.emplace_back("x-amz-content-sha256", request.payload_hash);
  if (!credentials.session_token.empty()) added.emplace_back("x-amz-security-token", credentials.session_token);

  NameValues headers;
  headers.reserve(request.headers.size() + added.size() + 1);
  for (const auto& [name, value] : request.headers) {
    headers.emplace_back(LowerCase(name), TrimmedValue(value));
    AUGUR_CHECK(!IsAddedBySigner(headers.back().first));
  }
  headers.emplace_back("host", request.host);
  headers.insert(headers.end(), added.begin(), added.end());
  const CanonicalHeaders canonical = Canonical(std::move(headers));

  std::string text;
  text.reserve(512 + canonical.lines.size() + request.path.size());
  text.append(request.method).append("\n").append(request.path).append("\n");
  text.append(CanonicalQuery(request.query)).append("\n");
  text.append(canonical.lines).append("\n");
  text.append(canonical.names).append("\n").append(request.payload_hash);

  std::string scope(day);
  scope.append("/").append(region_).append("/").append(service_).append("/aws4_request");
  std::string to_sign(kAlgorithm);
  to_sign.append("\n").append(date).append("\n").append(scope).append("\n").append(Hex(Sha256Of(text)));
  const std::string signature = Hex(Hmac(KeyOf(credentials.secret_access_key, day), to_sign));

  std::string authorization(kAlgorithm);
  authorization.append(" Credential=").append(credentials.access_key_id).append("/").append(scope);
  authorization.append(", SignedHeaders=").append(canonical.names).append(", Signature=").append(signature);
  added.emplace_back("authorization", std::move(authorization));
  return added;
}

}  // namespace augur
