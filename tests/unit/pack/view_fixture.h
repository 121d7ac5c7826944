// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "augur/store.h"
#include "augur/store_writer.h"
#include "decode/image.h"
#include "decode/image_probe.h"
#include "decode/png_writer.h"
#include "unit/pack/scratch.h"
#include "views/view_spec.h"

namespace augur {

// A PNG of one colour.
inline std::vector<std::byte> PlainPng(uint32_t width, uint32_t height, uint8_t grey) {
  const Image image = MakeImage(width, height, 3);
  std::fill_n(image.pixels.get(), image.bytes(), grey);
  std::vector<std::byte> file(PngBytes(width, height, 3, 0));
  WritePng(image, {}, file);
  return file;
}

inline ViewSpec SpecOf(std::string_view text) {
  const Result<ViewSpec> spec = ParseViewSpec(text);
  EXPECT_TRUE(spec.ok()) << spec.status().text();
  return *spec;
}

// A small store to take views of. Add what is to be in it, then Open.
class ViewStore {
 public:
  ViewStore() : writer_(StoreWriter::Begin(scratch_ / "store", {}).value()) {}

  void Add(const std::string& path, std::span<const std::byte> bytes) {
    EXPECT_TRUE(writer_->AddFile(path, {.mode = 0644}, ProbeImage(bytes), bytes).ok());
  }
  void AddText(const std::string& path, std::string_view text) { Add(path, std::as_bytes(std::span(text))); }
  void AddImage(const std::string& path, uint8_t grey = 0) { Add(path, PlainPng(4, 2, grey)); }
  StoreWriter& writer() { return *writer_; }

  std::shared_ptr<const Store> Open() {
    EXPECT_TRUE(writer_->Commit().ok());
    writer_.reset();
    return Store::Open(scratch_ / "store").value();
  }

 private:
  const Scratch scratch_;
  std::unique_ptr<StoreWriter> writer_;
};

}  // namespace augur
