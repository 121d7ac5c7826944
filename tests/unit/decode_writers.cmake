# SPDX-License-Identifier: Apache-2.0
augur_test(decode_writers
  unit/decode_writers/bmp_writer_test.cc unit/decode_writers/center_crop_test.cc unit/decode_writers/npy_writer_test.cc
  unit/decode_writers/png_writer_test.cc unit/decode_writers/ppm_writer_test.cc unit/decode_writers/pt_writer_test.cc
  unit/decode_writers/rgb_bytes_test.cc
  LAYERS decode LIBS PkgConfig::spng)
