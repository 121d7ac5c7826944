// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "s3/environment.h"
#include "s3/profile_files.h"

namespace augur {

// A home folder for a test, with the variables of its user. It is removed with all that is in it.
class AwsHome {
 public:
  AwsHome();
  ~AwsHome();
  AwsHome(const AwsHome&) = delete;
  AwsHome& operator=(const AwsHome&) = delete;

  const std::string& path() const { return path_; }
  // Writes a file below the home folder, and the folders above it. Returns its path.
  std::string Write(const std::string& name, const std::string& text, unsigned mode = 0600) const;
  std::string WriteConfig(const std::string& text) const { return Write(".aws/config", text); }
  std::string WriteCredentials(const std::string& text) const { return Write(".aws/credentials", text); }

  void Set(const std::string& name, const std::string& value) { variables_[name] = value; }
  Environment environment() const { return Environment(variables_); }
  // The files as they are now; a test fails here if they cannot be read.
  ProfileFiles Files() const;

 private:
  std::string path_;
  std::map<std::string, std::string, std::less<>> variables_;
};

}  // namespace augur
