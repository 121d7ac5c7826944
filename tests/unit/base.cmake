augur_test(base unit/base/cores_test.cc unit/base/excerpt_test.cc unit/base/limited_log_test.cc unit/base/recycled_memory_test.cc unit/base/status_test.cc unit/base/units_test.cc LAYERS base)
