// SPDX-License-Identifier: Apache-2.0
#include "s3/s3_options.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/excerpt.h"
#include "base/text_file.h"
#include "base/units.h"

namespace augur {
namespace {

constexpr char kDefaultRegion[] = "us-east-1";
constexpr uint64_t kAttemptsMax = 100;

// A value and who gave it.
struct Setting {
  std::string value = {};
  std::string source = {};
};

// Where settings are looked for beside the options.
struct Surroundings {
  const Environment& environment;
  const ProfileFiles& files;
  const std::string& profile;

  // The variables in their order, then the key of the profile.
  Setting Find(const std::vector<std::string_view>& variables, std::string_view key) const {
    const std::string_view variable = environment.FirstSet(variables);
    if (!variable.empty()) return {.value = environment.Get(variable), .source = std::string(variable)};
    const std::string& value = files.Get(profile, key);
    if (!value.empty()) return {.value = value, .source = "profile '" + profile + "'"};
    return {};
  }
  bool IsTrue(std::string_view variable, std::string_view key) const { return IsTrueWord(Find({variable}, key).value); }
  // The address of a service that a variable or the profile gives.
  Setting Endpoint(const std::string& service, std::string_view variable) const {
    if (IsTrue("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "ignore_configured_endpoint_urls")) return {};
    const std::string_view set = environment.FirstSet({variable, "AWS_ENDPOINT_URL"});
    if (!set.empty()) return {.value = environment.Get(set), .source = std::string(set)};
    return {.value = files.EndpointUrl(profile, service), .source = "profile '" + profile + "'"};
  }
};

Status Wrong(const Setting& setting, const std::string& form) {
  return {Code::kInvalid, setting.source + ": '" + Excerpt(setting.value) + "': " + form};
}

// A region becomes a part of a host's name.
Status CheckRegion(const Setting& region) {
  const bool valid = std::all_of(region.value.begin(), region.value.end(),
                                 [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  return valid ? Status::Ok() : Wrong(region, "a region has lower-case letters, digits and '-' only, as eu-west-1");
}

Status CheckProfile(const S3Options& options, const Surroundings& around) {
  if (!ProfileIsNamed(options.profile, around.environment) || around.files.Find(around.profile) != nullptr)
    return Status::Ok();
  const std::string& absence = around.files.Absence();
  return {Code::kInvalid, "profile '" + Excerpt(around.profile) + "' is in neither of " + around.files.Names() +
                              (absence.empty() ? "" : " (" + absence + ")") +
                              ": name one that is there by profile= or AWS_PROFILE"};
}

Result<int> AttemptsMax(const Surroundings& around, int fallback) {
  const Setting setting = around.Find({"AWS_MAX_ATTEMPTS"}, "max_attempts");
  if (setting.value.empty()) return fallback;
  const Result<uint64_t> count = ParseCount(setting.value);
  if (!count.ok() || *count == 0 || *count > kAttemptsMax)
    return Wrong(setting, "the attempts of a request are a number of 1 to " + std::to_string(kAttemptsMax));
  return static_cast<int>(*count);
}

Result<NameValues> CommonHeaders(const S3Options& options) {
  NameValues headers;
  if (options.requester_pays) headers.emplace_back("x-amz-request-payer", "requester");
  const std::string& owner = options.expected_bucket_owner;
  if (owner.empty()) return headers;
  const bool digits = std::all_of(owner.begin(), owner.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (owner.size() != 12 || !digits)
    return Wrong({.value = owner, .source = "expected-bucket-owner"}, "an account of AWS has 12 digits");
  headers.emplace_back("x-amz-expected-bucket-owner", owner);
  return headers;
}

Result<std::string> CaBundle(const S3Options& options, const Surroundings& around) {
  const Setting setting = options.ca_bundle.empty() ? around.Find({"AWS_CA_BUNDLE"}, "ca_bundle")
                                                    : Setting{.value = options.ca_bundle, .source = "ca-bundle"};
  if (setting.value.empty()) return setting.value;
  const Result<std::string> file = ReadTextFile(setting.value);
  if (!file.ok()) return Status(Code::kInvalid, setting.source + ": " + file.status().text());
  if (file->find("-----BEGIN") == std::string::npos)
    return Wrong(setting, "it has no certificates: a file in PEM format is wanted");
  return setting.value;
}

// `machine` may be empty: then it is not asked.
Setting RegionSetting(const S3Options& options, const Surroundings& around, const RegionOfMachine& machine) {
  if (!options.region.empty()) return {.value = options.region, .source = "the option region="};
  Setting region = around.Find({"AWS_REGION", "AWS_DEFAULT_REGION"}, "region");
  if (!region.value.empty()) return region;
  if (machine) {
    const Result<std::string> found = machine();
    if (found.ok()) return {.value = *found, .source = "this machine's metadata"};
  }
  return {.value = kDefaultRegion, .source = "the default"};
}

}  // namespace

S3Settings S3Settings::InRegion(const std::string& other) const {
  S3Settings moved = *this;
  moved.region = other;
  moved.region_source = "the server";
  if (!endpoint_is_given) moved.endpoint = S3Endpoint::OfAws(other, endpoint_kind);
  if (force_path_style) moved.endpoint.ForcePathStyle();
  return moved;
}

Result<S3Settings> ResolveS3Settings(const S3Options& options, const Environment& environment,
                                     const ProfileFiles& files, const RegionOfMachine& region_of_machine) {
  S3Settings settings;
  settings.profile = ProfileName(options.profile, environment);
  settings.profile_is_option = !options.profile.empty();
  settings.anonymous = options.no_sign_request;
  settings.force_path_style = options.force_path_style;
  const Surroundings around = {.environment = environment, .files = files, .profile = settings.profile};
  if (!settings.anonymous) AUGUR_TRY(CheckProfile(options, around));
  AUGUR_TRY_ASSIGN(headers, CommonHeaders(options));
  settings.headers = std::move(headers);
  AUGUR_TRY_ASSIGN(attempts_max, AttemptsMax(around, settings.attempts_max));
  settings.attempts_max = attempts_max;
  AUGUR_TRY_ASSIGN(ca_bundle, CaBundle(options, around));
  settings.ca_bundle = std::move(ca_bundle);
  settings.endpoint_kind = {.fips = around.IsTrue("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint"),
                            .dual_stack = around.IsTrue("AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint")};

  const Setting endpoint = options.endpoint_url.empty()
                               ? around.Endpoint("s3", "AWS_ENDPOINT_URL_S3")
                               : Setting{.value = options.endpoint_url, .source = "the option endpoint-url="};
  settings.endpoint_is_given = !endpoint.value.empty();
  const Setting region = RegionSetting(options, around, settings.endpoint_is_given ? nullptr : region_of_machine);
  AUGUR_TRY(CheckRegion(region));
  settings.region = region.value;
  settings.region_source = region.source;
  settings.region_is_given = !options.region.empty();
  settings.endpoint = S3Endpoint::OfAws(settings.region, settings.endpoint_kind);
  if (!endpoint.value.empty()) {
    Result<S3Endpoint> parsed = S3Endpoint::Parse(endpoint.value);
    if (!parsed.ok()) return parsed.status().In(endpoint.source);
    settings.endpoint = std::move(parsed).value();
  }
  if (settings.force_path_style) settings.endpoint.ForcePathStyle();
  const Setting sts = around.Endpoint("sts", "AWS_ENDPOINT_URL_STS");
  settings.sts_endpoint = "https://sts." + settings.region + "." + AwsDomain(settings.region);
  if (!sts.value.empty()) {
    const Result<S3Endpoint> parsed = S3Endpoint::Parse(sts.value);
    if (!parsed.ok()) return parsed.status().In(sts.source);
    settings.sts_endpoint = parsed->ForLog();
  }
  return settings;
}

}  // namespace augur
