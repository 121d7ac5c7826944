// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "augur/status.h"
#include "remote/object_client.h"
#include "remote/object_writer.h"
#include "store/manifest.h"

namespace augur {

// PublishInDoubt finds out what came of a request to publish a generation of a store in a bucket that has failed. The
// answer to an earlier attempt may have been lost, so the manifest that is there decides. Generations only grow: while
// the manifest has a lower one, ours was never published. A higher one may have been made before ours could be, or from
// ours. Then its shards decide, and at last the claim: who publishes in place of others removes their claims. One
// thread; not the client's.
class PublishInDoubt {
 public:
  struct Ours {
    Manifest manifest;
    uint64_t old_generation = 0;  // which ours was to follow; 0: none
    std::string claim;            // the text of our claim
  };

  PublishInDoubt(std::shared_ptr<ObjectClient> client, const ObjectWriter& writer, Ours ours)
      : client_(std::move(client)), writer_(writer), ours_(std::move(ours)) {}

  // OK: ours was published. `put`: the failure of the request. `lost`: whether it is certain that ours was not and will
  // not be, so that its objects may be removed. The text of a failure says that ours was not published, or that this is
  // not known; and what to do.
  Status Resolve(const Status& put, bool* lost) const;

 private:
  // Of a generation after ours.
  Status ResolveLater(const Manifest& there, bool* lost) const;
  // Whether the current store has a shard of our generation.
  Result<bool> IsBuiltOnOurs() const;
  // Whether our claim stands.
  Result<bool> IsClaimed() const;
  Status NotKnown(const Status& cause) const;
  Status OtherPacker(const std::string& who) const;

  const std::shared_ptr<ObjectClient> client_;
  const ObjectWriter& writer_;
  const Ours ours_;
};

}  // namespace augur
