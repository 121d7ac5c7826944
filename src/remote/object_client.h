// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "http/http_engine.h"
#include "http/retrying_client.h"
#include "remote/object_request.h"
#include "remote/object_session.h"
#include "remote/stored_object.h"
#include "s3/environment.h"
#include "s3/object_url.h"
#include "s3/s3_access.h"
#include "s3/s3_options.h"
#include "store/store_files.h"

namespace augur {

struct ObjectClientOptions {
  S3Options s3;
  Environment environment;  // of the user whose credentials are used
  std::string home;         // that user's home, for the profile files
  // Keys of the bucket below which shards may lie that are outside the store's folder. Nothing: anywhere in the bucket,
  // for programs that show a user what his own credentials let him read.
  std::optional<std::vector<std::string>> foreign;
  unsigned requests_max = 64;
  std::chrono::milliseconds io_timeout{60'000};
};

// ObjectClient reads the objects of one store: it has the connection, the credentials and the attempts. Its threads
// begin with the first read, and may rest in between. A wrong option or variable is the failure of the first read. Safe
// from any thread.
class ObjectClient {
 public:
  ObjectClient(ObjectUrl place, ObjectClientOptions options);

  // The place, or a file in it, for messages.
  std::string ForLog(const std::string& name = {}) const { return place_.ForLog(name); }
  const ObjectUrl& place() const { return place_; }
  // Whether an object with this key may be a shard although it is outside the store's folder.
  bool MayBeForeignShard(const std::string& key) const;

  using Done = std::function<void(const Status&)>;
  // How a part of an object is read.
  struct ReadManner {
    bool urgent = false;          // a reader waits
    bool spare = false;           // sent only while no other request waits to be sent
    bool new_connection = false;  // an answer on a kept one had wrong bytes
  };
  // How a request is sent that is no read.
  struct SendOptions {
    size_t answer_bytes_max = 64 << 10;
    std::chrono::milliseconds stall_max{30'000};  // without a byte of request or answer
  };

  // Reads out.size() bytes of the object, into memory that stays until `done` is called, on the client's thread or
  // before this returns. Returns the request's number for Expedite and Cancel; 0: it has failed already.
  uint64_t Read(std::shared_ptr<StoredObject> object, uint64_t offset, std::span<std::byte> out, ReadManner manner,
                Done done);
  // The same, and waits. Not on the client's thread.
  Status ReadNow(const std::shared_ptr<StoredObject>& object, uint64_t offset, std::span<std::byte> out,
                 bool new_connection = false);
  // All of a small object, up to 64 KiB.
  Result<std::string> FetchText(const std::shared_ptr<StoredObject>& object);

  // Any other request. `done` is called on the client's thread, which it must not block. Returns the request's number
  // for Cancel. A failure: `done` is never called. REQUIRES: a bucket of S3.
  Result<uint64_t> Send(ObjectRequest request, SendOptions options, std::function<void(HttpResponse)> done);
  // A reader waits for this read from now on. No effect if it has ended.
  void Expedite(uint64_t number) AUGUR_EXCLUDES(mu_);
  // Ends a request: its `done` is called with kStopped. No effect if it has ended.
  void Cancel(uint64_t number) AUGUR_EXCLUDES(mu_);

  // Ends the threads until the next read, so that the process can fork. REQUIRES: no other call is under way.
  void Rest() AUGUR_EXCLUDES(mu_);
  // Begins them again and waits for the credentials, so that no read has to. A failure is that of the first read.
  void Resume() AUGUR_EXCLUDES(mu_) { (void)Start(); }
  // Since the threads began.
  ServerTraffic Traffic() const AUGUR_EXCLUDES(mu_);

 private:
  // What has threads. In the order in which it is made.
  struct Running {
    std::unique_ptr<ObjectSession> session;
    std::unique_ptr<HttpEngine> engine;
    std::unique_ptr<RetryingClient> client;
  };

  Result<Running*> Start() AUGUR_EXCLUDES(mu_);
  // Nothing: the threads have not begun. Its calls are made without the lock, as they take that of the engine.
  std::shared_ptr<Running> Begun() const AUGUR_EXCLUDES(mu_);
  // A read without its `done`.
  static HttpOperation MakeRead(const Running& running, const ObjectRead& read, std::span<std::byte> out,
                                ReadManner manner);
  Result<S3Access> Access() const;

  // Constant after construction.
  const ObjectUrl place_;
  const ObjectClientOptions options_;

  mutable Mutex mu_;
  std::shared_ptr<Running> running_ AUGUR_GUARDED_BY(mu_);
  ObjectSession::Learnt learnt_ AUGUR_GUARDED_BY(mu_);  // by the one before
};

}  // namespace augur
