augur_test(fs unit/fs/tree_test.cc unit/fs/read_test.cc LAYERS fs)
