// SPDX-License-Identifier: Apache-2.0
#include "views/view_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace augur {
namespace {

using testing::ElementsAre;

// Names as they come; an image is written with its ending behind a colon. Asked for by ViewNames in their order.
struct Folder {
  explicit Folder(const std::vector<std::string>& entries) {
    for (const std::string& entry : entries) {
      const size_t colon = entry.find(':');
      names.push_back(entry.substr(0, colon));
      endings.push_back(colon == std::string::npos ? "" : entry.substr(colon + 1));
      sorted.push_back(sorted.size());
    }
    std::ranges::sort(sorted, {}, [this](size_t i) { return names[i]; });
  }
  ViewNames View() const {
    return ViewNames(
        {.size = names.size(),
         .name = [this](uint64_t i) -> Result<std::string_view> { return std::string_view(names[sorted[i]]); },
         .ending = [this](uint64_t i) -> Result<std::string_view> { return std::string_view(endings[sorted[i]]); }});
  }
  // The name in the view of each entry as they came.
  std::vector<std::string> ViewNamesOf() const {
    const ViewNames view = View();
    std::vector<std::string> all(names.size());
    for (size_t i = 0; i < all.size(); ++i) {
      all[sorted[i]] = *view.NameOf(i);
      if (!all[sorted[i]].empty()) {
        EXPECT_EQ(*view.Find(all[sorted[i]]), i) << all[sorted[i]];
      }
    }
    return all;
  }
  // The one that has this name in the view, as they came.
  std::optional<size_t> Find(std::string_view name) const {
    const std::optional<uint64_t> found = *View().Find(name);
    return found ? std::optional(sorted[*found]) : std::nullopt;
  }

  std::vector<std::string> names;
  std::vector<std::string> endings;
  std::vector<size_t> sorted;
};

std::vector<std::string> NamesOf(const std::vector<std::string>& entries) { return Folder(entries).ViewNamesOf(); }

// The rule of VIEWS.md, word by word.
class Model {
 public:
  explicit Model(const Folder& folder) : folder_(folder) {}

  std::string NameOf(size_t i) const {
    const std::string& name = folder_.names[i];
    const std::string& ending = folder_.endings[i];
    if (ending.empty()) return name;
    std::string longer = StemOf(name);
    if (IsShort(i)) return Fitting(longer + ending);
    longer = name + ending;
    while (IsOther(longer)) longer += ending;
    return Fitting(longer);
  }

 private:
  static std::string StemOf(const std::string& name) {
    size_t dots = 0;
    while (dots < name.size() && name[dots] == '.') ++dots;
    const size_t dot = name.rfind('.');
    return dot == std::string::npos || dot < dots ? name : name.substr(0, dot);
  }
  static std::string Fitting(const std::string& name) { return name.size() > 255 ? "" : name; }
  std::optional<size_t> Bearer(const std::string& name) const {
    const auto at = std::ranges::find(folder_.names, name);
    return at == folder_.names.end() ? std::nullopt : std::optional<size_t>(at - folder_.names.begin());
  }
  // Something that is no image has the name.
  bool IsOther(const std::string& name) const {
    const auto bearer = Bearer(name);
    return bearer && folder_.endings[*bearer].empty();
  }
  bool IsShort(size_t i) const {
    const std::string stem = StemOf(folder_.names[i]);
    const std::string& ending = folder_.endings[i];
    for (size_t other = 0; other < folder_.names.size(); ++other) {
      if (other != i && folder_.endings[other] == ending && StemOf(folder_.names[other]) == stem) return false;
    }
    const auto alike = [&](const std::string& name) { return name.starts_with(stem + "."); };
    if (std::ranges::count_if(folder_.names, alike) > 256) return false;
    const auto bearer = Bearer(stem + ending);
    if (bearer && *bearer != i) return false;
    const auto bearer_of_stem = Bearer(stem);
    return !bearer_of_stem || (folder_.endings[*bearer_of_stem].empty() && !stem.ends_with(ending));
  }

