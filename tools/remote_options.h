// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "augur/status.h"
#include "fleet/fleet_list.h"
#include "fleet/fleet_self.h"
#include "s3/s3_options.h"
#include "tools/options.h"

namespace augur {

// How a store in a bucket or on a web server is read, as the user has said it.
struct RemoteOptions {
  S3Options s3;
  std::chrono::seconds io_timeout{60};  // after so long without an answer a read fails
  unsigned requests_max = 64;           // in flight, of those that no reader waits for
  // Addresses of objects, or of their folders, that may be shards although they lie outside the store's folder.
  std::vector<std::string> foreign;
  // Of a store in a bucket, also all objects of that bucket: for programs that show a user what his own credentials let
  // him read.
  bool own_bucket = true;
  FleetList fleet;  // of a mount: whose cache has records of the store; empty: there is none
  FleetSelf fleet_self;
};

// The options of stores far away, for a program (--region) or a mount (-o region=). Names are those of mountpoint-s3
// where it has them.
std::vector<Option> RemoteOptionRows(OptionPlace place);
// The mount options of a fleet.
std::vector<Option> FleetRows();

// The values that such options have.
RemoteOptions ReadRemoteOptions(const Values& values, OptionPlace place);
// ... into `options`. kInvalid: the list or this machine's server is not one.
Status ReadFleet(const Values& values, RemoteOptions& options);

}  // namespace augur
