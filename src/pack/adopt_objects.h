// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/adopt.h"
#include "pack/pack_observer.h"
#include "remote/object_client.h"
#include "s3/object_url.h"

namespace augur {

// Containers that are objects: one address, or a pattern of addresses in a bucket, where '*' and '[...]' match within a
// part of a key and "**" across parts. The client is that of the address.
struct ContainerAddress {
  ObjectUrl url;
  std::shared_ptr<ObjectClient> client;
};

struct AdoptObjectsOptions {
  std::vector<ContainerAddress> containers;
  std::optional<ObjectUrl> store;  // nothing: it is in a folder
  ContainerLayout layout;
  std::function<bool()> stopped;  // whether the user has ended the run; any thread
};

// Does for containers that are objects what AdoptFiles does for files: each is read once, as a stream. Those of
// the store's bucket are named by a path relative to the store's folder, others by their address without query and
// password. Those of a pattern come in the order of their keys. Memory: 72 MiB. kNotFound: there is no such object.
// kInvalid: a key or an address that no store can name. Others as AdoptFiles and BucketClient.
Status AdoptObjects(const AdoptObjectsOptions& options, StoreWriter& writer, PackObserver& observer);

}  // namespace augur
