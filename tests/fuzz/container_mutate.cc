// SPDX-License-Identifier: Apache-2.0
// The readers of containers under mutated files, for compilers without libFuzzer: see README.md and mutate_files.h.
#include "fuzz/container_once.h"
#include "fuzz/mend_sums.h"
#include "fuzz/mutate_files.h"

int main(int argc, char** argv) {
  return augur::MutateFiles("container_mutate", argc, argv, augur::PackContainerOnce, augur::MendSums);
}
