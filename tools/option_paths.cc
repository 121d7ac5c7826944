// SPDX-License-Identifier: Apache-2.0
#include "tools/option_paths.h"

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "augur/foreign_folders.h"
#include "base/units.h"
#include "tools/store_place.h"

namespace augur {
namespace {

// The absolute form of a path that exists.
Status MakeAbsolute(std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  if (real == nullptr) return ErrnoStatus(errno, Printable(path));
  path = real.get();
  return Status::Ok();
}

// ... and of one that need not exist.
Status MakeNewPathAbsolute(std::string& path) {
  if (path.empty() || path[0] == '/') return Status::Ok();
  std::string folder = ".";
  AUGUR_TRY(MakeAbsolute(folder));
  path = folder + "/" + path;
  return Status::Ok();
}

// What -o foreign= allows: addresses, and of a store in a folder, folders.
Status SetForeign(AugurfsOptions& options) {
  const bool far = IsFarAway(options.store);
  options.remote.own_bucket = false;
  std::vector<std::string> folders;
  for (std::string& place : options.foreign) {
    if (far || IsFarAway(place)) {
      options.remote.foreign.push_back(place);
    } else {
      AUGUR_TRY(MakeNewPathAbsolute(place));
      folders.push_back(place);
    }
  }
  SetForeignFolders(std::move(folders));
  return Status::Ok();
}

void Keep(Values& values, std::string_view name, std::vector<std::string> texts) {
  if (values.Given(name)) values.SetTexts(name, std::move(texts));
}

}  // namespace

Status ResolvePaths(AugurfsOptions& options) {
  if (!IsFarAway(options.store)) {
    const Status status = MakeAbsolute(options.store);
    if (!status.ok() && (options.store.starts_with("s3:") || options.store.starts_with("http"))) {
      return {status.code(), status.text() + ": an address is s3://BUCKET/PATH, https://HOST/PATH or http://HOST/PATH"};
    }
    if (!status.ok()) {
      return {status.code(), status.text() + ": it must be the folder of a store, which 'augurpack create' makes"};
    }
  }
  AUGUR_TRY(MakeNewPathAbsolute(options.log_path));
  AUGUR_TRY(MakeNewPathAbsolute(options.flags.writable));
  AUGUR_TRY(MakeNewPathAbsolute(options.decoded_cache.folder));
  AUGUR_TRY(MakeNewPathAbsolute(options.disk_cache.folder));
  std::string fleet_file = options.remote.fleet.file();
  AUGUR_TRY(MakeNewPathAbsolute(fleet_file));
  options.remote.fleet.set_file(fleet_file);
  AUGUR_TRY(SetForeign(options));
  Values& values = options.values;
  Keep(values, "STORE", {options.store});
  Keep(values, "-o log", {options.log_path});
  Keep(values, "-o writable", {options.flags.writable});
  Keep(values, "-o decoded-cache", {options.decoded_cache.folder});
  Keep(values, "-o disk-cache", {options.disk_cache.folder});
  if (!fleet_file.empty()) Keep(values, "-o fleet-cache", {"@" + fleet_file});
  Keep(values, "-o foreign", options.foreign);
  return Status::Ok();
}

}  // namespace augur
