// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "augur/status.h"
#include "pack/tree_source.h"
#include "remote/bucket_client.h"
#include "remote/object_client.h"
#include "s3/object_url.h"

namespace augur {

// BucketSource is the tree of the objects of a bucket below an address: a '/' in a key begins a folder. Each folder is
// listed by requests of its own, so that what the filter leaves out costs none. An object has mode 0644 and the time
// when it was written; a folder has 0755 and 1970, as a bucket keeps no time of it. An object whose key ends in '/' and
// that is empty stands for its folder, as programs write it. A key that is no path (an empty part, '.', '..', a NUL) is
// a problem. So is an object whose ETag or size is another than that of the list. A failure to list is one of all
// files, as are those of the server.
class BucketSource final : public TreeSource {
 public:
  // `stopped`: as for BucketClient. kInvalid: a web server, or the address of an object. kNotFound: nothing is below
  // the address. Others as BucketClient::List.
  static Result<std::unique_ptr<BucketSource>> Open(std::shared_ptr<ObjectClient> client,
                                                    std::function<bool()> stopped);

  // The store that is written, which is not packed into itself. REQUIRES: no lister is made yet. kInvalid: it is the
  // source.
  Status LeaveOut(const ObjectUrl& store);

  std::string Describe(const std::string& path) const override;
  Attributes attributes() const override;
  std::unique_ptr<FolderLister> MakeLister(const PathFilter& filter) const override;
  Result<std::unique_ptr<SourceFile>> OpenFile(const Found& found) const override;
  bool IsFailureOfAll(const Status& status) const override;

  const BucketClient& client() const { return client_; }
  // What the keys of the folder `path` begin with.
  std::string KeyPrefix(const std::string& path) const;
  // Whether the folder is the store.
  bool IsStore(const std::string& path) const { return has_store_ && path == store_; }

 private:
  BucketSource(std::shared_ptr<ObjectClient> client, std::function<bool()> stopped);
  Status CheckThatItIsThere() const;

  const BucketClient client_;
  bool has_store_ = false;
  std::string store_;  // path
};

}  // namespace augur
