// SPDX-License-Identifier: Apache-2.0
#include "remote/generation_claim.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <span>
#include <string_view>

#include "s3/utc_time.h"
#include "store/manifest.h"
#include "store/store_folder.h"

namespace augur {
namespace {

constexpr std::string_view kClaimPrefix = "writer-";
// Each attempt that fails is another packer that began in the same second.
constexpr int kClaimsMax = 100;
// No object has it: an ETag of S3 is an MD5, or ends in the number of parts.
constexpr const char* kWrongETag = "\"augurpack-probe\"";

std::string ClaimText(const std::string& writer) {
  std::random_device random;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::array<char, 33> id{};
  std::snprintf(id.data(), id.size(), "%08x%08x%08x%08x", random(), random(), random(), random());
  return writer + " on " + host.data() + ", process " + std::to_string(::getpid()) + ", since " + IsoTime(UtcNow()) +
         ", " + id.data() + "\n";
}

std::span<const std::byte> BytesOfText(const std::string& text) { return std::as_bytes(std::span(text)); }

uint64_t NewestOf(const std::vector<ListedObject>& objects) {
  uint64_t newest = 0;
  for (const ListedObject& object : objects) newest = std::max(newest, GenerationOfObject(object.key).value_or(0));
  return newest;
}

}  // namespace

std::string ClaimName(uint64_t generation) {
  return std::string(kClaimPrefix) + IndexName(generation).substr(std::string_view("index-").size());
}

std::optional<uint64_t> GenerationOfObject(const std::string& name) {
  std::string known = name;
  // A claim has the digits of an index.
  if (name.starts_with(kClaimPrefix)) known.replace(0, kClaimPrefix.size(), "index-");
  const std::optional<StoreFile> file = ClassifyStoreFile(known);
  if (!file || file->generation == 0) return std::nullopt;
  return file->generation;
}

void ClaimsLast(std::vector<ListedObject>& objects) {
  std::stable_partition(objects.begin(), objects.end(),
                        [](const ListedObject& object) { return !object.key.starts_with(kClaimPrefix); });
}

GenerationClaim::GenerationClaim(ObjectWriter& writer, const std::string& program)
    : writer_(writer), text_(ClaimText(program)) {}

Status GenerationClaim::TryGeneration(uint64_t generation, bool* mine) const {
  const std::string name = ClaimName(generation);
  Status put = writer_.Put(name, BytesOfText(text_), PutCondition::IfNew());
  *mine = put.ok();
  if (put.code() != Code::kExists) return put;
  // It may be ours, when the answer to an earlier attempt was lost.
  const Result<std::string> there = writer_.Get(name, nullptr);
  *mine = there.ok() && *there == text_;
  return there.ok() || there.status().code() == Code::kNotFound ? Status::Ok() : there.status();
}

Status GenerationClaim::Take(uint64_t published) {
  for (int attempt = 0; attempt < kClaimsMax; ++attempt) {
    AUGUR_TRY_ASSIGN(before, writer_.List());
    const uint64_t next = std::max(NewestOf(before), published) + 1;
    if (next > kGenerationMax) return {Code::kInvalid, writer_.ForLog() + ": no generation number is left"};
    bool mine = false;
    if (Status status = TryGeneration(next, &mine); !status.ok()) {
      // The request may have had its effect all the same.
      writer_.IgnoreStop();
      const Result<std::string> there = writer_.Get(ClaimName(next), nullptr);
      if (there.ok() && *there == text_) (void)writer_.Remove(ClaimName(next));
      return status;
    }
    if (!mine) continue;
    // A packer that had this generation may have published it, and given up its claim, since the list.
    const Result<std::vector<ListedObject>> after = writer_.List();
    const bool taken = after.ok() && std::any_of(after->begin(), after->end(), [next](const ListedObject& object) {
                         return object.key != ClaimName(next) && GenerationOfObject(object.key) == next;
                       });
    if (after.ok() && !taken) {
      generation_ = next;
      return Status::Ok();
    }
    AUGUR_TRY(writer_.Remove(ClaimName(next)));
    if (!after.ok()) return after.status();
  }
  return {Code::kBusy, writer_.ForLog() + ": other packers claim each generation: try again later"};
}

Status GenerationClaim::GoOn(uint64_t generation, const std::string& text) {
  const std::string name = ClaimName(generation);
  const Result<std::string> there = writer_.Get(name, nullptr);
  if (!there.ok() && there.status().code() != Code::kNotFound) return there.status();
  if (!there.ok() || *there != text) return {Code::kExists, writer_.ForLog(name) + ": is not the claim that was made"};
  generation_ = generation;
  text_ = text;
  return Status::Ok();
}

Status GenerationClaim::Probe(bool replaces) const {
  const PutCondition condition = replaces ? PutCondition::IfSame(kWrongETag) : PutCondition::IfNew();
  Status put = writer_.Put(ClaimName(generation_), BytesOfText(text_), condition);
  if (put.code() == Code::kExists) return Status::Ok();
  if (!put.ok() && put.code() != Code::kUnsupported) return put;
  return {Code::kUnsupported,
          writer_.ForLog() + ": this server ignores conditions (" + (replaces ? "If-Match" : "If-None-Match") +
              "), so two packers could destroy each other's store: pack into a folder, and copy that into the bucket"};
}

}  // namespace augur
