// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg_session.h"

// libjpeg's error codes are a second header.
#include <jerror.h>

#include <algorithm>
#include <array>

#include "base/page.h"

namespace augur {
namespace {

// A scan may be four bytes long and yet make libjpeg visit every coefficient ("progressive bomb"). Encoders write 10 to
// 15 scans; visiting the 1 million blocks of a 40-megapixel image takes some 5 ms, so 100 idle scans are half a second.
constexpr int kScansMax = 100;

// Rows of samples that libjpeg holds at most beside the coefficients: two groups of 16 with their neighbours before
// upsampling, one of 16 after it, and one of the IDCT.
constexpr uint64_t kRowsHeld = 64;

void OnMessage(j_common_ptr /*common*/, int /*level*/) {}
void OnOutput(j_common_ptr /*common*/) {}
void OnSource(j_decompress_ptr /*decompress*/) {}
boolean OnEmpty(j_decompress_ptr /*decompress*/) { return FALSE; }  // suspend

}  // namespace

JpegSession::JpegSession(std::span<const std::byte> file) {
  base_.err = jpeg_std_error(&errors_);
  errors_.error_exit = OnError;
  errors_.emit_message = OnMessage;
  errors_.output_message = OnOutput;
  source_.next_input_byte = reinterpret_cast<const JOCTET*>(file.data());
  source_.bytes_in_buffer = file.size();
  source_.init_source = OnSource;
  source_.fill_input_buffer = OnEmpty;
  source_.skip_input_data = OnSkip;
  source_.resync_to_restart = jpeg_resync_to_restart;
  source_.term_source = OnSource;
  progress_.progress_monitor = OnProgress;
}

JpegSession::~JpegSession() {
  if (created_) jpeg_destroy_decompress(&base_);
}

void JpegSession::OnError(j_common_ptr common) {
  std::longjmp(static_cast<JpegSession*>(common->client_data)->on_error_, 1);
}

void JpegSession::OnSkip(j_decompress_ptr decompress, long bytes) {  // NOLINT(google-runtime-int): libjpeg's type
  if (bytes <= 0) return;
  auto& self = *static_cast<JpegSession*>(decompress->client_data);
  const size_t here = std::min(static_cast<size_t>(bytes), self.source_.bytes_in_buffer);
  self.source_.next_input_byte += here;
  self.source_.bytes_in_buffer -= here;
  self.skip_bytes_ = static_cast<size_t>(bytes) - here;
}

void JpegSession::OnProgress(j_common_ptr common) {
  const auto& self = *static_cast<JpegSession*>(common->client_data);
  if (self.base_.input_scan_number > kScansMax) ERREXIT(common, JERR_BAD_PROGRESSION);
}

JpegSession::Outcome JpegSession::ReadHeader(uint32_t scale_denominator) {
  if (setjmp(on_error_) != 0) return Outcome::kBroken;  // NOLINT(cert-err52-cpp): libjpeg knows no other way
  if (!created_) {
    // It clears everything but err and client_data. Without the flag first, an error in it would leave it unfreed.
    created_ = true;
    base_.client_data = this;
    jpeg_create_decompress(&base_);
    base_.src = &source_;
    base_.progress = &progress_;
  }
  int outcome = JPEG_HEADER_TABLES_ONLY;
  // A file of tables alone may stand before the image's own.
  while (outcome == JPEG_HEADER_TABLES_ONLY) outcome = jpeg_read_header(&base_, FALSE);
  if (outcome == JPEG_SUSPENDED) return Outcome::kTruncated;
  base_.out_color_space = base_.num_components == 1   ? JCS_GRAYSCALE
                          : base_.num_components == 3 ? JCS_RGB
                          : base_.num_components == 4 ? JCS_CMYK
                                                      : JCS_UNKNOWN;
  base_.scale_num = 1;
  base_.scale_denom = scale_denominator;
  base_.dct_method = JDCT_ISLOW;
  base_.do_fancy_upsampling = TRUE;
  jpeg_calc_output_dimensions(&base_);
  return Outcome::kDone;
}

JpegSession::Outcome JpegSession::Start() {
  if (setjmp(on_error_) != 0) return Outcome::kBroken;  // NOLINT(cert-err52-cpp)
  return jpeg_start_decompress(&base_) != FALSE ? Outcome::kDone : Outcome::kTruncated;
}

JpegSession::Outcome JpegSession::ReadRows(uint8_t** rows, uint32_t count, uint32_t* done) {
  *done = 0;
  if (setjmp(on_error_) != 0) return Outcome::kBroken;  // NOLINT(cert-err52-cpp)
  *done = jpeg_read_scanlines(&base_, rows, count);
  return *done > 0 ? Outcome::kDone : Outcome::kTruncated;
}

JpegSession::Outcome JpegSession::Finish() {
  if (setjmp(on_error_) != 0) return Outcome::kBroken;  // NOLINT(cert-err52-cpp)
  return jpeg_finish_decompress(&base_) != FALSE ? Outcome::kDone : Outcome::kTruncated;
}

bool JpegSession::PretendEnd() {
  if (!tail_.empty()) return false;
  tail_.assign(source_.next_input_byte, source_.next_input_byte + source_.bytes_in_buffer);
  tail_.push_back(0xFF);
  tail_.push_back(JPEG_EOI);
  source_.next_input_byte = tail_.data();
  source_.bytes_in_buffer = tail_.size();
  const size_t skipped = skip_bytes_;
  skip_bytes_ = 0;
  if (skipped > 0) OnSkip(&base_, static_cast<long>(skipped));  // NOLINT(google-runtime-int): libjpeg's type
  return true;
}

uint64_t JpegSession::OneScanBytes(uint32_t width, uint32_t components) { return kRowsHeld * width * components; }

uint64_t JpegSession::WorkingBytes() {
  uint64_t bytes = OneScanBytes(base_.image_width, static_cast<uint32_t>(base_.num_components));
  if (jpeg_has_multiple_scans(&base_) == FALSE) return bytes;
  for (int i = 0; i < base_.num_components; ++i) {
    const jpeg_component_info& component = base_.comp_info[i];
    bytes += RoundUp(component.width_in_blocks, static_cast<uint64_t>(component.h_samp_factor)) *
             RoundUp(component.height_in_blocks, static_cast<uint64_t>(component.v_samp_factor)) * sizeof(JBLOCK);
  }
  return bytes;
}

std::string JpegSession::Message() {
  std::array<char, JMSG_LENGTH_MAX> text = {};
  errors_.format_message(reinterpret_cast<j_common_ptr>(&base_), text.data());
  return text.data();
}

}  // namespace augur
