// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/adopt.h"
#include "pack/pack_observer.h"
#include "remote/bucket_client.h"

namespace augur {

struct AdoptObjectsOptions {
  // Keys of uncompressed tars, or patterns of them: '*' and '[...]' match within a part of a key, "**" across parts.
  std::vector<std::string> patterns;
  std::string store;  // key of the store's folder
  TarLayout layout;
};

// Adds what is in tars that are objects of the client's bucket to `writer`, as AdoptTars does: each is read once, as a
// stream, and named by a path relative to the store's folder. Tars of a pattern come in the order of their keys.
// Memory: 72 MiB. kNotFound: a pattern matches no object. kInvalid: a key that is no path. Others as AdoptTars and
// BucketClient.
Status AdoptObjects(const AdoptObjectsOptions& options, const BucketClient& client, StoreWriter& writer,
                    PackObserver& observer);

}  // namespace augur
