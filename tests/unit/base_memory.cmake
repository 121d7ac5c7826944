# SPDX-License-Identifier: Apache-2.0
augur_test(base_memory unit/base/memory_test.cc LAYERS base)
