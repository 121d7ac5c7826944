// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "augur/status.h"
#include "s3/environment.h"
#include "s3/profile_files.h"
#include "s3/s3_endpoint.h"
#include "s3/uri_encoding.h"

namespace augur {

// What the user has typed. Names and meanings are those of mountpoint-s3, but for ca-bundle, which the AWS programs
// have as a variable and a key. Empty: not given.
struct S3Options {
  std::string region = {};                 // region=
  std::string endpoint_url = {};           // endpoint-url=
  std::string profile = {};                // profile=
  std::string ca_bundle = {};              // ca-bundle=
  std::string expected_bucket_owner = {};  // expected-bucket-owner=
  bool no_sign_request = false;            // no-sign-request
  bool force_path_style = false;           // force-path-style
  bool requester_pays = false;             // requester-pays
};

// The region of the machine, or a failure: it is in no cloud. Asked only where nothing else says it.
using RegionOfMachine = std::function<Result<std::string>()>;

// S3Settings are what follows from the options, the variables and the profile. A value type.
struct S3Settings {
  S3Endpoint endpoint = S3Endpoint::OfAws("us-east-1");
  std::string region = {};
  std::string region_source = {};  // for messages: "the option region=", "AWS_REGION", "profile 'train'", "the default"
  bool region_is_given = false;    // by the user: a server that names another is an error, not a redirect to follow
  std::string profile = {};        // its name
  bool profile_is_option = false;  // then the variables with keys are not looked at
  std::string ca_bundle = {};      // path; empty: the system's
  std::string sts_endpoint = {};   // "https://sts.eu-west-1.amazonaws.com"
  int attempts_max = 10;           // of one request, the first included
  bool anonymous = false;          // requests are not signed
  NameValues headers = {};         // of every request: x-amz-request-payer, x-amz-expected-bucket-owner

  bool endpoint_is_given = false;  // by the user or the profile

  // The same in another region, which the server has named. An endpoint that is given stays.
  S3Settings InRegion(const std::string& other) const;

  AwsEndpointKind endpoint_kind = {};
  bool force_path_style = false;
};

// The first that is there counts:
//   region        option, AWS_REGION, AWS_DEFAULT_REGION, profile's region, the machine's (AWS's endpoint only),
//                 us-east-1
//   endpoint      option, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, profile's services and endpoint_url, that of the
//   region.
//                 AWS_IGNORE_CONFIGURED_ENDPOINT_URLS and the key of that name leave all but the option out
//   CA bundle     option, AWS_CA_BUNDLE, profile's ca_bundle
//   attempts      AWS_MAX_ATTEMPTS, profile's max_attempts, 10
// Also AWS_USE_FIPS_ENDPOINT, AWS_USE_DUALSTACK_ENDPOINT and their keys. kInvalid: a value that is wrong, with where it
// is from and the form that is taken; a profile that was asked for by name and is not there.
Result<S3Settings> ResolveS3Settings(const S3Options& options, const Environment& environment,
                                     const ProfileFiles& files, const RegionOfMachine& region_of_machine);

}  // namespace augur
