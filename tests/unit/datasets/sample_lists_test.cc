// SPDX-License-Identifier: Apache-2.0
#include "datasets/sample_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "unit/datasets/order_fixture.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Lists = std::vector<std::shared_ptr<const SampleList>>;

class SampleListsTest : public OrderTest {
 protected:
  std::vector<std::string> List(std::string_view rule, std::string_view root) const {
    SampleLists lists(opened_);
    const auto list = lists.Make(rule, root);
    return list.ok() ? Paths((*list)->files()) : std::vector<std::string>{list.status().text()};
  }

  Order Numbers(const std::vector<std::string>& paths) const {
    Order numbers;
    for (const std::string& path : paths) {
      const auto entry = opened_->Find(path);
      EXPECT_TRUE(entry.ok()) << path;
      if (entry.ok()) numbers.push_back(static_cast<EntryNumber>(entry->number));
    }
    return numbers;
  }

  Lists Candidates(const std::vector<std::string>& seen) const {
    SampleLists lists(opened_);
    const auto found = lists.Candidates(Numbers(seen));
    EXPECT_TRUE(found.ok()) << found.status().text();
    return found.ok() ? *found : Lists{};
  }

  static std::vector<std::string> Names(const Lists& lists) {
    std::vector<std::string> names;
    for (const auto& list : lists) names.push_back(list->name());
    return names;
  }
};

// The expected lists follow from the rules by hand; tests/frameworks/test_sample_lists.py has the libraries make them.

TEST_F(SampleListsTest, ClassesAndTheirFoldersByPath) {
  Make({"train/b/2.jpg", "train/b/1.png", "train/a/x/1.jpg", "train/a/x-y/1.jpg", "train/a/x/z/1.jpg", "train/a/9.JPG",
        "train/a/9.txt", "train/top.jpg", "val/a/1.jpg"},
       {}, {"train/empty"});
  EXPECT_THAT(List("torchvision ImageFolder", "train"),
              ElementsAre("train/a/9.JPG", "train/a/x/1.jpg", "train/a/x-y/1.jpg", "train/a/x/z/1.jpg", "train/b/1.png",
                          "train/b/2.jpg"));
  EXPECT_THAT(List("DALI readers.file", "train"), ElementsAre("train/a/9.JPG", "train/b/1.png", "train/b/2.jpg"));
  EXPECT_THAT(List("Ultralytics", "train"),
              ElementsAre("train/a/9.JPG", "train/a/x-y/1.jpg", "train/a/x/1.jpg", "train/a/x/z/1.jpg", "train/b/1.png",
                          "train/b/2.jpg", "train/top.jpg"));
  EXPECT_THAT(List("path order of images", "train"),
              ElementsAre("train/a/9.JPG", "train/a/x/1.jpg", "train/a/x/z/1.jpg", "train/a/x-y/1.jpg", "train/b/1.png",
                          "train/b/2.jpg", "train/top.jpg"));
  EXPECT_THAT(List("os.walk of images", "train"),
              ElementsAre("train/top.jpg", "train/a/9.JPG", "train/a/x/1.jpg", "train/a/x/z/1.jpg", "train/a/x-y/1.jpg",
                          "train/b/1.png", "train/b/2.jpg"));
}

