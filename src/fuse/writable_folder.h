// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "base/mount_table.h"

namespace augur {

// WritableFolder is the folder of -o writable=: the folders that an overlay needs beside the mount, and the changes
// that were written through it. A value; says where things are, and makes them.
//
//   DIR/lower   where the mount itself is; read-only.
//   DIR/upper   files and folders that were written, changed or removed, as overlayfs keeps them.
//   DIR/work    of overlayfs.
//   DIR/of      which tree the upper folder belongs to: Claim.
//   DIR/overlay which overlay of an ordinary user is over it: NoteOverlay.
class WritableFolder {
 public:
  // `path` is absolute.
  explicit WritableFolder(std::string path) : path_(std::move(path)) {}

  // Makes the folder and those in it, if missing, but none above it. From then on path() has no link and no ".."
  // in it, as the mount table names it. `point` is where the overlay will be. kInvalid: the path has a character that a
  // list of overlay options cannot have, or one of the two folders lies in the other one. Or the folder has files of
  // something else, and was never claimed. kNotFound: the folder above it is missing. kPermission: in a program of
  // root, others may write to the folder. Others as OpenTrustedFolder. After a failure nothing is left of what it made.
  // REQUIRES: called once.
  Status Make(const std::string& point);

  // Makes sure that the upper folder belongs to this tree: `tree` is lines of "name value" that say which one it is. At
  // first it takes the owner and mode of the lower folder, whose mount must answer. kChanged: it belongs to another
  // tree; names the difference, and the cure. kIo, kNoSpace: the folder cannot be written.
  Status Claim(const std::string& tree);

  // For a mount that failed: removes what Make and Claim of this object, or of the one that it is a copy of, have made.
  // A folder with something in it stays. REQUIRES: no overlay was laid, and nothing is mounted at lower() any more.
  void Undo() const;

  // Writes down which overlay is over this folder now, for augurctl: the device of its row in the mount table. A
  // failure is that of the file system.
  Status NoteOverlay(const std::string& device) const;

  const std::string& path() const { return path_; }
  std::string lower() const { return path_ + "/" + kLowerFolder; }
  std::string upper() const { return path_ + "/upper"; }
  std::string work() const { return path_ + "/work"; }

 private:
  // Makes path_ what Make says, and finds out whether the folder is there.
  Status Resolve();
  // Makes the folder and those in it, where they are missing; writes down which it made.
  Status MakeFolders();

  std::string path_;
  // What this object has made.
  bool is_new_ = false;
  bool is_claimed_ = false;        // the file `of`
  std::vector<std::string> made_;  // folders in it, in this order
};

}  // namespace augur
