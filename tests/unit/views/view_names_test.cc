// SPDX-License-Identifier: Apache-2.0
#include "views/view_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace augur {
namespace {

using testing::ElementsAre;

// Names in order; an image is written with its ending behind a colon.
struct Folder {
  explicit Folder(const std::vector<std::string>& entries) {
    for (const std::string& entry : entries) {
      const size_t colon = entry.find(':');
      names.push_back(entry.substr(0, colon));
      endings.push_back(colon == std::string::npos ? "" : entry.substr(colon + 1));
    }
  }
  std::vector<ViewNames::Original> Originals() const {
    std::vector<ViewNames::Original> originals;
    for (size_t i = 0; i < names.size(); ++i) originals.push_back({.name = names[i], .ending = endings[i]});
    return originals;
  }
  std::vector<std::string> names;
  std::vector<std::string> endings;
};

std::vector<std::string> NamesOf(const std::vector<std::string>& entries) {
  const Folder folder(entries);
  const ViewNames names(folder.Originals());
  std::vector<std::string> view;
  for (size_t i = 0; i < names.size(); ++i) {
    view.push_back(names.NameOf(i));
    if (!view.back().empty()) {
      EXPECT_EQ(names.Find(view.back()), i) << view.back();
    }
  }
  return view;
}

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
  const ViewNames names(folder.Originals());
  EXPECT_EQ(names.NameOf(0), fits + ".npy");
  EXPECT_EQ(names.NameOf(1), "");
  EXPECT_EQ(names.Find(longer + ".npy"), std::nullopt);
  EXPECT_EQ(names.NameOf(2), std::string(250, 'c') + ".npy");
  EXPECT_EQ(names.NameOf(3), std::string(255, 'd'));
  EXPECT_EQ(names.Find(""), std::nullopt);
}

TEST(ViewNames, OriginalNamesOfImagesAreNotFound) {
  const Folder folder({"x.JPEG:.npy", "y.txt"});
  const ViewNames names(folder.Originals());
  EXPECT_EQ(names.Find("x.JPEG"), std::nullopt);
  EXPECT_EQ(names.Find("x"), std::nullopt);
  EXPECT_EQ(names.Find("x.npy"), 0U);
  EXPECT_EQ(names.Find("y.txt"), 1U);
}

TEST(ViewNames, EmptyFolder) {
  const ViewNames names({});
  EXPECT_EQ(names.size(), 0U);
  EXPECT_EQ(names.Find("x"), std::nullopt);
}

// Short names of few letters, so that everything collides with everything: no two names are equal, all are found, and
// the order of the folder changes nothing.
TEST(ViewNames, RandomFolders) {
  std::mt19937 random(3);
  const std::vector<std::string> parts = {"x", ".npy", ".png", ".ppm", ".JPEG", ".", "\xFF"};
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
    const std::vector<std::string> view = NamesOf(entries);
    ASSERT_EQ(std::set<std::string>(view.begin(), view.end()).size(), view.size()) << testing::PrintToString(entries);
    std::vector<size_t> order(entries.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::shuffle(order, random);
    std::vector<std::string> shuffled;
    shuffled.reserve(order.size());
    for (const size_t i : order) shuffled.push_back(entries[i]);
    const std::vector<std::string> again = NamesOf(shuffled);
    for (size_t i = 0; i < order.size(); ++i) ASSERT_EQ(again[i], view[order[i]]) << testing::PrintToString(entries);
  }
}

TEST(ViewNames, AMillionNames) {
  std::vector<std::string> entries;
  entries.reserve(1'000'000);
  for (int i = 0; i < 1'000'000; ++i)
    entries.push_back("ILSVRC2012_val_" + std::to_string(i / 2) + (i % 2 == 0 ? ".JPEG" : ".png"));
  std::vector<ViewNames::Original> originals;
  originals.reserve(entries.size());
  for (const std::string& entry : entries) originals.push_back({.name = entry, .ending = ".npy"});
  const ViewNames names(std::move(originals));
  for (size_t i = 0; i < names.size(); i += 997) {
    EXPECT_EQ(names.NameOf(i), entries[i] + ".npy");
    EXPECT_EQ(names.Find(entries[i] + ".npy"), i);
  }
}

}  // namespace
}  // namespace augur
