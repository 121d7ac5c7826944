// SPDX-License-Identifier: Apache-2.0
#include "archives/h5_heap_format.h"

#include "archives/little_endian.h"
#include "base/page.h"

namespace augur {
namespace {

constexpr uint64_t kHeaderBytes = 16;  // of a collection, and of an object in it
constexpr uint64_t kObjectAlignment = 8;

uint64_t UsedBytes(const Sample& sample) { return 2 * kHeaderBytes + RoundUp(sample.image.size, kObjectAlignment); }

void AddObject(uint16_t number, uint64_t bytes, std::string* text) {
  AddLittleEndian(number, 2, text);
  AddLittleEndian(number == 0 ? 0 : 1, 2, text);  // references; the free space has none
  AddLittleEndian(0, 4, text);
  AddLittleEndian(bytes, 8, text);
}

}  // namespace

uint64_t H5HeapFormat::SampleBytes(const Sample& sample, const std::string& /*key*/) const {
  return RoundUp(UsedBytes(sample), kPageBytes);
}

uint64_t H5HeapFormat::ImageOffset(const Sample& /*sample*/, const std::string& /*key*/) const {
  return 2 * kHeaderBytes;
}

SampleFrame H5HeapFormat::Frame(const Sample& sample, const std::string& key) const {
  const uint64_t all = SampleBytes(sample, key);
  SampleFrame frame;
  frame.head.append("GCOL\x01").append(3, '\0');
  AddLittleEndian(all, 8, &frame.head);
  AddObject(kObject, sample.image.size, &frame.head);
  const uint64_t free_bytes = all - UsedBytes(sample);
  frame.tail.assign(RoundUp(sample.image.size, kObjectAlignment) - sample.image.size, '\0');
  if (free_bytes >= kHeaderBytes) AddObject(0, free_bytes, &frame.tail);
  frame.tail.append(all - frame.head.size() - sample.image.size - frame.tail.size(), '\0');
  return frame;
}

}  // namespace augur
