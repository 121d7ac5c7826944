# SPDX-License-Identifier: Apache-2.0
augur_test(daemon_control
  unit/tools/daemon_control_test.cc ${PROJECT_SOURCE_DIR}/tools/daemon_control.cc
  ${PROJECT_SOURCE_DIR}/tools/view_totals.cc
  LAYERS tools fs predict datasets store cache io control)
augur_test(daemon_parts
  unit/tools/end_watchdog_test.cc unit/tools/user_account_test.cc
  ${PROJECT_SOURCE_DIR}/tools/end_watchdog.cc ${PROJECT_SOURCE_DIR}/tools/user_account.cc
  LAYERS tools)
augur_test(daemon_succession
  unit/tools/daemon_upgrade_test.cc unit/tools/mounted_generations_test.cc
  ${PROJECT_SOURCE_DIR}/tools/daemon_upgrade.cc ${PROJECT_SOURCE_DIR}/tools/mounted_generations.cc
  LAYERS tools fuse fs views store control LIBS nlohmann_json::nlohmann_json)