TEST_F(SampleListsTest, UnsortedListsGoByTheListing) {
  const auto writer = Begin({.listing = true});
  ASSERT_NE(writer, nullptr);
  uint64_t place = 100;
  const auto add = [&](const std::string& path) {
    ASSERT_TRUE(writer->AddFile(path, {.mode = 0644, .place = --place}, {}, Bytes(path)).ok());
  };
  ASSERT_TRUE(writer->AddDirectory("b", {.mode = 0755, .place = 2}).ok());
  ASSERT_TRUE(writer->AddDirectory("a", {.mode = 0755, .place = 3}).ok());
  for (const char* path : {"1.jpg", "2.jpg", "a/01.jpg", "a/1.jpg", "a/9.jpg", "b/3.jpg", "b/4.jpg"}) add(path);
  ASSERT_TRUE(writer->Commit().ok());
  const auto opened = Store::Open(store_);
  ASSERT_TRUE(opened.ok()) << opened.status().text();
  opened_ = *opened;
  EXPECT_THAT(List("os.walk of images", ""),
              ElementsAre("2.jpg", "1.jpg", "b/4.jpg", "b/3.jpg", "a/9.jpg", "a/1.jpg", "a/01.jpg"));
  EXPECT_THAT(List("os.walk .jpg", "a"), ElementsAre("a/9.jpg", "a/1.jpg", "a/01.jpg"));
  // By name; of names with equal keys the one that is listed first.
  EXPECT_THAT(List("timm ImageFolder", "a"), ElementsAre("a/1.jpg", "a/01.jpg", "a/9.jpg"));
  EXPECT_THAT(List("torchvision ImageFolder", ""), ElementsAre("a/01.jpg", "a/1.jpg", "a/9.jpg", "b/3.jpg", "b/4.jpg"));
  EXPECT_THAT(List("DALI readers.file", ""), ElementsAre("a/01.jpg", "a/1.jpg", "a/9.jpg", "b/3.jpg", "b/4.jpg"));
}

TEST_F(SampleListsTest, NaturalOrderMixesFoldersWithEqualKeys) {
  Make({"c10/1.jpg", "c2/img10.jpg", "c2/img9.jpg", "C02/img9.jpg", "C02/img11.jpg", "c02/img10.jpg"});
  // Ties in the order of the listing: C02, c02, c2.
  EXPECT_THAT(List("timm ImageFolder", ""), ElementsAre("C02/img9.jpg", "c2/img9.jpg", "c02/img10.jpg", "c2/img10.jpg",
                                                        "C02/img11.jpg", "c10/1.jpg"));
}

TEST_F(SampleListsTest, LinksAsEachLibraryFollowsThem) {
  Make({"a/1.jpg", "a/2.jpg", "b/1.jpg", "other/deep/5.jpg"},
       {{"b/to_a", "../a"}, {"b/0.jpg", "../a/2.jpg"}, {"b/9.jpg", "nowhere"}, {"c", "other"}, {"b/x.jpg", "/etc"}});
  EXPECT_THAT(List("torchvision ImageFolder", ""),
              ElementsAre("a/1.jpg", "a/2.jpg", "a/2.jpg", "b/1.jpg", "b/9.jpg", "b/x.jpg", "a/1.jpg", "a/2.jpg",
                          "other/deep/5.jpg", "other/deep/5.jpg"));
  EXPECT_THAT(List("Keras image_dataset_from_directory", ""),
              ElementsAre("a/1.jpg", "a/2.jpg", "a/2.jpg", "b/1.jpg", "b/9.jpg", "b/x.jpg", "other/deep/5.jpg",
                          "other/deep/5.jpg"));
  EXPECT_THAT(List("path order of all files", ""),
              ElementsAre("a/1.jpg", "a/2.jpg", "a/2.jpg", "b/1.jpg", "b/9.jpg", "b/x.jpg", "other/deep/5.jpg"));
}

TEST_F(SampleListsTest, ACircleOfLinksIsRefusedByThoseThatFollow) {
  Make({"a/1.jpg"}, {{"a/up", ".."}});
  EXPECT_THAT(List("torchvision ImageFolder", ""),
              ElementsAre(::testing::HasSubstr("folders form a circle by symbolic links")));
  EXPECT_THAT(List("Keras image_dataset_from_directory", ""), ElementsAre("a/1.jpg"));
  EXPECT_THAT(List("timm ImageFolder", ""), ElementsAre(::testing::HasSubstr("circle")));
}

TEST_F(SampleListsTest, ALinkToAFolderOutsideOfTheRoot) {
  Make({"all/x/1.jpg", "all/y/2.jpg", "few/z/3.jpg"}, {{"few/x", "../all/x"}});
  EXPECT_THAT(List("torchvision ImageFolder", "few"), ElementsAre("all/x/1.jpg", "few/z/3.jpg"));
}

