// SPDX-License-Identifier: Apache-2.0
#include "s3/object_url.h"

#include <curl/curl.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/excerpt.h"
#include "s3/ascii_case.h"
#include "s3/uri_encoding.h"

namespace augur {
namespace {

constexpr std::string_view kS3Scheme = "s3";

// The scheme in lower case; empty: the text has none.
std::string SchemeOf(std::string_view text) {
  const size_t end = text.find("://");
  if (end == std::string_view::npos) return {};
  const std::string scheme = LowerCase(text.substr(0, end));
  const bool valid = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
  return valid ? scheme : "";
}

std::string_view WithoutSlashesAtEnd(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  return text;
}

// The cause, if the name is no bucket's. https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
std::string BucketDefect(std::string_view bucket) {
  if (bucket.empty()) return "it names no bucket: s3://BUCKET/PREFIX/train.augur is the form";
  if (bucket.starts_with("arn:")) {
    return "ARNs are not taken: an access point has an alias (aws s3control get-access-point), which is taken as a "
           "bucket";
  }
  for (const char c : bucket) {
    if (c >= 'A' && c <= 'Z') return "a bucket's name has no upper-case letters: are they meant to be lower-case?";
    const bool valid = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!valid) {
      return "a bucket's name has lower-case letters, digits, '-' and '.' only; a server other than AWS is named by "
             "endpoint-url=";
    }
  }
  if (bucket.size() < 3 || bucket.size() > 63) return "a bucket's name has 3 to 63 characters";
  const auto is_edge = [](char c) { return c == '-' || c == '.'; };
  if (is_edge(bucket.front()) || is_edge(bucket.back()) || bucket.find("..") != std::string_view::npos)
    return "a bucket's name begins and ends with a letter or digit, and has no two dots in a row";
  return {};
}

std::string CureOfScheme(const std::string& scheme) {
  if (scheme == "gs") return "use s3://BUCKET/... with endpoint-url=https://storage.googleapis.com and an HMAC key";
  if (scheme == "az" || scheme == "azure" || scheme == "abfs" || scheme == "abfss" || scheme == "wasb")
    return "use https://ACCOUNT.blob.core.windows.net/CONTAINER/...?SAS, a shared access signature of the container";
  if (scheme == "s3a" || scheme == "s3n") return "use s3://";
  return "s3:// and https:// are known";
}

using UrlParts = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

// A part as it was typed, or decoded; empty where there is none, or where it has a control character.
std::string PartOf(const UrlParts& url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owned(text, &curl_free);
  return text;
}

// Bytes that no URL may have as they are, but that people type: a space, and all beyond ASCII.
std::string WithoutUnsafeBytes(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool unsafe = c == ' ' || static_cast<unsigned char>(c) >= 0x80;
    safe += unsafe ? UriEncode({&c, 1}, Slashes::kEncode) : std::string(1, c);
  }
  return safe;
}

// What an error may repeat of an address that could not be read: nothing in front of an '@', and no query.
std::string ShownUrl(std::string_view text) {
  const std::string_view scheme = text.substr(0, text.find("://") + 3);
  const std::string_view rest = text.substr(scheme.size());
  const size_t at = rest.rfind('@');
  const std::string_view place = at == std::string_view::npos ? rest : rest.substr(at + 1);
  // An '@' behind the '?' may belong to either.
  const bool is_clear = at == std::string_view::npos || at < rest.find_first_of("?#");
  return std::string(scheme) + (is_clear ? Excerpt(place.substr(0, place.find_first_of("?#"))) : "...");
}

bool IsOwnMachine(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

}  // namespace

bool ObjectUrl::IsUrl(std::string_view text) { return !SchemeOf(text).empty(); }

Result<ObjectUrl> ObjectUrl::Parse(std::string_view text) {
  const std::string scheme = SchemeOf(text);
  if (scheme == kS3Scheme) return ParseS3(text.substr(kS3Scheme.size() + 3));
  if (scheme == "https" || scheme == "http") return ParseHttp(text);
  if (scheme.empty()) return Status(Code::kInvalid, "'" + Excerpt(text) + "' is no address: s3://... or https://...");
  return Status(Code::kInvalid, scheme + "://: not a kind of address that is known: " + CureOfScheme(scheme));
}

