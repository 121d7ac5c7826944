// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "s3/credentials.h"
#include "s3/environment.h"

namespace augur {

// The words of a command line by the rules of a POSIX shell for blanks, quotes and backslashes, as Python's shlex.split
// has them; nothing is expanded. kInvalid: a quote without its end.
Result<std::vector<std::string>> ShellWords(std::string_view line);

inline constexpr std::chrono::milliseconds kCredentialProcessTimeMax{60'000};

// Runs the credential_process of a profile without a shell, in this environment, with no input, and reads the
// credentials that it writes (version 1). It is killed, with what it has started in its group, when it has not ended in
// `time_max`. Blocks for as long. kInvalid: the command or its answer is wrong. kIo: it does not start, fails or takes
// too long. Where it fails, the text has what it wrote to its standard error, and nothing of its output.
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html
Result<Credentials> RunCredentialProcess(std::string_view command, const Environment& environment,
                                         const std::string& source,
                                         std::chrono::milliseconds time_max = kCredentialProcessTimeMax);

}  // namespace augur
