// SPDX-License-Identifier: Apache-2.0
#include "views/view_names.h"

#include <functional>
#include <utility>

#include "base/check.h"

namespace augur {
namespace {

constexpr size_t kEndingBytes = 4;
constexpr uint32_t kNone = UINT32_MAX;

// `name` without its last ending, as os.path.splitext has it: dots in front are no ending.
std::string_view StemOf(std::string_view name) {
  const size_t dot = name.rfind('.');
  const size_t first = name.find_first_not_of('.');
  const bool has_ending = dot != std::string_view::npos && first != std::string_view::npos && dot > first;
  return has_ending ? name.substr(0, dot) : name;
}

// Slots of an open hash table of `count` names, at most half full, a power of two.
std::vector<uint32_t> MakeSlots(size_t count) {
  size_t slots = 4;
  while (slots < 2 * count) slots *= 2;
  return std::vector<uint32_t>(slots, kNone);
}

// The slot of the number that has the name `name`, as `has_name(number)` knows, or the free one where it belongs.
template <typename Slots, typename HasName>
auto& SlotOf(Slots& slots, std::string_view name, const HasName& has_name) {
  const size_t mask = slots.size() - 1;
  size_t at = std::hash<std::string_view>()(name) & mask;
  while (slots[at] != kNone && !has_name(slots[at])) at = (at + 1) & mask;
  return slots[at];
}

}  // namespace

// Why no two names are equal. An image is named short, S(m) = stem + ending, or long, L(n) = n + ending, once or more
// often; all endings have 4 bytes.
//  - S(m) = S(n): then neither is short.
//  - S(m) = the name of another entry: then m is not short.
//  - L(n) = a name that stays: then n gets its ending once more.
//  - L(n) = L(m), n with more endings than m: m would be n with endings, and each of those names was passed because an
//    entry has it that is no image; m is one.
//  - S(m) = L(n): the stem of m would be n, an image, or n with endings, a name that stays and ends as m does: with
//    either m is not short.
class ViewNames::Maker {
 public:
  explicit Maker(ViewNames* names)
      : names_(*names), by_original_(MakeSlots(names->size())), by_short_(MakeSlots(names->size())) {}

  void Make() {
    const size_t count = names_.originals_.size();
    for (uint32_t i = 0; i < count; ++i) AddOriginal(i);
    for (uint32_t i = 0; i < count; ++i) AddShort(i);
    for (uint32_t i = 0; i < count; ++i) names_.forms_[i] = FormOf(i);
    by_original_ = {};
    by_short_ = {};
    names_.by_name_ = MakeSlots(count);
    for (uint32_t i = 0; i < count; ++i) {
      const std::string name = names_.NameOf(i);
      if (name.empty()) continue;
      uint32_t& slot = SlotOf(names_.by_name_, name, [&](uint32_t other) { return names_.HasName(other, name); });
      AUGUR_CHECK(slot == kNone);
      slot = i;
    }
  }

 private:
  const Original& At(uint32_t i) const { return names_.originals_[i]; }
  bool IsImage(uint32_t i) const { return !At(i).ending.empty(); }

  uint32_t Find(std::string_view original) const {
    return SlotOf(by_original_, original, [&](uint32_t other) { return At(other).name == original; });
  }

  void AddOriginal(uint32_t i) {
    AUGUR_CHECK(!At(i).name.empty() && (At(i).ending.empty() || At(i).ending.size() == kEndingBytes));
    uint32_t& slot = SlotOf(by_original_, At(i).name, [&](uint32_t other) { return At(other).name == At(i).name; });
    AUGUR_CHECK(slot == kNone);
    slot = i;
  }

  // The name in short form, in memory that the next call uses again.
  const std::string& ShortName(uint32_t i) { return buffer_.assign(StemOf(At(i).name)).append(At(i).ending); }

  // Counts who wants which short name: forms_ says for now whether another one wants it, too.
  void AddShort(uint32_t i) {
    if (!IsImage(i)) return;
    uint32_t& slot = SlotOf(by_short_, ShortName(i), [&](uint32_t other) {
      return At(other).ending == At(i).ending && StemOf(At(other).name) == StemOf(At(i).name);
    });
    if (slot == kNone) {
      slot = i;
      names_.forms_[i] = kShort;
    } else {
      names_.forms_[slot] = kOwn;
    }
  }

  bool MayBeShort(uint32_t i) {
    if (names_.forms_[i] != kShort) return false;
    const uint32_t bearer = Find(ShortName(i));
    if (bearer != kNone && bearer != i) return false;
    const uint32_t stem = Find(StemOf(At(i).name));
    return stem == kNone || !(IsImage(stem) || At(stem).name.ends_with(At(i).ending));
  }

  uint8_t FormOf(uint32_t i) {
    if (!IsImage(i)) return kOwn;
    if (MayBeShort(i)) return ShortName(i).size() > kNameBytesMax ? kTooLong : kShort;
    buffer_.assign(At(i).name);
    for (uint8_t endings = 1;; ++endings) {
      buffer_.append(At(i).ending);
      if (buffer_.size() > kNameBytesMax) return kTooLong;
      const uint32_t bearer = Find(buffer_);
      if (bearer == kNone || IsImage(bearer)) return endings;
    }
  }

  ViewNames& names_;
  std::vector<uint32_t> by_original_;
  std::vector<uint32_t> by_short_;  // the first image that wants it
  std::string buffer_;
};

ViewNames::ViewNames(std::vector<Original> originals)
    : originals_(std::move(originals)), forms_(originals_.size(), kOwn) {
  AUGUR_CHECK(originals_.size() < size_t{1} << 31);
  Maker(this).Make();
}

std::string ViewNames::NameOf(size_t index) const {
  AUGUR_CHECK(index < originals_.size());
  const Original& original = originals_[index];
  switch (const uint8_t form = forms_[index]) {
    case kOwn: return std::string(original.name);
    case kTooLong: return {};
    case kShort: return std::string(StemOf(original.name)).append(original.ending);
    default: {
      std::string name(original.name);
      for (uint8_t i = 0; i < form; ++i) name += original.ending;
      return name;
    }
  }
}

// NameOf(index) == view_name, without making it.
bool ViewNames::HasName(size_t index, std::string_view view_name) const {
  const Original& original = originals_[index];
  const uint8_t form = forms_[index];
  const std::string_view begin = form == kShort ? StemOf(original.name) : original.name;
  const size_t endings = form == kShort ? 1 : form;
  if (form == kTooLong || view_name.size() != begin.size() + endings * kEndingBytes || !view_name.starts_with(begin)) {
    return false;
  }
  for (size_t at = begin.size(); at < view_name.size(); at += kEndingBytes) {
    if (view_name.substr(at, kEndingBytes) != original.ending) return false;
  }
  return true;
}

std::optional<size_t> ViewNames::Find(std::string_view view_name) const {
  const uint32_t found = SlotOf(by_name_, view_name, [&](uint32_t other) { return HasName(other, view_name); });
  if (found == kNone) return std::nullopt;
  return found;
}

}  // namespace augur