  const Folder& folder_;
};

TEST(ViewNames, EndingIsReplaced) {
  EXPECT_THAT(NamesOf({"a.JPEG:.npy", "b.tar.jpg:.npy", "c:.npy", "d.:.npy", "notes.txt", "sub"}),
              ElementsAre("a.npy", "b.tar.npy", "c.npy", "d.npy", "notes.txt", "sub"));
}

TEST(ViewNames, DotsInFrontAreNoEnding) {
  EXPECT_THAT(NamesOf({".JPEG:.npy", "..jpg:.npy", "...:.npy", ".a.jpg:.npy"}),
              ElementsAre(".JPEG.npy", "..jpg.npy", "....npy", ".a.npy"));
}

TEST(ViewNames, ImagesThatWantOneNameKeepTheirs) {
  EXPECT_THAT(NamesOf({"x.JPEG:.npy", "x.jpg:.npy", "x.png:.npy", "y.png:.npy"}),
              ElementsAre("x.JPEG.npy", "x.jpg.npy", "x.png.npy", "y.npy"));
}

TEST(ViewNames, NothingTakesTheNameOfAnother) {
  EXPECT_THAT(NamesOf({"x.JPEG:.npy", "x.npy"}), ElementsAre("x.JPEG.npy", "x.npy"));
  EXPECT_THAT(NamesOf({"x.JPEG:.npy", "x.JPEG.npy", "x.npy"}), ElementsAre("x.JPEG.npy.npy", "x.JPEG.npy", "x.npy"));
  EXPECT_THAT(NamesOf({"x.JPEG:.pt", "x.pt", "y.png:.pt"}), ElementsAre("x.JPEG.pt", "x.pt", "y.pt"));
  EXPECT_THAT(NamesOf({"x.JPEG:.npy", "x"}), ElementsAre("x.npy", "x")) << "a folder beside an image is no reason";
}

TEST(ViewNames, LongNamesDoNotMeetShortOnes) {
  // x.png must be long, as x.png.npy; x.png.JPEG would be that as a short name.
  EXPECT_THAT(NamesOf({"x.JPEG:.npy", "x.png:.npy", "x.png.JPEG:.npy"}),
              ElementsAre("x.JPEG.npy", "x.png.npy", "x.png.JPEG.npy"));
  // x.png must be long twice, as x.png.npy.npy; x.png.npy.JPEG would be that as a short name.
  EXPECT_THAT(NamesOf({"x.npy", "x.png:.npy", "x.png.npy", "x.png.npy.JPEG:.npy"}),
              ElementsAre("x.npy", "x.png.npy.npy", "x.png.npy", "x.png.npy.JPEG.npy"));
}

TEST(ViewNames, OwnEndings) {
  EXPECT_THAT(NamesOf({"a.JPEG:.png", "b.png:.png", "c.png", "d.jpg:.ppm", "d.ppm:.ppm"}),
              ElementsAre("a.png", "b.png", "c.png", "d.jpg.ppm", "d.ppm.ppm"));
  // A turned image is .png among .ppm. x.png becomes x.ppm, and still nothing else takes its name.
  EXPECT_THAT(NamesOf({"x.JPEG:.png", "x.png:.ppm"}), ElementsAre("x.JPEG.png", "x.ppm"));
}

TEST(ViewNames, ANameThatIsTooLongIsNotThere) {
  const std::string fits(251, 'a');
  const std::string longer(252, 'b');
  const std::string ended = std::string(250, 'c') + ".JPEG";
  const Folder folder({fits + ":.npy", longer + ":.npy", ended + ":.npy", std::string(255, 'd')});
  EXPECT_THAT(folder.ViewNamesOf(),
              ElementsAre(fits + ".npy", "", std::string(250, 'c') + ".npy", std::string(255, 'd')));
  EXPECT_EQ(folder.Find(longer + ".npy"), std::nullopt);
  EXPECT_EQ(folder.Find(""), std::nullopt);
}

TEST(ViewNames, OriginalNamesOfImagesAreNotFound) {
  const Folder folder({"x.JPEG:.npy", "y.txt"});
  EXPECT_EQ(folder.Find("x.JPEG"), std::nullopt);
  EXPECT_EQ(folder.Find("x"), std::nullopt);
  EXPECT_EQ(folder.Find("x.npy"), 0U);
  EXPECT_EQ(folder.Find("y.txt"), 1U);
}

TEST(ViewNames, EmptyFolder) {
  const Folder folder({});
  EXPECT_EQ(folder.View().size(), 0U);
  EXPECT_EQ(folder.Find("x"), std::nullopt);
}

// Short names of few letters, so that everything collides with everything: names are as the rule says, no two are
// equal, and all are found.
TEST(ViewNames, RandomFolders) {
  std::mt19937 random(3);
  const std::vector<std::string> parts = {"x", ".npy", ".png", ".ppm", ".JPEG", ".", "-", "\xFF"};
  for (int round = 0; round < 30'000; ++round) {
    const bool one_ending = random() % 2 == 0;
    std::set<std::string> used;
    std::vector<std::string> entries;
    for (size_t count = random() % 16; count > 0; --count) {
      std::string name;
      for (size_t i = 1 + random() % 4; i > 0; --i) name += parts[random() % parts.size()];
      if (name == "." || name == ".." || !used.insert(name).second) continue;
      const char* const ending = one_ending ? ":.npy" : random() % 2 == 0 ? ":.png" : ":.ppm";
      entries.push_back(random() % 3 == 0 ? name : name + ending);
    }
    const Folder folder(entries);
    const std::vector<std::string> view = folder.ViewNamesOf();
    ASSERT_EQ(std::set<std::string>(view.begin(), view.end()).size(), view.size()) << testing::PrintToString(entries);
    const Model model(folder);
    for (size_t i = 0; i < view.size(); ++i) {
      ASSERT_EQ(view[i], model.NameOf(i)) << testing::PrintToString(entries);
      // Nobody is found by a name that the view does not have.
      if (std::ranges::find(view, folder.names[i]) == view.end()) {
        ASSERT_EQ(folder.Find(folder.names[i]), std::nullopt) << testing::PrintToString(entries);
      }
    }
  }
}

TEST(ViewNames, AFailureOfTheFolderIsTold) {
  const auto fails = [](uint64_t) -> Result<std::string_view> { return Status(Code::kCorrupt, "index"); };
  const ViewNames names({.size = 3, .name = fails, .ending = fails});
  EXPECT_EQ(names.NameOf(1).status().code(), Code::kCorrupt);
  EXPECT_EQ(names.Find("x.npy").status().code(), Code::kCorrupt);
}

// The names of entries that are all images, in a view of arrays; `asked` counts the names that it asks for.
ViewNames CountedNames(const std::vector<std::string>& entries, uint64_t* asked) {
  return ViewNames({.size = entries.size(),
                    .name = [&entries, asked](uint64_t i) -> Result<std::string_view> {
                      ++*asked;
                      return std::string_view(entries[i]);
                    },
                    .ending = [](uint64_t) -> Result<std::string_view> { return std::string_view(".npy"); }});
}

// A folder of any size: it is asked for a few names around the one in question, and nothing is kept.
TEST(ViewNames, AMillionNames) {
  std::vector<std::string> entries;
  entries.reserve(1'000'000);
  for (int i = 0; i < 1'000'000; ++i)
    entries.push_back("ILSVRC2012_val_" + std::to_string(i / 2) + (i % 2 == 0 ? ".JPEG" : ".png"));
  std::ranges::sort(entries);
  uint64_t asked = 0;
  const ViewNames names = CountedNames(entries, &asked);
  for (uint64_t i = 0; i < names.size(); i += 997) {
    asked = 0;
    EXPECT_EQ(*names.NameOf(i), entries[i] + ".npy");
    EXPECT_LE(asked, 30U) << entries[i];
    EXPECT_EQ(*names.Find(entries[i] + ".npy"), i);
    EXPECT_EQ(*names.Find(entries[i] + ".np"), std::nullopt);
    EXPECT_LE(asked, 200U) << entries[i];
  }
}

// Names are as the rule says on both sides of its number, wherever the image lies among those that begin alike.
TEST(ViewNames, AShortNameIsThatOfAtMost256NamesThatBeginAlike) {
  for (const char* const image : {"x.!:.npy", "x.200.5:.npy", "x.JPEG:.npy"}) {
    for (const int others : {255, 256, 1000}) {
      std::vector<std::string> entries = {image, "x-1:.npy", "x1:.npy", "w"};
      for (int i = 0; i < others; ++i) entries.push_back("x." + std::to_string(1000 + i) + ".png");
      const Folder folder(entries);
      const std::vector<std::string> view = folder.ViewNamesOf();
      const Model model(folder);
      for (size_t i = 0; i < view.size(); ++i)
        ASSERT_EQ(view[i], model.NameOf(i)) << entries[i] << " beside " << others;
      const bool is_short = others == 255 && std::string_view(image) != "x.200.5:.npy";
      EXPECT_EQ(folder.Find("x.npy"), is_short ? std::optional<size_t>(0) : std::nullopt)
          << image << " beside " << others;
    }
  }
}

// A name that is not there costs no more than one that is, however many begin with it.
TEST(ViewNames, AMissingNameInAFolderOfNamesThatBeginAlike) {
  std::vector<std::string> entries;
  for (int i = 0; i < 300'000; ++i) entries.push_back("img." + std::to_string(1'000'000 + i) + ".JPEG");
  uint64_t asked = 0;
  const ViewNames names = CountedNames(entries, &asked);
  EXPECT_EQ(*names.Find("img.npy"), std::nullopt);
  EXPECT_LE(asked, 2 * ViewNames::kAlikeMax + 200);
  // Nor does the name of the image that they begin with, nor its look-up.
  entries.push_back("img.JPEG");
  asked = 0;
  const ViewNames more = CountedNames(entries, &asked);
  EXPECT_EQ(*more.NameOf(300'000), "img.JPEG.npy");
  EXPECT_LE(asked, 2 * ViewNames::kAlikeMax + 200);
  asked = 0;
  EXPECT_EQ(*more.Find("img.JPEG.npy"), 300'000U);
  EXPECT_EQ(*more.Find("img.npy"), std::nullopt);
  EXPECT_LE(asked, 4 * ViewNames::kAlikeMax + 400);
}

// Where each name begins with the stem of another, the whole folder is still told in a few looks at each name.
TEST(ViewNames, NamesThatBeginAlike) {
  std::vector<std::string> entries;
  for (int i = 100'000; i < 200'000; ++i) entries.push_back("x." + std::to_string(i) + (i % 3 == 0 ? "" : ".JPEG"));
  std::ranges::sort(entries);
  uint64_t asked = 0;
  const ViewNames names = CountedNames(entries, &asked);
  for (uint64_t i = 0; i < names.size(); ++i) {
    const std::string name = *names.NameOf(i);
    if (name.empty()) ADD_FAILURE() << entries[i];
  }
  EXPECT_LE(asked, 60 * entries.size());
}

}  // namespace
}  // namespace augur
