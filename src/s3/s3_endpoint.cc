// SPDX-License-Identifier: Apache-2.0
#include "s3/s3_endpoint.h"

#include <array>
#include <utility>

#include "base/excerpt.h"
#include "s3/object_url.h"

namespace augur {
namespace {

struct Partition {
  std::string_view regions;  // how their names begin
  std::string_view domain;
};

// botocore/data/partitions.json of botocore 1.44.8. The first that fits.
constexpr std::array kPartitions = {
    Partition{"cn-", "amazonaws.com.cn"},    Partition{"eusc-", "amazonaws.eu"},
    Partition{"us-iso-", "c2s.ic.gov"},      Partition{"us-isob-", "sc2s.sgov.gov"},
    Partition{"eu-isoe-", "cloud.adc-e.uk"}, Partition{"us-isof-", "csp.hci.ic.gov"},
    Partition{"", "amazonaws.com"},
};

bool IsAwsHost(std::string_view host) {
  host = host.substr(0, host.rfind(':'));
  for (const Partition& partition : kPartitions) {
    if (host.ends_with("." + std::string(partition.domain))) return true;
  }
  return false;
}

// Whether the endpoint's name with the bucket in front is one that a certificate "*.s3.REGION.amazonaws.com" covers.
bool FitsHostName(std::string_view bucket, std::string_view scheme) {
  return scheme == "http" || bucket.find('.') == std::string_view::npos;
}

}  // namespace

std::string AwsDomain(std::string_view region) {
  for (const Partition& partition : kPartitions) {
    if (region.starts_with(partition.regions)) return std::string(partition.domain);
  }
  return "amazonaws.com";
}

std::string S3Target::Url(const NameValues& query) const {
  const std::string parameters = CanonicalQuery(query);
  return scheme + "://" + host + path + (parameters.empty() ? "" : "?") + parameters;
}

S3Endpoint::S3Endpoint(std::string scheme, std::string host, std::string path)
    : scheme_(std::move(scheme)),
      host_(std::move(host)),
      path_(std::move(path)),
      is_aws_(IsAwsHost(host_)),
      path_style_(!is_aws_) {}

S3Endpoint S3Endpoint::OfAws(const std::string& region, AwsEndpointKind kind) {
  const std::string service = std::string(kind.fips ? "s3-fips" : "s3") + (kind.dual_stack ? ".dualstack." : ".");
  // S3 has them in the domain of the partition, unlike other services (botocore, data/s3/*/endpoint-rule-set-1.json).
  return {"https", service + region + "." + AwsDomain(region), ""};
}

Result<S3Endpoint> S3Endpoint::Parse(std::string_view url) {
  constexpr std::string_view kForm = ": https://HOST:PORT is the form, or http://HOST:PORT, without query or password";
  if (!ObjectUrl::IsUrl(url)) return Status(Code::kInvalid, "'" + Excerpt(url) + "'" + std::string(kForm));
  const Result<ObjectUrl> parsed = ObjectUrl::Parse(url);
  if (!parsed.ok()) return parsed.status();
  const std::string plain = parsed->is_s3() ? "" : parsed->UrlOf({});
  if (plain.empty() || plain != parsed->ForLog()) return Status(Code::kInvalid, parsed->ForLog() + std::string(kForm));
  const size_t host = plain.find("://") + 3;
  const size_t path = plain.find('/', host);
  std::string scheme = plain.substr(0, host - 3);
  std::string name = plain.substr(host, path == std::string::npos ? path : path - host);
  const std::string default_port = scheme == "https" ? ":443" : ":80";
  if (name.ends_with(default_port)) name.resize(name.size() - default_port.size());
  return S3Endpoint(std::move(scheme), std::move(name), path == std::string::npos ? "" : plain.substr(path));
}

S3Target S3Endpoint::Bucket(std::string_view bucket) const {
  if (path_style_ || !FitsHostName(bucket, scheme_))
    return {.scheme = scheme_, .host = host_, .path = path_ + "/" + UriEncode(bucket, Slashes::kEncode)};
  return {.scheme = scheme_, .host = std::string(bucket) + "." + host_, .path = path_ + "/"};
}

S3Target S3Endpoint::Object(std::string_view bucket, std::string_view key) const {
  S3Target target = Bucket(bucket);
  if (!target.path.ends_with('/')) target.path += '/';
  target.path += UriEncode(key, Slashes::kKeep);
  return target;
}

std::string S3Endpoint::ForLog() const { return scheme_ + "://" + host_ + path_; }

}  // namespace augur