TEST_F(SampleListsTest, UnknownRulesAndRootsAreRefused) {
  Make({"a/1.jpg"});
  SampleLists lists(opened_);
  EXPECT_EQ(lists.Make("PIL", "a").status().code(), Code::kNotFound);
  EXPECT_EQ(lists.Make("timm ImageFolder", "b").status().code(), Code::kNotFound);
  EXPECT_EQ(lists.Make("timm ImageFolder", "a/1.jpg").status().code(), Code::kInvalid);
}

TEST_F(SampleListsTest, APlainTreeHasOneListARoot) {
  Make({"train/a/1.jpg", "train/a/2.jpg", "train/b/1.jpg", "val/a/1.jpg", "val/b/1.jpg"});
  EXPECT_THAT(Names(Candidates({"train/a/2.jpg", "train/b/1.jpg"})),
              ElementsAre("torchvision ImageFolder of train", "torchvision ImageFolder of /"));
  EXPECT_THAT(Names(Candidates({"train/a/2.jpg", "val/b/1.jpg"})), ElementsAre("torchvision ImageFolder of /"));
}

TEST_F(SampleListsTest, FilesOfOneClassMeanTheFolderAboveFirst) {
  Make({"train/a/1.jpg", "train/a/2.jpg", "train/b/1.jpg"});
  EXPECT_THAT(Names(Candidates({"train/a/2.jpg", "train/a/1.jpg", "train/a/2.jpg"})),
              ElementsAre("torchvision ImageFolder of train", "timm ImageFolder of train/a"));
}

TEST_F(SampleListsTest, AFlatFolderInTheRoot) {
  Make({"1.npy", "10.npy", "2.npy", "list.txt"});
  const Lists lists = Candidates({"10.npy"});
  EXPECT_THAT(Names(lists), ElementsAre("sorted glob .npy of /", "sorted glob of all files of /"));
  EXPECT_THAT(Paths(lists[0]->files()), ElementsAre("1.npy", "10.npy", "2.npy"));
}

TEST_F(SampleListsTest, ListsWithoutASeenFileDoNotCount) {
  Make({"a/1.jpg", "a/2.jpg", "a/2.gif", "b/1.jpg"});
  for (const auto& list : Candidates({"a/2.gif", "b/1.jpg"})) {
    for (const EntryNumber file : Numbers({"a/2.gif", "b/1.jpg"})) EXPECT_TRUE(list->IndexOf(file)) << list->name();
  }
  EXPECT_EQ(Names(Candidates({"a/2.gif", "b/1.jpg"})).at(0), "Keras image_dataset_from_directory of /");
}

// A table of labels that is read first, a stray thumbnail: the list is there though it does not have them.
TEST_F(SampleListsTest, AFewReadsMayBeOfSomethingElse) {
  std::vector<std::string> files = {"labels.csv", "thumbs/1.png", "train/notes.txt"};
  std::vector<std::string> samples;
  samples.reserve(40);
  for (int number = 0; number < 40; ++number) {
    samples.push_back("train/c" + std::to_string(number % 4) + "/" + std::to_string(100 + number) + ".jpg");
  }
  files.insert(files.end(), samples.begin(), samples.end());
  Make(files);
  const auto seen = [&](size_t count, const std::vector<std::string>& strangers) {
    std::vector<std::string> all = strangers;
    all.insert(all.end(), samples.begin(), samples.begin() + static_cast<ptrdiff_t>(count - strangers.size()));
    return Names(Candidates(all));
  };
  const std::string train = "torchvision ImageFolder of train";
  EXPECT_EQ(seen(8, {}).at(0), train);
  for (const std::string stranger : {"labels.csv", "thumbs/1.png", "train/notes.txt"}) {
    EXPECT_THAT(seen(8, {stranger}), ::testing::Contains(train)) << stranger;
    EXPECT_THAT(seen(32, {stranger}), ::testing::Contains(train)) << stranger;
    // Of seven reads one may be anybody's.
    EXPECT_THAT(seen(7, {stranger}), ::testing::Not(::testing::Contains(train))) << stranger;
  }
  EXPECT_THAT(seen(24, {"labels.csv", "thumbs/1.png", "train/notes.txt"}), ::testing::Contains(train));
  EXPECT_THAT(seen(23, {"labels.csv", "thumbs/1.png", "train/notes.txt"}), ::testing::Not(::testing::Contains(train)));
  // Lists that have all of the files come first.
  EXPECT_THAT(seen(32, {"labels.csv"}).at(0), ::testing::HasSubstr("of all files of /"));
}

