// SPDX-License-Identifier: Apache-2.0
#include "tools/remote_options.h"

namespace augur {

std::vector<Option> RemoteOptionRows(OptionPlace place) {
  std::vector<Option> rows = {
      {.name = "region",
       .value = "NAME",
       .kind = OptionKind::kText,
       .brief = "region of the bucket",
       .text = "Default: AWS_REGION, AWS_DEFAULT_REGION, the profile's, the machine's, us-east-1; then the region that "
               "the server names."},
      {.name = "endpoint-url",
       .value = "URL",
       .kind = OptionKind::kText,
       .brief = "S3 server that is not AWS's",
       .text = "Such as https://storage.googleapis.com with HMAC keys, or a server of one's own. Default: "
               "AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's, AWS."},
      {.name = "profile",
       .value = "NAME",
       .kind = OptionKind::kText,
       .brief = "profile of ~/.aws/config and ~/.aws/credentials",
       .text =
           "Default: AWS_PROFILE, or the profile 'default'. Without keys in the environment or a profile, they come "
           "from a web identity, a container's or an instance's role."},
      {.name = "no-sign-request", .brief = "read a public bucket without credentials"},
      {.name = "force-path-style",
       .brief = "name the bucket in the path, not in the host",
       .text = "It is so by itself where the server is not AWS's."},
      {.name = "requester-pays", .brief = "pay for the requests to a bucket that asks for it"},
      {.name = "ca-bundle",
       .value = "PATH",
       .kind = OptionKind::kText,
       .brief = "certificates of the authorities to trust",
       .text = "In PEM. Default: AWS_CA_BUNDLE, or the system's."},
      {.name = "expected-bucket-owner",
       .value = "ID",
       .kind = OptionKind::kText,
       .brief = "account that the bucket must belong to"},
      {.name = "io-timeout",
       .value = "SECONDS",
       .kind = OptionKind::kCount,
       .default_value = "60",
       .min = 1,
       .max = 86'400,
       .brief = "how long a read waits for the server",
       .text = "While the server cannot be reached readers wait, and get EIO after this time."},
      {.name = "max-requests",
       .value = "N",
       .kind = OptionKind::kCount,
       .default_value = "64",
       .min = 4,
       .max = 1024,
       .brief = "most requests in flight that no reader waits for",
       .text = "Fewer are made where more do not bring more, or where the server asks for it."},
  };
  for (Option& row : rows) {
    row.place = place;
    row.category = "Stores on S3 and HTTPS";
  }
  return rows;
}

RemoteOptions ReadRemoteOptions(const Values& values, OptionPlace place) {
  const std::string prefix = place == OptionPlace::kMount ? "-o " : "";
  const auto text = [&](const char* name) { return values.Text(prefix + name); };
  const auto given = [&](const char* name) { return values.Given(prefix + name); };
  return {.s3 = {.region = text("region"),
                 .endpoint_url = text("endpoint-url"),
                 .profile = text("profile"),
                 .ca_bundle = text("ca-bundle"),
                 .expected_bucket_owner = text("expected-bucket-owner"),
                 .no_sign_request = given("no-sign-request"),
                 .force_path_style = given("force-path-style"),
                 .requester_pays = given("requester-pays")},
          .io_timeout = std::chrono::seconds(values.Number(prefix + "io-timeout")),
          .requests_max = static_cast<unsigned>(values.Number(prefix + "max-requests")),
          .foreign = {},
          .own_bucket = true,
          .fleet = {},
          .fleet_self = {}};
}

}  // namespace augur
