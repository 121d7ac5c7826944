// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "augur/status.h"
#include "augur/store.h"
#include "base/unique_fd.h"
#include "store/manifest.h"

namespace augur {

// GenerationUpload takes the files of a generation to a store that is not in the folder where they are written: to a
// bucket. A StoreWriter calls it, one call at a time. It must outlive the writer.
class GenerationUpload {
 public:
  virtual ~GenerationUpload() = default;

  // The generation to write. No other writer has it.
  virtual uint64_t generation() const = 0;
  // The store that is appended to; nullptr where the tree starts anew.
  virtual std::shared_ptr<const Store> old() const = 0;
  // Whether this run goes on with the generation of a killed one, whose shards are in the folder. Of those that were
  // sent, the folder has headers and catalogues, and holes for the records.
  virtual bool goes_on() const = 0;
  // Takes over a file of the folder that is complete, and removes its name there once it is sent. May wait until
  // earlier files are sent, so that the folder stays small. A failure may be that of an earlier file. kStopped: the
  // user has ended the run.
  virtual Status Take(const std::string& name, UniqueFd file, uint64_t bytes) = 0;
  // The same for a shard of the killed run, which stays in the folder until the end. Nothing to do where it was sent.
  virtual Status TakeLeft(const std::string& name, UniqueFd file, uint64_t bytes) = 0;
  // Waits until all files are there, then makes this generation the one that readers see. kExists: another writer has
  // published a generation meanwhile, and no reader sees this one.
  virtual Status Publish(const Manifest& manifest) = 0;
};

}  // namespace augur
