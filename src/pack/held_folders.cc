// SPDX-License-Identifier: Apache-2.0
#include "pack/held_folders.h"

namespace augur {
namespace {

bool IsWithin(std::string_view path, const std::string& folder) {
  return folder.empty() || (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

}  // namespace

Status HeldFolders::Add(const std::string& path, const Attributes& attributes) {
  if (!hold_) return writer_.AddDirectory(path, attributes);
  while (!folders_.empty() && !IsWithin(path, folders_.back().path)) folders_.pop_back();
  folders_.push_back({.path = path, .attributes = attributes});
  return {};
}

Status HeldFolders::Release(std::string_view path) {
  while (!folders_.empty() && !IsWithin(path, folders_.back().path)) folders_.pop_back();
  for (const Folder& folder : folders_) AUGUR_TRY(writer_.AddDirectory(folder.path, folder.attributes));
  folders_.clear();
  return {};
}

}  // namespace augur
