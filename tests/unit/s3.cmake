# SPDX-License-Identifier: Apache-2.0
augur_test(s3
  unit/s3/aws_home.cc
  unit/s3/credential_process_test.cc
  unit/s3/credential_sources_test.cc
  unit/s3/fake_server.cc
  unit/s3/ini_file_test.cc
  unit/s3/object_url_test.cc
  unit/s3/profile_files_test.cc
  unit/s3/profile_source_test.cc
  unit/s3/renewal_schedule_test.cc
  unit/s3/renewing_credentials_test.cc
  unit/s3/request_signer_test.cc
  unit/s3/s3_access_test.cc
  unit/s3/s3_endpoint_test.cc
  unit/s3/s3_options_test.cc
  unit/s3/utc_time_test.cc
  LAYERS s3)

# For tests/s3/test_signer.py.
add_executable(sign_dump tools/sign_dump.cc)
target_link_libraries(sign_dump PRIVATE augur_s3 nlohmann_json::nlohmann_json)
set_target_properties(sign_dump PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
