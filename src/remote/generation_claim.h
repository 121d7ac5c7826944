// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "augur/status.h"
#include "remote/object_writer.h"
#include "remote/s3_answers.h"

namespace augur {

// "writer-00000003": the object with which a packer claims a generation. REQUIRES: as IndexName.
std::string ClaimName(uint64_t generation);
// The generation that an object of a store belongs to. Nothing: it is the manifest, or none of ours.
std::optional<uint64_t> GenerationOfObject(const std::string& name);
// Puts claims behind all others, in which order objects are removed: while a claim stands, no packer takes its
// generation.
void ClaimsLast(std::vector<ListedObject>& objects);

// GenerationClaim holds a generation of a store in a bucket for one process, which no other packer takes then. It is an
// object that was written by a PUT that takes effect only where there is no such object. One thread. Its end leaves the
// claim where it is.
class GenerationClaim {
 public:
  // `program`: its name and version, for those who see the claim. The writer must outlive it.
  GenerationClaim(ObjectWriter& writer, const std::string& program);

  // Claims a generation above `published` that has no object. kBusy: other packers claim each.
  Status Take(uint64_t published);
  // Goes on with a claim that an earlier process of this user made and noted. kExists: the claim is not there any more,
  // or is another one.
  Status GoOn(uint64_t generation, const std::string& text);
  // kUnsupported: the server ignores the condition by which a manifest is replaced, or, where there is none, made.
  // REQUIRES: Take has succeeded.
  Status Probe(bool replaces) const;
  Status Remove() const { return writer_.Remove(ClaimName(generation_)); }

  // 0: none is claimed.
  uint64_t generation() const { return generation_; }
  // Says who has claimed it, by words that no other claim has.
  const std::string& text() const { return text_; }

 private:
  Status TryGeneration(uint64_t generation, bool* mine) const;

  ObjectWriter& writer_;
  std::string text_;
  uint64_t generation_ = 0;
};

}  // namespace augur
