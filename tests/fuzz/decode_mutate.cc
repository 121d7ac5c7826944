// SPDX-License-Identifier: Apache-2.0
// The decoders under mutated files, for compilers without libFuzzer: see README.md and mutate_files.h.
#include "fuzz/decode_once.h"
#include "fuzz/mutate_files.h"

int main(int argc, char** argv) { return augur::MutateFiles("decode_mutate", argc, argv, augur::DecodeOnce); }
