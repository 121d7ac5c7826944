augur_test(tools
  unit/tools/augurctl_options_test.cc
  unit/tools/augurfs_options_test.cc
  unit/tools/augurpack_options_test.cc
  unit/tools/mount_options_test.cc
  unit/tools/option_text_test.cc
  unit/tools/options_test.cc
  unit/tools/progress_test.cc
  LAYERS tools shuffle)
