# SPDX-License-Identifier: Apache-2.0
augur_test(order_replay
  unit/order/replay_check_test.cc
  unit/order/replay_crash_test.cc
  unit/order/replay_damage_test.cc
  unit/order/replay_folders_test.cc
  unit/order/replay_score_test.cc
  unit/order/replay_store_test.cc
  unit/order_evidence/loader_reads.cc
  LAYERS order shuffle)
