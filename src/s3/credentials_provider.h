// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "augur/status.h"
#include "s3/credentials.h"

namespace augur {

using CredentialsPtr = std::shared_ptr<const Credentials>;  // never null inside a Result

// CredentialsProvider has the credentials that requests are signed with, and renews them. Safe from any thread.
class CredentialsProvider {
 public:
  using Done = std::function<void(Result<CredentialsPtr>)>;

  CredentialsProvider() = default;
  virtual ~CredentialsProvider() = default;
  CredentialsProvider(const CredentialsProvider&) = delete;
  CredentialsProvider& operator=(const CredentialsProvider&) = delete;

  // The present ones, without waiting; nullptr: they have expired, and Renew or Get may bring others.
  virtual CredentialsPtr Current() = 0;
  // The present ones, without waiting; if they have expired, waits for a renewal. Not for a thread that must not block.
  // Failures are those of the source, kStopped at the end of the provider.
  virtual Result<CredentialsPtr> Get() = 0;
  // After an answer that refuses `refused` (ExpiredToken, InvalidToken), or where Current gave nullptr: gives others to
  // `done`, which is called exactly once. That is at once on the calling thread when others are there already, else on
  // the provider's thread, which it must not block. It is called with no lock held and may call any method. All who
  // wait share one renewal. kPermission: there are no others.
  virtual void Renew(CredentialsPtr refused, Done done) = 0;
};

// The provider of a user who signs nothing: anonymous credentials, and a failure for each renewal.
class AnonymousCredentials : public CredentialsProvider {
 public:
  CredentialsPtr Current() override { return credentials_; }
  Result<CredentialsPtr> Get() override { return credentials_; }
  void Renew(CredentialsPtr refused, Done done) override;

 private:
  const CredentialsPtr credentials_ = std::make_shared<const Credentials>();
};

}  // namespace augur
