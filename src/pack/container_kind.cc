// SPDX-License-Identifier: Apache-2.0
#include "pack/container_kind.h"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "pack/arrow_pass.h"
#include "pack/beton_pass.h"
#include "pack/gzip_stream.h"
#include "pack/hdf5_object.h"
#include "pack/lmdb_walk.h"
#include "pack/mds_pass.h"
#include "pack/parquet_pass.h"
#include "pack/recordio_pass.h"
#include "pack/tfrecord_frame.h"

namespace augur {
namespace {

using namespace std::string_view_literals;

constexpr size_t kTarMagicAt = 257;  // of ustar and GNU tar
constexpr size_t kInflatedBytesMax = 4096;
constexpr int kAnyZlibHeader = 15 + 32;

bool HasAt(std::span<const std::byte> head, size_t at, std::string_view magic) {
  return head.size() >= at + magic.size() &&
         std::equal(magic.begin(), magic.end(), head.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char a, std::byte b) { return std::byte(a) == b; });
}

// The first bytes of what gzip or zlib has compressed; empty: this is neither.
std::vector<std::byte> Inflated(std::span<const std::byte> head) {
  std::vector<std::byte> out(TfRecordFrame::kHeadBytes);
  z_stream zlib = {};
  if (::inflateInit2(&zlib, kAnyZlibHeader) != Z_OK) return {};
  zlib.next_in = reinterpret_cast<const Bytef*>(head.data());
  zlib.avail_in = static_cast<uInt>(head.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  const int result = ::inflate(&zlib, Z_SYNC_FLUSH);
  ::inflateEnd(&zlib);
  if (result != Z_OK && result != Z_STREAM_END) return {};
  out.resize(out.size() - zlib.avail_out);
  return out;
}

bool IsCompressedTfRecord(std::span<const std::byte> head) {
  return TfRecordFrame::Recognizes(Inflated(head.first(std::min(head.size(), kInflatedBytesMax))));
}

}  // namespace

Result<ContainerKind> FindContainerKind(Container& container, std::span<const std::byte> head) {
  if (HasAt(head, kTarMagicAt, "ustar"sv)) return ContainerKind::kTar;
  if (HasAt(head, 0, "PK\3\4"sv) || HasAt(head, 0, "PK\5\6"sv)) return ContainerKind::kZip;
  if (TfRecordFrame::Recognizes(head)) return ContainerKind::kTfRecord;
  if (ParquetPass::Recognizes(head)) return ContainerKind::kParquet;
  if (ArrowPass::Recognizes(head)) return ContainerKind::kArrow;
  if (Hdf5Reader::Recognizes(head)) return ContainerKind::kHdf5;
  if (LmdbWalk::Recognizes(head)) return ContainerKind::kLmdb;
  if (RecordIoPass::Recognizes(head)) return ContainerKind::kRecordIo;
  if (BetonPass::Recognizes(container, head)) return ContainerKind::kBeton;
  AUGUR_TRY_ASSIGN(is_mds, MdsPass::Recognizes(container, head));
  if (is_mds) return ContainerKind::kMds;
  return ContainerKind::kTar;
}

bool HasSamples(ContainerKind kind) { return kind != ContainerKind::kTar && kind != ContainerKind::kZip; }

std::string_view DescribeContainer(ContainerKind kind, std::span<const std::byte> head) {
  switch (kind) {
    case ContainerKind::kTar:
      if (HasAt(head, kTarMagicAt, "ustar"sv)) return "a tar";
      return IsCompressedTfRecord(head) ? "a compressed TFRecord file" : "";
    case ContainerKind::kZip: return {};
    case ContainerKind::kTfRecord: return "a TFRecord file";
    case ContainerKind::kRecordIo: return "a RecordIO file";
    case ContainerKind::kMds: return "a shard of MDS";
    case ContainerKind::kLmdb: return "an LMDB database";
    case ContainerKind::kParquet: return "a Parquet file";
    case ContainerKind::kArrow: return "an Arrow file";
    case ContainerKind::kHdf5: return "an HDF5 file";
    case ContainerKind::kBeton: return "a .beton file";
  }
  AUGUR_CHECK(false);
}

std::string_view WhyRefused(std::span<const std::byte> head) {
  if (HasAt(head, kTarMagicAt, "ustar"sv)) return {};
  if (IsCompressedTfRecord(head)) {
    if (GzipStream::Recognizes(head)) {
      return "is a compressed TFRecord file, whose images are not stored as they are: pack it with 'augurpack create', "
             "or unpack it (gzip -dc < FILE > NEW) and give that";
    }
    return "is a TFRecord file compressed by ZLIB, which augurpack cannot read: unpack it (pigz -dc < FILE > NEW) and "
           "give that";
  }
  return {};
}

}  // namespace augur
