// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace augur {

// The main program of NAME SECONDS SEED FILE_OR_FOLDER...: tries each file as it is, then mutations of them until the
// time is over, and prints how many there were. SECONDS 0: the files alone. `once` returns whether a file was sound.
// The file that is being tried lies in the folder of temporary files until the next one, so that what crashes is kept:
// NAME-SEED.bin. Returns the exit status. `mend`, which may be empty, makes checksums of three in four mutations fit
// again: it gets the file before the mutation, and the mutated one.
int MutateFiles(const std::string& name, int argc, char** argv,
                const std::function<bool(std::span<const std::byte>)>& once,
                const std::function<void(std::span<const std::byte>, std::span<std::byte>)>& mend = {});

}  // namespace augur
