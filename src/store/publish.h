// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "augur/status.h"
#include "store/generation_upload.h"
#include "store/manifest.h"
#include "store/write_folder.h"

namespace augur {

// Makes a generation the one that readers see, by renaming a new manifest over the old one. Everything that the
// manifest leads to must be on disk but for the names in the folder, which this sees to. OK: it is on disk. A failure
// that leaves *may_be_seen false: the old manifest stands. With true: readers see the new one, or may, and after a
// crash either can be there, so no file that one of them names may be removed. REQUIRES: the writer lock is held.
Status PublishManifest(const WriteFolder& folder, const Manifest& manifest, bool* may_be_seen);

// Gives a complete file of the folder to an upload, which removes its name once it is sent.
Status TakeAway(const WriteFolder& folder, const std::string& name, uint64_t bytes, GenerationUpload& upload);

}  // namespace augur
