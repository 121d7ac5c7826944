// SPDX-License-Identifier: Apache-2.0
#include "pack/read_window.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "pack/source_folder.h"
#include "store/sha256.h"
#include "unit/pack/scratch.h"

namespace augur {
namespace {

Found FileFound(const std::string& path, uint64_t size) {
  Found found;
  found.path = path;
  found.size = size;
  return found;
}

std::string TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ReadWindowTest : public testing::Test {
 protected:
  void Start(unsigned threads = 4) {
    auto source = SourceFolder::Open(tree_.path());
    ASSERT_TRUE(source.ok());
    source_ = std::move(source).value();
    auto window = ReadWindow::Make(*source_, threads);
    ASSERT_TRUE(window.ok());
    window_ = std::move(window).value();
  }
  // Offers one thing, takes its one slot.
  Status StatusOf(const Found& found) {
    EXPECT_TRUE(window_->Offer(found));
    Status status = window_->Front().status;
    window_->Pop();
    return status;
  }

  Scratch tree_;
  std::unique_ptr<SourceFolder> source_;
  std::unique_ptr<ReadWindow> window_;
};

TEST_F(ReadWindowTest, KeepsTheOrderOfFilesAndOtherThings) {
  for (int i = 0; i < 300; ++i) tree_.Write(std::to_string(i), "text of " + std::to_string(i));
  Start(16);
  for (int i = 0; i < 300; ++i) {
    const std::string name = std::to_string(i);
    ASSERT_TRUE(window_->Offer(FileFound(name, ("text of " + name).size())));
    Found folder;
    folder.kind = FoundKind::kFolder;
    folder.path = "after " + name;
    ASSERT_TRUE(window_->Offer(folder));
  }
  for (int i = 0; i < 300; ++i) {
    const std::string text = "text of " + std::to_string(i);
    const WindowSlot& slot = window_->Front();
    ASSERT_TRUE(slot.status.ok()) << slot.status.text();
    EXPECT_EQ(slot.found.path, std::to_string(i));
    EXPECT_EQ(TextOf(slot.bytes), text);
    EXPECT_EQ(slot.hashes.whole, HashRecord(std::as_bytes(std::span(text))).whole);
    window_->Pop();
    EXPECT_EQ(window_->Front().found.path, "after " + std::to_string(i));
    window_->Pop();
  }
  EXPECT_TRUE(window_->empty());
}

TEST_F(ReadWindowTest, ALargeFileComesInPieces) {
  std::string text(ReadWindow::kWindowBytes + ReadWindow::kPieceBytes + 5, '\0');
  for (size_t i = 0; i < text.size(); i += 4096) text[i] = static_cast<char>(i >> 12);
  tree_.Write("large", text);
  tree_.Write("small", "small");
  Start();
  bool large_taken = window_->Offer(FileFound("large", text.size()));
  EXPECT_FALSE(large_taken);  // it does not fit all at once
  size_t at = 0;
  for (;;) {
    const WindowSlot& slot = window_->Front();
    ASSERT_TRUE(slot.status.ok()) << slot.status.text();
    EXPECT_EQ(slot.first, at == 0);
    ASSERT_EQ(std::memcmp(slot.bytes.data(), text.data() + at, slot.bytes.size()), 0);
    at += slot.bytes.size();
    const bool last = slot.last;
    EXPECT_EQ(last, at == text.size());
    window_->Pop();
    if (last) break;
    if (!large_taken) {
      large_taken = window_->Offer(FileFound("large", text.size()));
      const bool small_taken = large_taken && window_->Offer(FileFound("small", 5));
      EXPECT_EQ(small_taken, large_taken);
    }
  }
  EXPECT_EQ(TextOf(window_->Front().bytes), "small");
}

TEST_F(ReadWindowTest, NamesWhatChangedOrVanished) {
  tree_.Write("grown", "12345");
  tree_.Write("shrunk", "12345");
  Start();
  EXPECT_EQ(StatusOf(FileFound("grown", 3)).text(), (tree_ / "grown") + ": changed while it was read");
  // Smaller than the walk saw it, and whole: what is read is one state of the file.
  EXPECT_TRUE(StatusOf(FileFound("shrunk", 100)).ok());
  EXPECT_EQ(StatusOf(FileFound("gone", 3)).code(), Code::kNotFound);
  EXPECT_EQ(StatusOf(FileFound("gone", ReadWindow::kWholeFileBytesMax + 1)).code(), Code::kNotFound);
}

TEST_F(ReadWindowTest, NothingTakesAFilesPlace) {
  tree_.MakeFolder("folder");
  tree_.Write("target", "1");
  ASSERT_EQ(::symlink("target", (tree_ / "link").c_str()), 0);
  ASSERT_EQ(::symlink("folder", (tree_ / "folder-link").c_str()), 0);
  tree_.Write("folder/x", "1");
  ASSERT_EQ(::mkfifo((tree_ / "fifo").c_str(), 0600), 0);
  Start();
  EXPECT_EQ(StatusOf(FileFound("link", 1)).code(), Code::kChanged);
  EXPECT_EQ(StatusOf(FileFound("folder-link/x", 1)).code(), Code::kChanged);  // nor a folder's
  EXPECT_EQ(StatusOf(FileFound("fifo", 1)).code(), Code::kChanged);           // and this does not hang
  EXPECT_EQ(StatusOf(FileFound("folder", 1)).code(), Code::kChanged);
}

TEST_F(ReadWindowTest, ALargeFileThatChangesIsNotWhole) {
  const std::string text(4 * ReadWindow::kPieceBytes, 'x');
  tree_.Write("large", text);
  Start(1);
  ASSERT_TRUE(window_->Offer(FileFound("large", text.size())));
  ASSERT_TRUE(window_->Front().status.ok());
  window_->Pop();
  // Whatever has been read by now, a piece that is not is read after this; the last one is read again by its own rule.
  const int fd = ::open((tree_ / "large").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_EQ(::write(fd, "y", 1), 1);
  ::close(fd);
  bool changed = false;
  bool all_read = true;
  for (int i = 1; i < 4; ++i) {
    const WindowSlot& slot = window_->Front();
    changed = changed || slot.status.code() == Code::kChanged;
    all_read = all_read && slot.status.ok();
    window_->Pop();
  }
  // Either every piece was read before the write, or the change is seen: never half and half in silence.
  EXPECT_NE(changed, all_read);
}

TEST_F(ReadWindowTest, CanBeLeftWithReadsUnderWay) {
  for (int i = 0; i < 100; ++i) tree_.Write(std::to_string(i), std::string(100000, 'x'));
  Start();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(window_->Offer(FileFound(std::to_string(i), 100000)));
  window_.reset();
}

}  // namespace
}  // namespace augur
