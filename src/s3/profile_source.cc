// SPDX-License-Identifier: Apache-2.0
#include "s3/profile_source.h"

#include <algorithm>

#include "base/excerpt.h"
#include "s3/container_source.h"
#include "s3/credential_process.h"
#include "s3/environment_source.h"
#include "s3/imds_source.h"
#include "s3/sts_client.h"
#include "s3/web_identity_source.h"

namespace augur {
namespace {

bool HasKeys(const ProfileFiles& files, const std::string& profile) {
  return !files.Get(profile, "aws_access_key_id").empty() || !files.Get(profile, "aws_secret_access_key").empty();
}

std::string SourceOf(const std::string& profile) { return "profile '" + Excerpt(profile) + "'"; }

RoleRequest RoleOf(const ProfileFiles& files, const std::string& profile) {
  return {.role_arn = files.Get(profile, "role_arn"),
          .session_name = files.Get(profile, "role_session_name"),
          .external_id = files.Get(profile, "external_id"),
          .duration_seconds = files.Get(profile, "duration_seconds")};
}

Result<Credentials> KeysOf(const ProfileFiles& files, const std::string& profile) {
  for (const char* const key : {"aws_access_key_id", "aws_secret_access_key"}) {
    if (files.Get(profile, key).empty())
      return Status(Code::kInvalid, "it has no " + std::string(key) + ", and the other half of the key");
  }
  return Credentials{.access_key_id = files.Get(profile, "aws_access_key_id"),
                     .secret_access_key = files.Get(profile, "aws_secret_access_key"),
                     .session_token = files.Get(profile, "aws_session_token"),
                     .source = SourceOf(profile)};
}

bool HasSingleSignOn(const ProfileFiles& files, const std::string& profile) {
  const IniSection* const section = files.Find(profile);
  return section != nullptr && std::any_of(section->begin(), section->end(), [](const auto& row) {
           return row.first.starts_with("sso_") || row.first == "login_session";
         });
}

Status SingleSignOnCure(const std::string& profile) {
  return {Code::kUnsupported,
          "single sign-on is done by the AWS CLI: make another profile with 'credential_process = aws configure "
          "export-credentials --profile " +
              Excerpt(profile) + " --format process', and name that one"};
}

// A failure to find what the user has asked for.
Status AsSetUp(const Status& status) {
  return status.code() == Code::kNotFound ? Status(Code::kInvalid, status.text()) : status;
}

}  // namespace

Result<Credentials> ProfileSource::Fetch() {
  AUGUR_TRY_ASSIGN(files, ProfileFiles::Load(context_.environment, context_.home));
  Result<Credentials> credentials = OfProfile(files, {context_.profile});
  if (credentials.ok()) return credentials;
  const Status status = credentials.status().In(SourceOf(context_.profile) + " of " + files.Names());
  const bool may_miss = !context_.profile_is_named || files.Find(context_.profile) != nullptr;
  return may_miss ? status : AsSetUp(status);
}

Result<Credentials> ProfileSource::OfProfile(const ProfileFiles& files, const Profiles& way) {
  const std::string& profile = way.back();
  if (files.Find(profile) == nullptr) {
    return Status(Code::kNotFound, "it is not there" + (files.Absence().empty() ? "" : " (" + files.Absence() + ")"));
  }
  const bool has_role = !files.Get(profile, "role_arn").empty();
  const std::string& token_file = files.Get(profile, "web_identity_token_file");
  // Where a profile leads to this one, its own keys come before its role; so a profile may lead to itself.
  const bool keys_first = way.size() > 1 && HasKeys(files, profile);
  if (has_role && token_file.empty() && !keys_first) return OfRole(files, way);
  if (has_role && !token_file.empty())
    return FetchWebIdentity(context_, token_file, RoleOf(files, profile), SourceOf(profile));
  if (HasKeys(files, profile)) return KeysOf(files, profile);
  const std::string& command = files.Get(profile, "credential_process");
  if (!command.empty()) {
    Result<Credentials> credentials =
        RunCredentialProcess(command, context_.environment, "credential_process of " + SourceOf(profile));
    if (!credentials.ok()) return AsSetUp(credentials.status().In("credential_process"));
    return credentials;
  }
  if (HasSingleSignOn(files, profile)) return SingleSignOnCure(profile);
  return Status(Code::kNotFound, "it has no key, no role_arn and no credential_process");
}

Result<Credentials> ProfileSource::OfRole(const ProfileFiles& files, const Profiles& way) {
  const std::string& profile = way.back();
  if (!files.Get(profile, "mfa_serial").empty()) {
    return Status(Code::kUnsupported,
                  "mfa_serial: a mount cannot ask for the code of a device; use a credential_process that has it");
  }
  Result<Credentials> caller = CallerOf(files, way);
  if (!caller.ok()) return AsSetUp(caller.status());
  const RoleRequest role = RoleOf(files, profile);
  return AssumeRole(context_, *caller, role, "role " + Excerpt(role.role_arn) + " of " + SourceOf(profile));
}

Result<Credentials> ProfileSource::CallerOf(const ProfileFiles& files, const Profiles& way) {
  const std::string& profile = way.back();
  const std::string& named = files.Get(profile, "credential_source");
  const std::string& next = files.Get(profile, "source_profile");
  if (named.empty() == next.empty()) {
    return Status(Code::kInvalid, std::string("role_arn needs ") + (named.empty() ? "one" : "only one") +
                                      " of source_profile and credential_source");
  }
  if (!named.empty()) return OfNamedSource(named);
  const bool seen = std::find(way.begin(), way.end(), next) != way.end();
  if (seen && (next != profile || !HasKeys(files, next)))
    return Status(Code::kInvalid, "source_profile '" + Excerpt(next) + "' leads back to itself");
  Profiles longer = way;
  longer.push_back(next);
  Result<Credentials> caller = OfProfile(files, longer);
  if (!caller.ok()) return caller.status().In("source_profile '" + Excerpt(next) + "'");
  return caller;
}

Result<Credentials> ProfileSource::OfNamedSource(const std::string& name) {
  Result<Credentials> caller =
      Status(Code::kInvalid, "'" + Excerpt(name) + "' is none of Environment, Ec2InstanceMetadata and EcsContainer");
  if (name == "Environment") caller = EnvironmentSource(context_.environment).Fetch();
  if (name == "Ec2InstanceMetadata") caller = ImdsSource(context_.environment).Fetch();
  if (name == "EcsContainer") caller = ContainerSource(context_).Fetch();
  if (!caller.ok()) return caller.status().In("credential_source");
  return caller;
}

}  // namespace augur