Result<ObjectUrl> ObjectUrl::ParseS3(std::string_view rest) {
  const size_t slash = rest.find('/');
  const std::string_view bucket = rest.substr(0, slash);
  const std::string_view key = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  const size_t question = rest.find('?');
  if (question != std::string_view::npos) {
    return Status(Code::kInvalid, "s3://" + Excerpt(rest.substr(0, question)) +
                                      "?...: an s3:// address has no query; a presigned address begins with https://");
  }
  if (bucket.find('@') != std::string_view::npos) {
    return Status(
        Code::kInvalid,
        "s3://...@...: an s3:// address has no user and no password: keys come from the environment or a profile");
  }
  if (const std::string defect = BucketDefect(bucket); !defect.empty())
    return Status(Code::kInvalid, "s3://" + Excerpt(rest) + ": " + defect);
  if (key.size() > 1024) return Status(Code::kInvalid, "s3://" + Excerpt(rest) + ": a key has at most 1,024 bytes");
  ObjectUrl url;
  url.bucket_ = bucket;
  url.folder_ = WithoutSlashesAtEnd(key);
  url.for_log_ = Excerpt("s3://" + url.bucket_ + (url.folder_.empty() ? "" : "/") + url.folder_, 2048);
  return url;
}

Result<ObjectUrl> ObjectUrl::ParseHttp(std::string_view text) {
  const std::string context = ShownUrl(text);
  // libcurl would take the first part of the path for the host.
  if (const size_t host = text.find("://") + 3; host == text.size() || text[host] == '/')
    return Status(Code::kInvalid, context + ": it names no host: https://HOST/PATH/train.augur is the form");
  const UrlParts parts(curl_url(), &curl_url_cleanup);
  AUGUR_CHECK(parts != nullptr);
  const std::string safe = WithoutUnsafeBytes(text);
  const CURLUcode error = curl_url_set(parts.get(), CURLUPART_URL, safe.c_str(), CURLU_PATH_AS_IS);
  if (error != CURLUE_OK || safe.find('\0') != std::string::npos) {
    return Status(Code::kInvalid,
                  context + ": " + curl_url_strerror(error == CURLUE_OK ? CURLUE_MALFORMED_INPUT : error));
  }
  if (text.find('#') != std::string_view::npos)
    return Status(Code::kInvalid, context + "#...: an address has no part behind '#'; a '#' of a name is written %23");

  const std::string host = PartOf(parts, CURLUPART_HOST);
  const std::string port = PartOf(parts, CURLUPART_PORT);
  const std::string user = PartOf(parts, CURLUPART_USER);
  const std::string password = PartOf(parts, CURLUPART_PASSWORD);
  const std::string query = PartOf(parts, CURLUPART_QUERY);
  const std::string path = PartOf(parts, CURLUPART_PATH);
  const std::string prefix = PartOf(parts, CURLUPART_SCHEME) + "://";
  const std::string place = host + (port.empty() ? "" : ":" + port) + std::string(WithoutSlashesAtEnd(path));

  ObjectUrl url;
  url.folder_ = prefix;
  if (!user.empty() || !password.empty()) url.folder_ += user + ":" + password + "@";
  url.folder_ += place;
  if (!query.empty()) url.query_ = "?" + query;
  url.public_ = prefix + place;
  url.server_ = LowerCase(prefix + host + (port.empty() ? "" : ":" + port));
  url.path_ = WithoutSlashesAtEnd(PartOf(parts, CURLUPART_PATH, CURLU_URLDECODE));
  url.for_log_ = Excerpt(prefix + place, 2048);
  if (prefix == "http://" && !IsOwnMachine(host)) {
    const bool secret = !query.empty() || !password.empty();
    url.warning_ = url.for_log_ + ": http:// is not encrypted: others on the network can read the data" +
                   (secret ? ", and the query and password of this address," : "") +
                   " and can send another store; use https://, or name the store by root-hash=";
  }
  return url;
}

std::string ObjectUrl::KeyOf(std::string_view name) const {
  AUGUR_CHECK(is_s3());
  if (name.starts_with('/')) return std::string(name.substr(1));
  if (folder_.empty() || name.empty()) return folder_ + std::string(name);
  return folder_ + "/" + std::string(name);
}

std::string ObjectUrl::UrlOf(std::string_view name) const {
  AUGUR_CHECK(!is_s3());
  return folder_ + (name.empty() ? "" : "/") + UriEncode(name, Slashes::kKeep) + query_;
}

std::optional<std::string> ObjectUrl::NameOf(const ObjectUrl& object) const {
  if (object.bucket_ != bucket_ || object.server_ != server_) return std::nullopt;
  const std::string& folder = is_s3() ? folder_ : path_;
  const std::string& path = is_s3() ? object.folder_ : object.path_;
  const bool is_clear = is_s3() || (object.query_.empty() && object.folder_.find('@') == std::string::npos);
  const bool is_in = folder.empty() || path == folder || path.starts_with(folder + "/");
  if (!is_clear || !is_in) return std::nullopt;
  if (is_s3()) return "/" + path;
  return path == folder ? std::string() : path.substr(folder.size() + 1);
}

std::string ObjectUrl::ForLog(std::string_view name) const {
  if (is_s3() && name.starts_with('/')) return "s3://" + bucket_ + Excerpt(name);
  return for_log_ + (name.empty() ? "" : "/") + Excerpt(name);
}

}  // namespace augur
