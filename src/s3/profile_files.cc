// SPDX-License-Identifier: Apache-2.0
#include "s3/profile_files.h"

#include <utility>

#include "base/text_file.h"
#include "base/units.h"

namespace augur {
namespace {

std::string PathOf(const std::string& named, const std::string& home, const char* name) {
  if (named.empty()) return home + "/.aws/" + name;
  if (named == "~" || named.starts_with("~/")) return home + named.substr(1);
  return named;
}

// NAME of "KIND NAME", where NAME may stand in quotes; empty: the section is of another kind.
std::string NameOfSection(std::string_view section, std::string_view kind) {
  if (!section.starts_with(kind) || section.size() == kind.size()) return {};
  section.remove_prefix(kind.size());
  const size_t first = section.find_first_not_of(" \t");
  if (first == 0 || first == std::string_view::npos) return {};
  section = section.substr(first, section.find_last_not_of(" \t") - first + 1);
  const bool quoted =
      section.size() >= 2 && (section.front() == '"' || section.front() == '\'') && section.front() == section.back();
  return std::string(quoted ? section.substr(1, section.size() - 2) : section);
}

}  // namespace

Result<ProfileFiles> ProfileFiles::Load(const Environment& environment, const std::string& home) {
  ProfileFiles files;
  files.config_path_ = PathOf(environment.Get("AWS_CONFIG_FILE"), home, "config");
  files.credentials_path_ = PathOf(environment.Get("AWS_SHARED_CREDENTIALS_FILE"), home, "credentials");
  IniSections config;
  IniSections credentials;
  AUGUR_TRY(files.Read(files.config_path_, &config));
  AUGUR_TRY(files.Read(files.credentials_path_, &credentials));
  files.TakeConfig(config);
  files.TakeCredentials(credentials);
  return files;
}

Status ProfileFiles::Read(const std::string& path, IniSections* sections) {
  const Result<std::string> text = ReadTextFile(path);
  if (!text.ok()) {
    absence_ += (absence_.empty() ? "" : "; ") + text.status().text();
    return Status::Ok();
  }
  Result<IniSections> parsed = ParseIni(*text);
  if (!parsed.ok()) return parsed.status().In(Printable(path));
  *sections = std::move(parsed).value();
  return Status::Ok();
}

void ProfileFiles::TakeConfig(const IniSections& sections) {
  for (const auto& [name, section] : sections) {
    const std::string profile = name == "default" ? name : NameOfSection(name, "profile");
    const std::string service = NameOfSection(name, "services");
    if (!profile.empty()) profiles_.insert_or_assign(profile, section);
    if (!service.empty()) services_.insert_or_assign(service, section);
  }
}

void ProfileFiles::TakeCredentials(const IniSections& sections) {
  for (const auto& [name, section] : sections) {
    IniSection& profile = profiles_[name];
    for (const auto& [key, value] : section) profile.insert_or_assign(key, value);
  }
}

const IniSection* ProfileFiles::Find(std::string_view profile) const {
  const auto found = profiles_.find(profile);
  return found == profiles_.end() ? nullptr : &found->second;
}

const std::string& ProfileFiles::Get(std::string_view profile, std::string_view key) const {
  static const std::string kNone;
  const IniSection* const section = Find(profile);
  if (section == nullptr) return kNone;
  const auto found = section->find(key);
  return found == section->end() ? kNone : found->second;
}

std::string ProfileFiles::EndpointUrl(std::string_view profile, const std::string& service) const {
  const auto services = services_.find(Get(profile, "services"));
  if (services != services_.end()) {
    const auto block = services->second.find(service);
    if (block != services->second.end()) {
      const IniSection keys = ParseIniBlock(block->second);
      if (const auto url = keys.find("endpoint_url"); url != keys.end()) return url->second;
    }
  }
  return Get(profile, "endpoint_url");
}

std::string ProfileName(const std::string& option, const Environment& environment) {
  if (!option.empty()) return option;
  const std::string_view variable = environment.FirstSet({"AWS_PROFILE", "AWS_DEFAULT_PROFILE"});
  return variable.empty() ? "default" : environment.Get(variable);
}

bool ProfileIsNamed(const std::string& option, const Environment& environment) {
  return !option.empty() || !environment.FirstSet({"AWS_PROFILE", "AWS_DEFAULT_PROFILE"}).empty();
}

}  // namespace augur
