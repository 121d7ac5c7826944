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
// NAME-SEED.bin. Returns the exit status.
int MutateFiles(const std::string& name, int argc, char** argv,
                const std::function<bool(std::span<const std::byte>)>& once);

}  // namespace augur
