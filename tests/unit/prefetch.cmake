# SPDX-License-Identifier: Apache-2.0
augur_test(prefetch
  unit/prefetch/disk_model_test.cc unit/prefetch/event_queue_test.cc unit/prefetch/fetched_files_test.cc unit/prefetch/limit_fit_test.cc unit/prefetch/miss_cause_test.cc unit/prefetch/planner_drop_test.cc unit/prefetch/planner_goals_test.cc unit/prefetch/planner_simulation_test.cc
  unit/prefetch/reader_position_test.cc unit/prefetch/reader_jump_test.cc unit/prefetch/simulation.cc unit/prefetch/region_read_test.cc unit/prefetch/round_trip_test.cc unit/prefetch/disk_regions_test.cc unit/prefetch/read_schedule_test.cc
  unit/prefetch/planner_reuse_test.cc unit/prefetch/planner_pages_test.cc unit/prefetch/use_queue_test.cc unit/prefetch/view_orders_test.cc
  unit/prefetch/read_meter_test.cc unit/prefetch/read_planner_test.cc unit/prefetch/read_admission_test.cc unit/prefetch/read_mode_test.cc unit/prefetch/reader_speed_test.cc unit/prefetch/recent_reads_test.cc unit/prefetch/reclaim_evidence_test.cc
  unit/prefetch/adjacent_files_test.cc unit/prefetch/file_states_test.cc unit/prefetch/page_cache_files_test.cc unit/prefetch/page_cache_planner_test.cc
  unit/prefetch/reader_pages_test.cc unit/prefetch/retention_planner_test.cc unit/prefetch/staging_test.cc unit/prefetch/visit_deadlines_test.cc
  unit/prefetch/prefetch_status_test.cc unit/prefetch/unplanned_pages_test.cc unit/prefetch/view_turns_test.cc unit/prefetch/watched_folders_test.cc
  LAYERS prefetch)
