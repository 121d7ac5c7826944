// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace augur {

// Takes the first character off a text, as Python reads the names of files (PEP 383). The text is strict UTF-8, and a
// byte that is none is the lone surrogate U+DC00 + byte. REQUIRES: the text is not empty.
char32_t TakePythonChar(std::string_view* text);

// Whether Python compares the text as its bytes do: all of it is UTF-8. Code points and their UTF-8 have one order, but
// a stray byte stands for U+DC80 to U+DCFF, below U+E000.
bool IsUtf8(std::string_view text);

// a < b as Python compares strings that were names of files.
bool PythonLess(std::string_view a, std::string_view b);

// How natural_key of timm (timm/utils/misc.py) orders two names: lower-case, runs of decimal digits by their value,
// which begin below every other character. Below 0: a before b; 0: the keys are equal ("a1" and "A01"). A folder's name
// counts with the '/' that follows it in a path. What no '/' parts can be compared name by name: see sample_walk.cc.
// Differences: Python also lower-cases letters above ASCII and takes digits of other scripts. A dataset with such names
// is in another order than this, and no read agrees with it.
int NaturalCompare(std::string_view a, bool a_is_folder, std::string_view b, bool b_is_folder);

}  // namespace augur
