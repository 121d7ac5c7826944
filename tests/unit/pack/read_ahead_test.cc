// SPDX-License-Identifier: Apache-2.0
#include "pack/read_ahead.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "unit/pack/scratch.h"

namespace augur {
namespace {

std::string Pattern(size_t bytes) {
  std::string text(bytes, '\0');
  uint64_t x = 1;
  for (char& c : text) {
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    c = static_cast<char>(x >> 56);
  }
  return text;
}

std::span<const std::byte> BytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(ReadAhead, HandsOutAllOfAFileAndKeepsThePieceBefore) {
  const Scratch scratch;
  for (const size_t bytes : {size_t{0}, size_t{1}, ReadAhead::kPieceBytes, 9 * ReadAhead::kPieceBytes + 17}) {
    const std::string text = Pattern(bytes);
    scratch.Write("file", text);
    const UniqueFd fd(::open((scratch / "file").c_str(), O_RDONLY | O_CLOEXEC));
    ReadAhead input(fd.get(), "file", [] { return false; });
    size_t at = 0;
    std::span<const std::byte> before;
    for (;;) {
      const auto piece = input.Next();
      ASSERT_TRUE(piece.ok());
      ASSERT_TRUE(
          std::equal(before.begin(), before.end(), BytesOf(text).begin() + static_cast<ptrdiff_t>(at - before.size())));
      if (piece->empty()) break;
      ASSERT_EQ(std::memcmp(piece->data(), text.data() + at, piece->size()), 0);
      at += piece->size();
      before = *piece;
    }
    EXPECT_EQ(at, bytes);
    EXPECT_TRUE(input.Next()->empty());  // and again
  }
}

TEST(ReadAhead, CanBeLeftInTheMiddle) {
  const Scratch scratch;
  scratch.Write("file", Pattern(9 * ReadAhead::kPieceBytes));
  const UniqueFd fd(::open((scratch / "file").c_str(), O_RDONLY | O_CLOEXEC));
  ReadAhead input(fd.get(), "file", [] { return false; });
  EXPECT_FALSE(input.Next()->empty());
}

TEST(ReadAhead, AStopEndsTheWaitForAnIdlePipe) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reading(ends[0]);
  const UniqueFd writing(ends[1]);
  std::atomic<bool> stopped = false;
  ReadAhead input(reading.get(), "pipe", [&] { return stopped.load(); });
  std::thread stopper([&] { stopped = true; });
  const auto piece = input.Next();
  stopper.join();
  ASSERT_FALSE(piece.ok());
  EXPECT_EQ(piece.status().code(), Code::kStopped);
}

TEST(ReadAhead, AFailureIsNamed) {
  const Scratch scratch;
  const UniqueFd fd(::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ReadAhead input(fd.get(), "the folder", [] { return false; });
  const auto piece = input.Next();
  ASSERT_FALSE(piece.ok());
  EXPECT_EQ(piece.status().text(), "the folder: Is a directory");
}

}  // namespace
}  // namespace augur
