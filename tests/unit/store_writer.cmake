augur_test(store_writer
  unit/store_writer/basic_test.cc
  unit/store_writer/collect_test.cc
  unit/store_writer/duplicates_test.cc
  unit/store_writer/full_disk_test.cc
  unit/store_writer/kill_test.cc
  unit/store_writer/links_test.cc
  unit/store_writer/listing_test.cc
  unit/store_writer/model_test.cc
  unit/store_writer/modes_test.cc
  unit/store_writer/parts_test.cc
  unit/store_writer/planted_test.cc
  unit/store_writer/recipe_test.cc
  unit/store_writer/resume_test.cc
  unit/store_writer/stream_test.cc
  unit/store_writer/write_pump_test.cc
  LAYERS store)
