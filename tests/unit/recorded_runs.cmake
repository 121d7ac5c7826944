# SPDX-License-Identifier: Apache-2.0
augur_test(recorded_runs
  unit/recorded_runs/replay_check_test.cc
  unit/recorded_runs/replay_crash_test.cc
  unit/recorded_runs/replay_damage_test.cc
  unit/recorded_runs/replay_folders_test.cc
  unit/recorded_runs/replay_score_test.cc
  unit/recorded_runs/replay_store_test.cc
  unit/predict_evidence/loader_reads.cc
  LAYERS recorded_runs samplers)
