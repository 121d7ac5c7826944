# SPDX-License-Identifier: Apache-2.0
augur_test(control
  unit/control/access_record_test.cc unit/control/control_server_test.cc unit/control/control_socket_test.cc unit/control/frame_test.cc
  unit/control/render_test.cc unit/control/statistics_reading_test.cc unit/control/statistics_test.cc
  unit/control/status_screen_test.cc
  LAYERS control)
