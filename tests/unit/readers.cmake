# SPDX-License-Identifier: Apache-2.0
augur_test(readers
  unit/readers/epoch_jobs_test.cc
  unit/readers/epoch_limits_test.cc
  unit/readers/epoch_page_cache_test.cc
  unit/readers/epoch_player.cc
  unit/readers/epochs_test.cc
  unit/readers/fake_processes.cc
  unit/readers/file_set_test.cc
  unit/readers/job_pass_test.cc
  unit/readers/last_readers_test.cc
  unit/readers/proc_source_test.cc
  unit/readers/process_table_test.cc
  unit/readers/streams_test.cc
  unit/readers/trace_simulation.cc
  LAYERS readers)

# For tests/frameworks/test_streams.py.
add_executable(stream_probe tools/stream_probe.cc)
target_link_libraries(stream_probe PRIVATE augur_readers)
