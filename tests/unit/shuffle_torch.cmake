# SPDX-License-Identifier: Apache-2.0
augur_test(shuffle_torch
  unit/shuffle/mt19937_test.cc
  LAYERS shuffle)
