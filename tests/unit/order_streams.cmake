# SPDX-License-Identifier: Apache-2.0
augur_test(order_streams
  unit/order_streams/epochs_test.cc
  unit/order_streams/fake_processes.cc
  unit/order_streams/file_set_test.cc
  unit/order_streams/proc_source_test.cc
  unit/order_streams/process_table_test.cc
  unit/order_streams/streams_test.cc
  unit/order_streams/trace_simulation.cc
  LAYERS order)

# For tests/frameworks/test_streams.py.
add_executable(stream_probe tools/stream_probe.cc)
target_link_libraries(stream_probe PRIVATE augur_order)
