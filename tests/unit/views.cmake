# SPDX-License-Identifier: Apache-2.0
augur_test(views
  unit/views/geometry_test.cc unit/views/render_test.cc unit/views/spec_number_test.cc unit/views/view_names_test.cc
  unit/views/view_spec_test.cc
  LAYERS views)

# For tests/frameworks/test_containers.py, test_view_arrays.py and test_view_geometry.py.
add_executable(container_dump tools/container_dump.cc)
target_link_libraries(container_dump PRIVATE augur_views)
