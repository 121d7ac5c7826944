// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "views/view_spec.h"

namespace augur {

// The words of a SPEC beside its kind, in the order of the canonical form.
enum class SpecWord {
  kSize,
  kFit,
  kFilter,
  kPasses,
  kFast,
  kCrop,
  kTolerant,
  kLayout,
  kDtype,
  kMean,
  kStd,
  kItem,
  kAs,
  kAll,
  kNames,
  kShards,
  kShard,
  kKeys,
  kName,
  kBase,
  kShuffle,
  kEncoded,
  kFormat,
  kChunk,
};
inline constexpr size_t kSpecWordCount = static_cast<size_t>(SpecWord::kChunk) + 1;

// The named values of a word; the first is the default.
template <typename Value, size_t kCount>
using Choices = std::array<std::pair<std::string_view, Value>, kCount>;

// SpecWords are a SPEC as it was typed, word by word: which words there are, which of them a kind has, and their
// values, which point into the text. What they mean together, ParseViewSpec says.
class SpecWords {
 public:
  // kInvalid: a word that is none, is given twice, lacks its value, or that the kind does not have.
  Status Read(std::string_view text);

  // REQUIRES, as all below: Read has returned OK.
  ViewKind kind() const { return kind_.value_or(ViewKind::kNpy); }
  bool Has(SpecWord word) const { return ValueOf(word).has_value(); }
  std::string_view Value(SpecWord word) const { return ValueOf(word).value_or(std::string_view()); }

  // The error of a word: "size=0: cause; accepted: ...".
  Status Wrong(SpecWord word, std::string_view cause) const;

  // Sets `out` to the named value, and leaves it as it is when the word is not there.
  template <typename Value, size_t kCount>
  Status Choose(SpecWord word, const Choices<Value, kCount>& choices, Value* out) const {
    if (!Has(word)) return {};
    const auto* const found = std::ranges::find(choices, this->Value(word), &std::pair<std::string_view, Value>::first);
    if (found == choices.end()) {
      std::vector<std::string_view> values;
      for (const auto& [name, value] : choices) values.push_back(name);
      return NoChoice(word, values);
    }
    *out = found->second;
    return {};
  }

 private:
  const std::optional<std::string_view>& ValueOf(SpecWord word) const { return values_[static_cast<size_t>(word)]; }
  Status Take(std::string_view typed);
  Status CheckKinds() const;
  Status NoChoice(SpecWord word, const std::vector<std::string_view>& values) const;

  std::optional<ViewKind> kind_;
  std::array<std::optional<std::string_view>, kSpecWordCount> values_;
};

// As they are typed.
std::string_view NameOf(ViewKind kind);
std::string_view NameOf(SpecWord word);

// The accepted form, for --help and manuals: a few lines, each ended by a newline.
std::string_view ViewGrammar();

}  // namespace augur
