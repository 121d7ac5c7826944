// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "base/unique_fd.h"
#include "remote/remote_generation.h"
#include "tools/augurpack_options.h"
#include "tools/commands/pack_session.h"
#include "tools/commands/pack_source.h"

namespace augur {

// PackTarget is where a command packs to: the store's folder, or, for a store in a bucket, a work folder, with what
// sends its files away. It must outlive the writer. Its end removes the work folder, but not after a failure with
// --resume. The folder has the store's name in its own, so that a later run finds it; a second run at the same time
// gets another one.
class PackTarget {
 public:
  // Claims a generation in a bucket. kInvalid: an option or an address does not fit. Failures as
  // RemoteGeneration::Begin where the store is in a bucket, else none.
  static Result<std::unique_ptr<PackTarget>> Make(const PackOptions& options, WriteMode mode);
  ~PackTarget();
  PackTarget(const PackTarget&) = delete;
  PackTarget& operator=(const PackTarget&) = delete;

  // That the writer writes to.
  const std::string& folder() const { return folder_; }
  // nullptr: the store is in the folder.
  GenerationUpload* upload() const { return generation_.get(); }
  // What to do after a failure, where the store is in a bucket.
  std::string_view FarCure(const Status& status) const;
  // Ends the writer, and says why the command failed, what it leaves and what to do. `resume_cure`: how to go on from
  // the files left in the store's folder. Returns the exit status.
  int Fail(const Status& failure, StoreWriter& writer, PackSession& session,
           std::string_view resume_cure = kResumeCure) const;

 private:
  PackTarget() = default;
  static Result<std::unique_ptr<PackTarget>> MakeFar(const PackOptions& options, WriteMode mode);

  // Makes the work folder, or takes that of a killed run for the same store.
  Status OpenFolder(const PackOptions& options);

  std::string folder_;
  UniqueFd lock_;  // on the folder, where other runs for the same store find it
  bool owns_folder_ = false;
  bool resume_ = false;  // what an earlier run has left is to be kept
  std::unique_ptr<RemoteGeneration> generation_;
};

}  // namespace augur
