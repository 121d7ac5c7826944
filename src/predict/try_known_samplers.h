// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "predict/identified_order.h"
#include "predict/search_request.h"
#include "samplers/known_samplers.h"

namespace augur {

// What can be answered at once, on the calling thread: by `question.expected`, and by the first epochs of the known
// samplers. Milliseconds for some thousands of samples; seconds for millions, which `question.stopped` breaks off. Then
// there is no answer, here and below.
std::optional<IdentifiedOrder> TryKnownSamplers(const SearchRequest& question, const std::vector<KnownSampler>& known);

// The same for an epoch that this host begins in its midst: what may follow from the epoch before, and, where
// `question.variants`, the first epochs of the known samplers. A rank of other hosts' that is not the first one begins
// so, and so does a resumed run. Costs 0.2 s at most.
std::optional<IdentifiedOrder> TryKnownSamplersMidEpoch(const SearchRequest& question,
                                                        const std::vector<KnownSampler>& known);

// The same by the first outputs of the streams of seeds that people give, in some milliseconds, the first time in a
// process in a tenth of a second.
std::optional<IdentifiedOrder> AnswerFromStreams(const SearchRequest& question);

}  // namespace augur
