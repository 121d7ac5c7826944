# Programs with forms of their own of some calls of the C library, which must not be the checked ones of its headers.
set_source_files_properties(unit/system_faults.cc PROPERTIES COMPILE_OPTIONS "-U_FORTIFY_SOURCE")
augur_test(store_faults
  unit/store_faults/collect_faults_test.cc
  unit/store_faults/publish_faults_test.cc
  unit/store_faults/resume_faults_test.cc
  unit/store_faults/write_pump_faults_test.cc
  unit/system_faults.cc
  LAYERS store)
augur_test(target_folder
  unit/tools/target_folder_test.cc
  unit/system_faults.cc
  ${PROJECT_SOURCE_DIR}/tools/commands/target_folder.cc
  ${PROJECT_SOURCE_DIR}/tools/commands/write_all.cc
  LAYERS store)
target_include_directories(target_folder_test PRIVATE ${PROJECT_SOURCE_DIR})
