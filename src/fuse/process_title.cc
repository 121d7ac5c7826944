// SPDX-License-Identifier: Apache-2.0
#include "fuse/process_title.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

namespace augur {

ProcessTitle::ProcessTitle() {
  (void)prctl(PR_GET_NAME, name_before_.data());
  // proc(5): fields 48 and 49 are where the arguments begin and end in memory. Fields are counted from the name's
  // closing bracket, which ends field 2, as the name may have spaces in it.
  constexpr int kAfterName = 2;
  constexpr int kArgumentsBegin = 48;
  std::string line;
  std::getline(std::ifstream("/proc/self/stat"), line);
  std::istringstream fields(line.substr(std::min(line.rfind(')') + 1, line.size())));
  std::string skipped;
  for (int i = kAfterName + 1; i < kArgumentsBegin; ++i) fields >> skipped;
  uintptr_t begin = 0;
  uintptr_t end = 0;
  fields >> begin >> end;
  if (!fields || begin == 0 || end <= begin) return;
  begin_ = reinterpret_cast<char*>(begin);  // NOLINT(performance-no-int-to-ptr): it is an address
  before_.assign(begin_, end - begin);
}

void ProcessTitle::Set(const char* name, std::string_view title) {
  (void)prctl(PR_SET_NAME, name);
  if (before_.empty()) return;
  std::memset(begin_, 0, before_.size());
  // The last byte stays 0: it tells the kernel that the arguments end there.
  std::memcpy(begin_, title.data(), std::min(title.size(), before_.size() - 1));
}

void ProcessTitle::Restore() {
  (void)prctl(PR_SET_NAME, name_before_.data());
  std::memcpy(begin_, before_.data(), before_.size());
}

}  // namespace augur
