augur_test(tools
  unit/tools/augurctl_options_test.cc
  unit/tools/bus_error_test.cc
  unit/tools/augurfs_options_test.cc
  unit/tools/augurpack_options_test.cc
  unit/tools/group_number_test.cc
  unit/tools/mount_options_test.cc
  unit/tools/option_text_test.cc
  unit/tools/presets_test.cc
  unit/tools/options_test.cc
  unit/tools/progress_bar_test.cc
  unit/tools/upgrade_options_test.cc
  LAYERS tools samplers)
augur_test(pack_session unit/tools/pack_session_test.cc ${PROJECT_SOURCE_DIR}/tools/commands/pack_session.cc
  LAYERS tools pack LIBS nlohmann_json::nlohmann_json)
