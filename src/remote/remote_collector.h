// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "augur/status.h"
#include "remote/generation_claim.h"
#include "remote/object_client.h"
#include "remote/object_writer.h"
#include "remote/s3_answers.h"
#include "store/manifest.h"

namespace augur {

struct RemoteCollectReport {
  uint64_t removed_objects = 0;
  uint64_t removed_bytes = 0;
  uint64_t ended_uploads = 0;        // that were not complete
  uint64_t kept_generations = 0;     // earlier ones that are too young
  std::vector<std::string> packers;  // that may be at work, whose objects are kept: who, and since when
};

// RemoteCollector removes what no reader of the current generation of a store in a bucket needs. These are earlier
// generations that have not been current for some time, multipart uploads that are not complete, and what killed
// packers left. Objects with names that no store has stay.
//
// A bucket has no locks, so a packer that was killed looks like one that is at work. What a packer has written that has
// not published is kept until it has written nothing for some time. Then it is removed in an order that is safe all the
// same: before, the manifest is written anew, with a line that readers ignore, so it has another ETag. A packer that
// began before cannot publish any more, and is told so. One that begins later takes another generation: the claims are
// removed last. One thread, one Run; not the client's thread.
class RemoteCollector {
 public:
  struct Options {
    std::string program;                           // its name and version
    std::string copies;                            // as for RemotePlace
    std::chrono::seconds grace{0};                 // a generation is kept for so long after the next one was written
    std::chrono::seconds quiet_max{24 * 60 * 60};  // a packer that has written nothing for longer is taken for killed
    std::function<bool()> stopped;                 // whether the user has ended the run; any thread
  };
  RemoteCollector(std::shared_ptr<ObjectClient> client, Options options);
  // Gives up the claim.
  ~RemoteCollector();
  RemoteCollector(const RemoteCollector&) = delete;
  RemoteCollector& operator=(const RemoteCollector&) = delete;

  // kNotFound: there is no store. kBusy: another packer has published just now. kUnsupported: the server has no
  // conditions. Others as Store::Open, and of the server. After a failure some may be removed already.
  Result<RemoteCollectReport> Run();

 private:
  // The objects and uploads of one generation that the current one does not need.
  struct Leftover {
    std::vector<ListedObject> objects;
    std::vector<ListedObject> uploads;
    UtcTime newest{};  // when something of it was written
  };

  Status ReadManifest();
  Status FindNeeded();
  Status FindObjects();
  void Add(const ListedObject& object, bool upload);
  // Leaves out of `found_` what earlier generations need that were current less than the grace ago.
  Status KeepYoung(RemoteCollectReport& report);
  // Leaves out of `found_` the generations of packers that may be at work, and reports them.
  Status KeepThoseAtWork(RemoteCollectReport& report);
  Status StopPackers();
  Status Remove(RemoteCollectReport& report);

  // Constant after construction.
  const std::shared_ptr<ObjectClient> client_;
  const Options options_;

  ObjectWriter writer_;
  GenerationClaim claim_;  // after the writer
  Manifest manifest_;
  std::string etag_;                     // of the manifest
  std::set<std::string> needed_;         // names of objects
  std::map<uint64_t, Leftover> found_;   // by generation: what may be removed
  std::map<uint64_t, UtcTime> indexes_;  // by generation, up to the current one: when its index was written
  UtcTime now_{};                        // by the server's clock
};

}  // namespace augur
