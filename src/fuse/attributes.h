// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include "fs/file_system.h"

namespace augur {

// What stat(2) shows as the size of a good read. Of files as on ext4, so that programs do on the mount what they do on
// the folder: Python's open() reads this much to give 16 bytes. 128 KiB makes a small read in a large file 32 times as
// large. An image read as PIL does takes 9.5 us with it instead of 7.9 (125 KB, hot). 64 KiB halves the READs of a cold
// image (1.3 instead of 2.7), and neither cold nor hot is faster for it: the kernel's readahead is under way by then.
inline constexpr blksize_t kFileReadBytes = 4096;
// Most archives are read from the beginning to the end. Python's open() reads them in pieces of this size.
inline constexpr blksize_t kArchiveReadBytes = 1 << 20;
// Of folders the C library takes it as the size of its listing buffer (from 32 KiB on), and the kernel asks us for as
// much at once.
inline constexpr blksize_t kListingBytes = 64 << 10;

// The one place where attributes become what stat(2) shows.
inline struct stat ToStat(const NodeAttributes& attributes) {
  struct stat out {};
  out.st_ino = attributes.node;
  out.st_mode = attributes.mode;
  out.st_nlink = 1;  // of folders: "not known"
  out.st_uid = attributes.uid;
  out.st_gid = attributes.gid;
  out.st_size = static_cast<off_t>(attributes.size);
  out.st_blksize = attributes.stored_bytes && !attributes.read_in_pieces ? kArchiveReadBytes : kFileReadBytes;
  if (S_ISDIR(attributes.mode)) out.st_blksize = kListingBytes;
  out.st_blocks = static_cast<blkcnt_t>((attributes.stored_bytes.value_or(attributes.size) + 511) / 512);
  out.st_mtim = {.tv_sec = attributes.mtime_sec, .tv_nsec = attributes.mtime_nsec};
  out.st_atim = out.st_mtim;
  out.st_ctim = out.st_mtim;
  return out;
}

}  // namespace augur
