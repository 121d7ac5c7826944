// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "augur/status.h"

namespace augur {

// DuplicateTable finds the records that may have the same bytes as one at hand: a multimap from a 64-bit fingerprint
// to a number. One thread at a time. Not a proof: whoever finds compares hash, size and bytes.
//
// Memory counts most at ten million records. So it has slots of 16 bytes and open addressing with linear probing, is
// filled to 0.8, and grows by half. Its 64 partitions grow one at a time, so that only one of them has its old and its
// new copy at once. 16 / 0.8 * 1.5 = 30 bytes a record at most, and 1/64 more while one grows.
class DuplicateTable {
 public:
  DuplicateTable() = default;
  ~DuplicateTable();
  DuplicateTable(const DuplicateTable&) = delete;
  DuplicateTable& operator=(const DuplicateTable&) = delete;

  // Calls same(number) for each number of the fingerprint, until it returns true; returns whether it did.
  template <typename Same>
  bool Find(uint64_t fingerprint, const Same& same) const {
    const uint64_t key = KeyOf(fingerprint);
    const Partition& part = parts_[key >> kPartBits];
    if (part.capacity == 0) return false;
    for (uint64_t i = Home(key, part.capacity); part.slots[i].key != 0; i = i + 1 == part.capacity ? 0 : i + 1) {
      if (part.slots[i].key == key && same(part.slots[i].number)) return true;
    }
    return false;
  }

  // kNoSpace: no memory; nothing was inserted.
  Status Insert(uint64_t fingerprint, uint64_t number);

  // Gives all memory back.
  void Clear();

 private:
  struct Slot {
    uint64_t key;  // 0: empty
    uint64_t number;
  };
  struct Partition {
    Slot* slots = nullptr;  // owned, from mmap
    uint64_t capacity = 0;
    uint64_t used = 0;
  };
  static constexpr int kPartBits = 58;  // the top 6 bits choose one of 64 partitions

  static uint64_t KeyOf(uint64_t fingerprint) { return fingerprint == 0 ? 1 : fingerprint; }
  // Where the search for a key begins: the bits below the partition's, scaled to the capacity.
  static uint64_t Home(uint64_t key, uint64_t capacity) {
    return static_cast<uint64_t>((static_cast<Wide>(key << 6) * capacity) >> 64);
  }
  static Status GrowPartition(Partition& part);
  static void Put(Partition& part, Slot slot);

  __extension__ using Wide = unsigned __int128;

  std::array<Partition, 64> parts_{};
};

}  // namespace augur
