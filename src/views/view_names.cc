// SPDX-License-Identifier: Apache-2.0
#include "views/view_names.h"

#include "base/check.h"

namespace augur {

std::string_view StemOf(std::string_view name) {
  const size_t dot = name.rfind('.');
  const size_t first = name.find_first_not_of('.');
  const bool has_ending = dot != std::string_view::npos && first != std::string_view::npos && dot > first;
  return has_ending ? name.substr(0, dot) : name;
}

namespace {

std::string Join(std::string_view one, std::string_view other) { return std::string(one).append(other); }

}  // namespace

// Why no two names are equal. An image is named short, S(m) = stem + ending, or long, L(n) = n + ending, once or more
// often; an ending is what its last dot begins.
//  - S(m) = S(n): then neither is short.
//  - S(m) = the name of another entry: then m is not short.
//  - L(n) = a name that stays: then n gets its ending once more.
//  - L(n) = L(m), n with more endings than m: m would be n with endings, and each of those names was passed because an
//    entry has it that is no image; m is one.
//  - S(m) = L(n): the stem of m would be n, an image, or n with endings, a name that stays and ends as m does: with
//    either m is not short.

// The first entry whose name is not below `name`. Begins at `near` and goes away from it in growing steps, since what
// is asked for is mostly a neighbour. Ends whatever the names are.
Result<uint64_t> ViewNames::LowerBound(std::string_view name, uint64_t near) const {
  uint64_t low = 0;  // all before it are below
  uint64_t high = size();
  uint64_t probe = near < size() ? near : size() / 2;
  for (uint64_t step = 1; low < high; step *= 2) {
    AUGUR_TRY_ASSIGN(probed, originals_.name(probe));
    const bool below = probed < name;
    if (below) {
      low = probe + 1;
    } else {
      high = probe;
    }
    const bool more = near < size() && (below ? high == size() && step < high - low : low == 0 && step < high);
    probe = !more ? low + (high - low) / 2 : below ? low + step : high - step;
  }
  return low;
}

Result<std::optional<uint64_t>> ViewNames::IndexOf(std::string_view name, uint64_t near) const {
  AUGUR_TRY_ASSIGN(at, LowerBound(name, near));
  if (at == size()) return std::optional<uint64_t>();
  AUGUR_TRY_ASSIGN(there, originals_.name(at));
  return there == name ? std::optional(at) : std::nullopt;
}

Result<bool> ViewNames::IsImage(uint64_t index) const {
  AUGUR_TRY_ASSIGN(ending, originals_.ending(index));
  AUGUR_CHECK(ending.empty() || ending.rfind('.') == 0);
  return !ending.empty();
}

// Whether the entry is an image that would be named stem + ending.
Result<bool> ViewNames::Wants(uint64_t index, std::string_view stem, std::string_view ending) const {
  AUGUR_TRY_ASSIGN(name, originals_.name(index));
  if (StemOf(name) != stem) return false;
  AUGUR_TRY_ASSIGN(own, originals_.ending(index));
  return own == ending;
}

// Whether another image wants the same short name, or more than kAlikeMax names begin with `stem.`. Those lie between
// `stem.` and `stem/`, and so do all that want it. Looks on both sides at once: then all images of a folder together
// look at each name a few times, wherever in it they are.
Result<bool> ViewNames::AnotherWants(uint64_t index, std::string_view stem, std::string_view ending) const {
  const std::string begin = Join(stem, ".");
  AUGUR_TRY_ASSIGN(own, originals_.name(index));
  uint64_t alike = own.starts_with(begin) ? 1 : 0;
  bool above = true;
  bool below = true;
  for (uint64_t step = 1; above || below; ++step) {
    above = above && step < size() - index;
    below = below && step <= index;
    for (const bool up : {true, false}) {
      bool& goes_on = up ? above : below;
      if (!goes_on) continue;
      const uint64_t at = up ? index + step : index - step;
      AUGUR_TRY_ASSIGN(name, originals_.name(at));
      goes_on = name.starts_with(begin);
      if (!goes_on) continue;
      AUGUR_TRY_ASSIGN(wants, Wants(at, stem, ending));
      if (wants || ++alike > kAlikeMax) return true;
    }
  }
  return false;
}

Result<bool> ViewNames::MayBeShort(uint64_t index, std::string_view stem, std::string_view ending) const {
  // One without an ending is itself the bearer of its stem: its long name is the same.
  AUGUR_TRY_ASSIGN(bearer_of_stem, IndexOf(stem, index));
  if (bearer_of_stem) {
    AUGUR_TRY_ASSIGN(image, IsImage(*bearer_of_stem));
    if (image || stem.ends_with(ending)) return false;
  }
  AUGUR_TRY_ASSIGN(bearer, IndexOf(Join(stem, ending), index));
  if (bearer && *bearer != index) return false;
  AUGUR_TRY_ASSIGN(another, AnotherWants(index, stem, ending));
  return !another;
}

Result<ViewNames::Form> ViewNames::FormOf(uint64_t index) const {
  AUGUR_TRY_ASSIGN(image, IsImage(index));
  if (!image) return kOwn;
  AUGUR_TRY_ASSIGN(name, originals_.name(index));
  AUGUR_TRY_ASSIGN(ending, originals_.ending(index));
  const std::string_view stem = StemOf(name);
  AUGUR_TRY_ASSIGN(may_be_short, MayBeShort(index, stem, ending));
  if (may_be_short) return stem.size() + ending.size() > kNameBytesMax ? kTooLong : kShort;
  std::string longer(name);
  for (Form endings = 1;; ++endings) {
    longer.append(ending);
    if (longer.size() > kNameBytesMax) return kTooLong;
    AUGUR_TRY_ASSIGN(bearer, IndexOf(longer, index));
    if (!bearer) return endings;
    AUGUR_TRY_ASSIGN(bearer_is_image, IsImage(*bearer));
    if (bearer_is_image) return endings;
  }
}

Result<std::string> ViewNames::NameOf(uint64_t index) const {
  AUGUR_CHECK(index < size());
  AUGUR_TRY_ASSIGN(name, originals_.name(index));
  AUGUR_TRY_ASSIGN(ending, originals_.ending(index));
  AUGUR_TRY_ASSIGN(form, FormOf(index));
  if (form == kTooLong) return std::string();
  if (form == kShort) return Join(StemOf(name), ending);
  std::string whole(name);
  for (Form i = 0; i < form; ++i) whole.append(ending);
  return whole;
}

Result<std::optional<uint64_t>> ViewNames::Find(std::string_view view_name) const {
  if (view_name.size() > kNameBytesMax) return std::optional<uint64_t>();
  AUGUR_TRY_ASSIGN(at, LowerBound(view_name, size()));
  if (at < size()) {
    AUGUR_TRY_ASSIGN(name, originals_.name(at));
    AUGUR_TRY_ASSIGN(image, IsImage(at));
    if (name == view_name && !image) return std::optional(at);
  }
  const size_t dot = view_name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::optional<uint64_t>();
  const std::string_view ending = view_name.substr(dot);
  AUGUR_TRY_ASSIGN(found, FindLong(view_name, ending, at));
  if (found) return found;
  return FindShort(view_name.substr(0, dot), ending, at);
}

// The image of which this is the whole name with endings.
Result<std::optional<uint64_t>> ViewNames::FindLong(std::string_view view_name, std::string_view ending,
                                                    uint64_t near) const {
  for (Form endings = 1; view_name.size() > ending.size() && view_name.ends_with(ending); ++endings) {
    view_name.remove_suffix(ending.size());
    AUGUR_TRY_ASSIGN(found, IndexOf(view_name, near));
    if (!found) continue;
    AUGUR_TRY_ASSIGN(own, originals_.ending(*found));
    if (own != ending) continue;
    AUGUR_TRY_ASSIGN(form, FormOf(*found));
    if (form == endings) return found;
  }
  return std::optional<uint64_t>();
}

// The image that is named short, of this stem. The first one that wants it tells for all: if it is not, none is. Nor is
// any where more than kAlikeMax names begin with the stem and a dot, so that no more are looked at.
Result<std::optional<uint64_t>> ViewNames::FindShort(std::string_view stem, std::string_view ending,
                                                     uint64_t near) const {
  const std::string begin = Join(stem, ".");
  AUGUR_TRY_ASSIGN(first, LowerBound(begin, near));
  for (uint64_t at = first; at < size() && at - first < kAlikeMax; ++at) {
    AUGUR_TRY_ASSIGN(name, originals_.name(at));
    if (!name.starts_with(begin)) break;
    AUGUR_TRY_ASSIGN(wants, Wants(at, stem, ending));
    if (!wants) continue;
    AUGUR_TRY_ASSIGN(form, FormOf(at));
    return form == kShort ? std::optional(at) : std::nullopt;
  }
  return std::optional<uint64_t>();
}

}  // namespace augur
