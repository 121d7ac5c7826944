// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
// jpeglib.h needs size_t and FILE to be declared before it.
#include <jpeglib.h>

#include <span>
#include <string>
#include <vector>

#include "decode/decode_options.h"

namespace augur {

// JpegSession is one decompression by libjpeg, in steps that return instead of jumping. Its input is a span that must
// outlive it, read as a source that suspends at its end. So an input that ends too early (kTruncated) is told apart
// from a broken one (kBroken), as Pillow does it. One thread. Not for headers alone (jpeg_header.h).
//
// libjpeg reports errors by a callback that must not return. Each step below sets the place to jump to, holds no object
// with a destructor while libjpeg runs, and is left by one longjmp within that step. After kBroken only the destructor
// and the getters may be used.
class JpegSession {
 public:
  enum class Outcome {
    kDone,
    kTruncated,  // the input ended first
    kBroken,     // libjpeg gave up: error_code(), Message()
  };

  explicit JpegSession(std::span<const std::byte> file);
  ~JpegSession();
  JpegSession(const JpegSession&) = delete;
  JpegSession& operator=(const JpegSession&) = delete;

  // Reads up to the first scan and sets the colour space that Pillow asks for.
  Outcome ReadHeader(uint32_t scale_denominator);
  // Makes libjpeg ready to give rows, which for a file of several scans means reading all of them. May be called again
  // after kTruncated and PretendEnd.
  Outcome Start();
  // Writes the next rows, at most `count`, to rows[0..]; *done is how many. May be called again as Start.
  Outcome ReadRows(uint8_t** rows, uint32_t count, uint32_t* done);

  // After the last row: reads up to the end of the image, where broken bytes are an error, too. kTruncated: there is no
  // end marker, but all rows are there.
  Outcome Finish();

  // Puts an end-of-image marker behind the input, once, of which libjpeg makes an image. False: it was put already.
  // Source: JpegImageFile.load_read of Pillow.
  bool PretendEnd();

  // After ReadHeader: what decoding allocates beside the pixels, bytes.
  uint64_t WorkingBytes();
  // The same of any image of this width that has one scan.
  static uint64_t OneScanBytes(uint32_t width, uint32_t components);
  const jpeg_decompress_struct& state() const { return base_; }
  int error_code() const { return errors_.msg_code; }
  // What libjpeg says about the error.
  std::string Message();

 private:
  [[noreturn]] static void OnError(j_common_ptr common);
  static void OnSkip(j_decompress_ptr decompress, long bytes);  // NOLINT(google-runtime-int): libjpeg's type
  static void OnProgress(j_common_ptr common);

  jpeg_decompress_struct base_ = {};
  jpeg_error_mgr errors_ = {};
  jpeg_source_mgr source_ = {};
  jpeg_progress_mgr progress_ = {};
  std::jmp_buf on_error_ = {};
  size_t skip_bytes_ = 0;  // to skip of input that is not there yet
  bool created_ = false;
  std::vector<unsigned char> tail_;  // the input's rest and the marker of PretendEnd
};

}  // namespace augur
