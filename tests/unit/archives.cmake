augur_test(archives unit/archives/archive_set_test.cc unit/archives/archive_names_test.cc
  unit/archives/h5_metadata_test.cc unit/archives/shared_pages_test.cc LAYERS archives views)
