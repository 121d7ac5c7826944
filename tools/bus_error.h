// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace augur {

// Makes SIGBUS end augurpack with a sentence on stderr and exit status 2, as any other failure of the disk. A writer
// fills its index and its tables through mappings (MappedFile). Where the file system of the store's folder goes away,
// a page of them cannot be got, which is no failure of a call. What such a run leaves is what kill -9 leaves: the store
// is as before, and the next run clears up or resumes.
void EndOnBusError();

}  // namespace augur
