// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace augur {

// ProcessTitle is this process's command line, as ps and pgrep -f show it, and its name, as top does. A forked child
// must not be taken for its parent. Argument strings must not be used any more once it was Set. Where /proc does not
// tell where they are, the command line stays as it is. One thread.
class ProcessTitle {
 public:
  // Remembers what it is now.
  ProcessTitle();

  // Writes `title` over it, cut to its length, and `name` (at most 15 bytes). Allocates nothing.
  void Set(const char* name, std::string_view title);
  // As it was.
  void Restore();

 private:
  char* begin_ = nullptr;
  std::string before_;
  std::array<char, 16> name_before_{};
};

}  // namespace augur