TEST_F(SampleListsTest, SeenThroughLinks) {
  Make({"blobs/00", "blobs/01", "blobs/02"},
       {{"train/a/x.jpg", "../../blobs/02"}, {"train/b/y.jpg", "../../blobs/00"}});
  const Lists lists = Candidates({"blobs/02", "blobs/00"});
  EXPECT_THAT(Names(lists), ::testing::Contains("torchvision ImageFolder of /"));
}

TEST_F(SampleListsTest, NothingSeenNothingFoundAndFoldersAreRefused) {
  Make({"a/1.jpg", "a/2.jpg"});
  SampleLists lists(opened_);
  const auto none = lists.Candidates({});
  ASSERT_TRUE(none.ok());
  EXPECT_THAT(*none, IsEmpty());
  EXPECT_EQ(lists.Candidates(Order{0}).status().code(), Code::kInvalid);
  EXPECT_EQ(lists.Candidates(Order{99}).status().code(), Code::kNotFound);
}

TEST_F(SampleListsTest, WhatIsKeptIsBounded) {
  std::vector<std::string> files;
  files.reserve(2000);
  for (int number = 0; number < 2000; ++number)
    files.push_back("d" + std::to_string(number % 50) + "/" + std::to_string(number) + ".jpg");
  Make(files);
  SampleLists lists(opened_, {.cache_bytes_max = 60'000});
  for (int round = 0; round < 3; ++round) {
    for (const char* rule : {"timm ImageFolder", "torchvision ImageFolder", "sorted glob .jpg", "os.walk .jpg"}) {
      for (const char* root : {"", "d1", "d2"}) EXPECT_TRUE(lists.Make(rule, root).ok());
      EXPECT_LE(lists.memory_bytes(), 60'000U);
    }
  }
  EXPECT_GT(lists.memory_bytes(), 10'000U);
  SampleLists small(opened_, {.list_bytes_max = 5000});
  EXPECT_EQ(small.Make("timm ImageFolder", "").status().code(), Code::kNoSpace);
  EXPECT_THAT(*small.Candidates(Numbers({"d1/1.jpg", "d2/2.jpg"})), IsEmpty());
}

TEST_F(SampleListsTest, ListsOfOthersComeFirst) {
  Make({"a/1.jpg", "a/2.jpg", "b/3.jpg", "b/4.jpg"}, {}, {});
  const Order shuffled = Numbers({"b/4.jpg", "a/1.jpg", "b/3.jpg", "a/2.jpg"});
  const Order sorted = Numbers({"a/1.jpg", "a/2.jpg", "b/3.jpg", "b/4.jpg"});
  const SampleLists::OtherLists others = [&] {
    return Lists{std::make_shared<const SampleList>("tar", "", sorted),
                 std::make_shared<const SampleList>("tar+shuffle=1", "", shuffled),
                 std::make_shared<const SampleList>("tar", "a", Numbers({"a/1.jpg", "a/2.jpg"}))};
  };
  SampleLists lists(opened_, {}, others);
  const auto found = lists.Candidates(Numbers({"b/3.jpg", "a/1.jpg"}));
  ASSERT_TRUE(found.ok()) << found.status().text();
  ASSERT_GE(found->size(), 2U);
  EXPECT_EQ(found->front()->name(), "tar+shuffle=1 of /");
  EXPECT_EQ((*found)[1]->name(), "torchvision ImageFolder of /") << "one list has one name, that of a library";
}

}  // namespace
}  // namespace augur
