// SPDX-License-Identifier: Apache-2.0
#include "pack/zip_names.h"

#include <algorithm>
#include <utility>

#include "pack/zip_directory.h"

namespace augur {
namespace {

std::string Plain(std::string name) {
  std::replace(name.begin(), name.end(), '\\', '/');
  if (name.ends_with('/')) name.pop_back();
  return name;
}

}  // namespace

Result<std::vector<ZipName>> ReadZipNames(int fd, const ZipEnd& end, const std::string& name) {
  AUGUR_TRY_ASSIGN(members, ReadZipDirectory(fd, end, name));
  std::vector<ZipName> names;
  names.reserve(members.size());
  for (ZipMember& member : members) names.push_back(std::move(member.name));
  return names;
}

bool MayBeSameName(const std::string& header, const std::string& directory) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!std::all_of(directory.begin(), directory.end(), is_ascii)) return true;
  return Plain(header) == Plain(directory);
}

}  // namespace augur
