# SPDX-License-Identifier: Apache-2.0
augur_test(predict
  unit/predict/access_queue_test.cc unit/predict/try_budget_test.cc unit/predict/unpredicted_reads_test.cc unit/predict/data_heat_test.cc
  unit/predict/false_lock_test.cc unit/predict/followed_order_test.cc unit/predict/order_handover_test.cc unit/predict/order_predictor_hint_test.cc
  unit/predict/order_predictor_runs_test.cc unit/predict/order_predictor_search_test.cc unit/predict/order_predictor_test.cc
  unit/predict/full_queue_test.cc unit/predict/guess_text_test.cc unit/predict/hot_data_pause_test.cc
  unit/predict/hot_data_test.cc unit/predict/order_search_test.cc unit/predict/job_predictor_test.cc unit/predict/job_history_test.cc
  unit/predict/job_search_test.cc unit/predict/job_table_test.cc unit/predict/job_orders_test.cc
  unit/predict/host_share_test.cc unit/predict/rank_arrivals_test.cc unit/predict/order_predictor_ranks_test.cc
  unit/predict/run_recorder_test.cc unit/predict/small_set_test.cc unit/predict/stream_search_test.cc
  unit/predict/next_epochs_test.cc unit/predict/predicted_epoch_test.cc unit/predict/test_reads.cc unit/predict_evidence/loader_reads.cc
  unit/readers/fake_processes.cc unit/readers/trace_simulation.cc
  LAYERS predict)
