# SPDX-License-Identifier: Apache-2.0
augur_test(order_evidence
  unit/order_evidence/epoch_follower_test.cc unit/order_evidence/epoch_order_test.cc unit/order_evidence/evidence_test.cc
  unit/order_evidence/guess_test_test.cc unit/order_evidence/loader_reads.cc unit/order_evidence/order_fit_test.cc
  LAYERS order shuffle)
