// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "augur/store.h"
#include "unit/store/test_store.h"

namespace augur::testing {

// One broken field of a small store, all of whose checksums are right.
struct Defect {
  const char* name;
  std::function<void(TestStore&)> make;
  const char* text;  // part of the error
  Code code = Code::kCorrupt;
  bool pinned = false;  // of version 2, and found at use only when the store is opened with its root hash
};

// Each file of rules instantiates this suite, with its defects; the one test of it is in refusal_test.cc.
class Refusal : public ::testing::TestWithParam<Defect> {};
inline std::string NameOf(const ::testing::TestParamInfo<Defect>& info) { return info.param.name; }

// Uses everything in the store: each entry from above and by number, link targets, and every byte.
Status UseAll(const Store& store);

// The root hash of an index of version 2.
Digest RootOf(const std::string& index);

}  // namespace augur::testing
