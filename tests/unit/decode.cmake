# SPDX-License-Identifier: Apache-2.0
augur_test(decode unit/decode/exif_test.cc unit/decode/image_probe_test.cc LAYERS decode LIBS PkgConfig::spng)
