augur_test(store_writer
  unit/store_writer/basic_test.cc
  LAYERS store)
