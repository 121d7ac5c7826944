# SPDX-License-Identifier: Apache-2.0
augur_test(diagnosis
  unit/diagnosis/machine_checks_test.cc unit/diagnosis/machine_survey_test.cc unit/diagnosis/run_checks_test.cc
  unit/diagnosis/run_recording_test.cc unit/diagnosis/run_report_test.cc unit/diagnosis/run_window_test.cc unit/diagnosis/top_screen_test.cc
  LAYERS diagnosis LIBS nlohmann_json::nlohmann_json)
