# SPDX-License-Identifier: Apache-2.0
augur_test(prefetch
  unit/prefetch/disk_model_test.cc unit/prefetch/fetched_files_test.cc unit/prefetch/limit_fit_test.cc unit/prefetch/planner_drop_test.cc unit/prefetch/planner_goals_test.cc unit/prefetch/planner_simulation_test.cc
  unit/prefetch/progress_test.cc unit/prefetch/simulation.cc unit/prefetch/tile_visit_test.cc unit/prefetch/tiles_test.cc unit/prefetch/track_test.cc
  unit/prefetch/planner_left_test.cc unit/prefetch/planner_pages_test.cc unit/prefetch/use_queue_test.cc unit/prefetch/view_orders_test.cc
  LAYERS prefetch)
