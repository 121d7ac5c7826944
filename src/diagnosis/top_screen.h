// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diagnosis/run_window.h"

namespace augur {

// The screen of 'augurctl top': who reads how fast, where the files come from, what waits, how far the order is. Then
// what the disk or server does beside what it could do, memory by part, decoding, errors. Pure.

// Lines of at most `columns` columns, `rows` of them at most: what matters less comes last, and is left out first.
// Bytes from names are made printable. `now`: the time of day, for the first line.
std::vector<std::string> TopLines(const RunWindow& window, const std::string& now, size_t columns, size_t rows);

// The same numbers as one JSON object. Rates are for each second.
std::string TopJson(const RunWindow& window);

}  // namespace augur
