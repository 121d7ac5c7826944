# SPDX-License-Identifier: Apache-2.0
augur_test(foresee
  unit/foresee/ask_budget_test.cc unit/foresee/data_heat_test.cc unit/foresee/false_lock_test.cc unit/foresee/foreseer_hint_test.cc
  unit/foresee/foreseer_test.cc unit/foresee/guess_text_test.cc unit/foresee/hot_data_test.cc
  unit/foresee/inquiry_test.cc unit/foresee/job_foresight_test.cc unit/foresee/lanes_test.cc unit/foresee/run_cost_test.cc
  unit/foresee/own_stream_test.cc unit/foresee/run_lengths_test.cc unit/foresee/small_set_test.cc unit/foresee/succession_test.cc unit/foresee/test_reads.cc unit/order_evidence/loader_reads.cc
  unit/order_streams/fake_processes.cc unit/order_streams/trace_simulation.cc
  LAYERS foresee order search shuffle store control)
