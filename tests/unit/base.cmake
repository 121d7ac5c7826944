augur_test(base unit/base/status_test.cc unit/base/units_test.cc LAYERS base)
