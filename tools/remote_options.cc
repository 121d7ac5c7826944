// SPDX-License-Identifier: Apache-2.0
#include "tools/remote_options.h"

#include <utility>

namespace augur {

std::vector<Option> RemoteOptionRows(OptionPlace place) {
  std::vector<Option> rows = {
      {.name = "region",
       .value = "NAME",
       .kind = OptionKind::kText,
       .brief = "region of the bucket",
       .text = "Default: AWS_REGION, AWS_DEFAULT_REGION, the profile's, the machine's, us-east-1; then the region that "
               "the server names. 'The machine's' is that of the instance, and is asked for only where the server is "
               "AWS's."},
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
       .text = "Its keys are taken, and not those of the environment or of a web identity. Default: the keys of the "
               "environment, then the profile of AWS_PROFILE or 'default'. Where there are none, the role of a web "
               "identity, of the container or of the instance."},
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
       .brief = "account that the bucket must belong to",
       .text = "By its 12 digits. A request to a bucket of another account is refused. Default: any account."},
      {.name = "io-timeout",
       .value = "SECONDS",
       .kind = OptionKind::kCount,
       .default_value = "60",
       .min = 1,
       .max = 86'400,
       .brief = "how long a read waits for the server",
       .text = "While the server cannot be reached readers wait, and get an input/output error after this time. "
               "Commands of augurpack end with an error then."},
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

std::vector<Option> FleetRows() {
  return {
      {.name = "fleet-cache",
       .value = "LIST",
       .kind = OptionKind::kText,
       .brief = "share records of a store on a server with other machines",
       .text = "LIST names memcached servers, the same on all machines: HOST:PORT_HOST:PORT, or @FILE with one on a "
               "line, which is read again every minute. A record is asked of the server that it belongs to before the "
               "store's server is asked. Run each as 'memcached -M -I 2m -m MEGABYTES'. They have no encryption and no "
               "password: use a private network. Every record is checked by its SHA-256. A server that is slow, full "
               "or gone costs its share of the records. Each machine reads its share of the store into the fleet, see "
               "fleet-self=. Default: no fleet."},
      {.name = "fleet-self",
       .value = "HOST:PORT",
       .kind = OptionKind::kText,
       .brief = "the server of fleet-cache= that is this machine's",
       .text =
           "In the words of the list. It says which share of the store this machine reads into the fleet for all, in "
           "requests of 8 MiB, behind all that readers need. 'none': this machine reads only what its own readers "
           "need; right where a job reads a small part of the store. Default: the only server of the list that has "
           "this machine's name or an address of its network interfaces; if there are none or several, as for none."},
  };
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

Status ReadFleet(const Values& values, RemoteOptions& options) {
  if (values.Given("-o fleet-cache")) {
    Result<FleetList> fleet = FleetList::Parse(values.Text("-o fleet-cache"));
    if (!fleet.ok()) return fleet.status().In("-o fleet-cache");
    options.fleet = *std::move(fleet);
  }
  if (values.Given("-o fleet-self")) {
    Result<FleetSelf> self = FleetSelf::Parse(values.Text("-o fleet-self"));
    if (!self.ok()) return self.status().In("-o fleet-self");
    options.fleet_self = *std::move(self);
  }
  return Status::Ok();
}

}  // namespace augur
