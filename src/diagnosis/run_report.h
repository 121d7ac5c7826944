// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "diagnosis/run_recording.h"

namespace augur {

// A page of HTML that shows a recording: its numbers, and pictures of each epoch beside each other. It is whole in
// itself: no script, no address, nothing to load. It is well-formed XML, too. `when`: the time of day at the first
// sample, for people. Pure. REQUIRES: two samples at least.
std::string RenderRunReport(const RunRecording& recording, const std::string& when);

}  // namespace augur
