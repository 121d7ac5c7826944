// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/glob.h"
#include "pack/listing.h"

namespace augur {

// One thing below the source.
struct Found {
  std::string path;  // relative to the source
  FoundKind kind = FoundKind::kFile;
  Attributes attributes;
  uint64_t size = 0;  // of a file
  std::string text;   // target of a symbolic link; of a file, what the source that listed it needs to open it
  Status problem;     // of kProblem
};

// SourceFile is a file of a source, open. Safe from any thread; calls wait for the disk or the server.
class SourceFile {
 public:
  virtual ~SourceFile() = default;

  // As it was opened.
  uint64_t bytes() const { return bytes_; }
  const Attributes& attributes() const { return attributes_; }
  // Reads up to `out.size()` bytes from `offset` on, less only at the end of the file. Returns how many.
  virtual Result<size_t> ReadAt(std::span<std::byte> out, uint64_t offset) const = 0;
  // kChanged: it is not as it was opened any more, so that the bytes read may be of two states.
  virtual Status CheckUnchanged() const = 0;

 protected:
  SourceFile(uint64_t bytes, const Attributes& attributes) : bytes_(bytes), attributes_(attributes) {}

 private:
  const uint64_t bytes_;
  const Attributes attributes_;
};

// FolderLister reads one folder of a source after the other into a Listing. One thread.
class FolderLister {
 public:
  virtual ~FolderLister() = default;
  // Adds the items of the folder `path` to `listing`. What cannot be read becomes an item of kProblem there, with the
  // folder's own failure under the empty name. A failure ends the run.
  virtual Status List(const std::string& path, Listing& listing) = 0;
  // Of the last List.
  virtual uint64_t files() const = 0;
  virtual uint64_t bytes() const = 0;
};

// TreeSource is a tree that can be packed: a folder of this system (SourceFolder), or the objects of a bucket below a
// prefix (BucketSource). Safe from any thread.
class TreeSource {
 public:
  virtual ~TreeSource() = default;

  // "SRC/path", printable.
  virtual std::string Describe(const std::string& path) const = 0;
  // Of the root.
  virtual Attributes attributes() const = 0;
  // A lister for one more thread. `filter` and the source outlive it.
  virtual std::unique_ptr<FolderLister> MakeLister(const PathFilter& filter) const = 0;
  // kChanged: it is no regular file any more. The source outlives the file.
  virtual Result<std::unique_ptr<SourceFile>> OpenFile(const Found& found) const = 0;
  // Whether a failure to read one file would be that of all others, so that a run must not go on without the file.
  virtual bool IsFailureOfAll(const Status& /*status*/) const { return false; }
};

}  // namespace augur
