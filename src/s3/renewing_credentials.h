// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "s3/credential_source.h"
#include "s3/credentials_provider.h"
#include "s3/renewal_schedule.h"
#include "s3/utc_time.h"

namespace augur {

// RenewingCredentials are a source's credentials, renewed before they expire on the thread augur-renew, so that no
// request waits for them (RenewalSchedule says when). Renewals that fail are logged, a line a minute at the most, and
// tried again; the credentials before stay in use until they expire.
// Owns its source, which only its thread asks after Start. The end waits for a question that the source is asking:
// seconds, or a minute for a credential_process that hangs.
class RenewingCredentials : public CredentialsProvider {
 public:
  // Gets the first credentials on the calling thread, then starts the thread: after the last fork of the process.
  // Failures: those of the source; kPermission: it gave credentials that have expired; kNoSpace: no thread.
  static Result<std::unique_ptr<RenewingCredentials>> Start(std::unique_ptr<CredentialSource> source,
                                                            UtcClock clock = &UtcNow);
  // Those who wait get kStopped.
  ~RenewingCredentials() override;

  CredentialsPtr Current() override;
  Result<CredentialsPtr> Get() override;
  void Renew(CredentialsPtr refused, Done done) override;

 private:
  // Who waits for others than these.
  struct Waiter {
    CredentialsPtr refused;
    Done done;
  };

  RenewingCredentials(std::unique_ptr<CredentialSource> source, UtcClock clock, CredentialsPtr first);

  using Waiters = std::vector<Waiter>;

  void Run();
  // Waits for something to do: true. False: the end has come.
  bool AwaitWork();
  void RenewNow();
  // Answers those whom the present credentials serve, or the failure of a moment ago. The others are left in
  // `waiters`. True: the source is to be asked.
  bool AnswerWithoutSource(UtcTime now, Waiters* waiters);
  Result<CredentialsPtr> Fetch(const Waiters& waiters);
  // Credentials of the source, unless they have expired.
  static Result<CredentialsPtr> FetchValid(CredentialSource& source, const UtcClock& clock);
  static bool IsValid(const CredentialsPtr& credentials, UtcTime now);

  // Constant after construction.
  const std::unique_ptr<CredentialSource> source_;
  const UtcClock clock_;

  Mutex mu_;
  CondVar work_;
  CredentialsPtr current_ AUGUR_GUARDED_BY(mu_);
  RenewalSchedule schedule_ AUGUR_GUARDED_BY(mu_);
  Status failure_ AUGUR_GUARDED_BY(mu_);              // of the last renewal
  Waiters waiters_ AUGUR_GUARDED_BY(mu_);             // one for each request that waits
  bool look_at_clock_ AUGUR_GUARDED_BY(mu_) = false;  // a renewal may be due
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;

  std::thread thread_;
};

}  // namespace augur
