# SPDX-License-Identifier: Apache-2.0
augur_test(io
  unit/io/fake_engine_test.cc unit/io/read_engine_test.cc unit/io/read_progress_test.cc unit/io/uring_denied_test.cc
  unit/io/uring_refusal_test.cc
  LAYERS io)
