// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/augurpack_options.h"

namespace augur {

// The subcommands of augurpack, one file each. Each writes its result to stdout, and what went wrong as
// "augurpack: what: cause" to stderr (PrintError in tools/output.h). They return the exit status: 0 done, 1 a negative
// answer (verify found defects; create, append left files out by --on-error=skip), 2 an error.
int RunCreate(const CreateOptions& options);
int RunAppend(const AppendOptions& options);
int RunAdopt(const AdoptOptions& options);
int RunGc(const GcOptions& options);
int RunInfo(const InfoOptions& options);
int RunLs(const LsOptions& options);
int RunVerify(const VerifyOptions& options);
int RunExtract(const ExtractOptions& options);
int RunUpgrade(const UpgradeOptions& options);

}  // namespace augur
