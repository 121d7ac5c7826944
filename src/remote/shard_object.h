// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "remote/object_client.h"
#include "remote/stored_object.h"

namespace augur {

// A shard that is an object, and who reads it.
struct ShardObject {
  std::shared_ptr<ObjectClient> client;
  std::shared_ptr<StoredObject> object;
};

}  // namespace augur
