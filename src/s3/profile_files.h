// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "s3/environment.h"
#include "s3/ini_file.h"

namespace augur {

// ProfileFiles are the user's two files of AWS: config ("[profile train]") and credentials ("[train]"), read once. A
// value type. A profile is made of both; where both have a key, the credentials file's counts, as in botocore.
class ProfileFiles {
 public:
  // Reads AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE, or config and credentials in `home`/.aws. `home` is the home
  // folder of the user whose credentials are meant: who mounts, not whom the daemon runs as. The files are opened with
  // the rights that the caller has now, whatever their own mode says. A file that is not there, is no regular file or
  // may not be read is left out: Absence tells. kInvalid: a file that no INI reader takes, or of more than 1 MiB.
  static Result<ProfileFiles> Load(const Environment& environment, const std::string& home);

  // The profile of this name; nullptr: there is none. Valid as long as this object stands where it is.
  const IniSection* Find(std::string_view profile) const;
  // A key of a profile; empty: no such profile or key.
  const std::string& Get(std::string_view profile, std::string_view key) const;
  // The profile's own address for a service ("s3", "sts"): of the section [services NAME] that it names, else its key
  // endpoint_url. Empty: none.
  std::string EndpointUrl(std::string_view profile, const std::string& service) const;

  // The paths of both, for messages: "/home/a/.aws/config and /home/a/.aws/credentials".
  std::string Names() const { return config_path_ + " and " + credentials_path_; }
  // Why a file was left out; empty: both are there.
  const std::string& Absence() const { return absence_; }

 private:
  Status Read(const std::string& path, IniSections* sections);
  void TakeConfig(const IniSections& sections);
  void TakeCredentials(const IniSections& sections);

  std::string config_path_;
  std::string credentials_path_;
  IniSections profiles_;
  IniSections services_;
  std::string absence_;
};

// The profile that is meant: the option's, else that of AWS_PROFILE or AWS_DEFAULT_PROFILE, else "default".
std::string ProfileName(const std::string& option, const Environment& environment);
// Whether the option or one of the two variables names the profile, so that it must be there.
bool ProfileIsNamed(const std::string& option, const Environment& environment);

}  // namespace augur
