// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// An object that was sent whole, as the server then said.
struct SentObject {
  std::string name;
  uint64_t bytes = 0;
  std::string etag;
};

// What a packer noted of the generation that it sends to a bucket.
struct SendProgress {
  uint64_t generation = 0;
  std::string claim;     // the text of its claim, one line
  std::string old_etag;  // of the manifest when it began; empty: there was none
  std::vector<SentObject> sent;
};

// SendJournal is a file in the work folder of a packer that says which objects it has sent, so that a later run goes on
// from there after a kill. A line is on the disk before the packer gives its own copy of the object away. Safe from any
// thread.
class SendJournal {
 public:
  // What the journal in the folder says; nothing: there is none, or it is none of ours. A last line that is cut off
  // counts as not written.
  static std::optional<SendProgress> Read(const std::string& folder);
  // Begins a journal with `progress`, in place of any that is there. Failures of the system.
  static Result<SendJournal> Begin(const std::string& folder, const SendProgress& progress);

  Status Add(const SentObject& object) const;

 private:
  SendJournal(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  // Constant after construction.
  std::string path_;
  UniqueFd fd_;
};

}  // namespace augur
