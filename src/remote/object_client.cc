// SPDX-License-Identifier: Apache-2.0
#include "remote/object_client.h"

#include <algorithm>
#include <utility>

#include "http/fetch_now.h"
#include "s3/profile_files.h"

namespace augur {

ObjectClient::ObjectClient(ObjectUrl place, ObjectClientOptions options)
    : place_(std::move(place)), options_(std::move(options)) {}

Result<S3Access> ObjectClient::Access() const {
  if (place_.is_s3()) return OpenS3Access(options_.s3, options_.environment, options_.home);
  // Of a web server: its certificates and attempts.
  AUGUR_TRY_ASSIGN(files, ProfileFiles::Load(options_.environment, options_.home));
  const auto no_region = [] { return Result<std::string>(Status(Code::kNotFound, "no region is needed")); };
  AUGUR_TRY_ASSIGN(settings, ResolveS3Settings(options_.s3, options_.environment, files, no_region));
  return S3Access{.settings = std::move(settings), .credentials = nullptr};
}

Result<ObjectClient::Running*> ObjectClient::Start() {
  const MutexLock lock(mu_);
  if (running_) return running_.get();
  AUGUR_TRY_ASSIGN(access, Access());
  const S3Settings& settings = access.settings;
  auto running = std::make_shared<Running>();
  running->session = std::make_unique<ObjectSession>(place_, settings, std::move(access.credentials), learnt_);
  // Room for what is urgent and for second requests beside those that are read ahead.
  AUGUR_TRY_ASSIGN(engine,
                   HttpEngine::Make({.in_flight_max = 2 * options_.requests_max, .ca_bundle = settings.ca_bundle}));
  running->engine = std::move(engine);
  RetryOptions retry;
  retry.attempts_max = settings.attempts_max;
  retry.time_max = options_.io_timeout;
  retry.in_flight_max = static_cast<int>(options_.requests_max);
  running->client = std::make_unique<RetryingClient>(*running->engine, retry);
  running_ = std::move(running);
  return running_.get();
}

bool ObjectClient::MayBeForeignShard(const std::string& key) const {
  return !options_.foreign ||
         std::ranges::any_of(*options_.foreign, [&key](const std::string& prefix) { return key.starts_with(prefix); });
}

HttpOperation ObjectClient::MakeRead(const Running& running, const ObjectRead& read, std::span<std::byte> out,
                                     ReadManner manner) {
  HttpOperation operation = running.session->MakeRead(read);
  operation.into = out;
  operation.urgent = manner.urgent;
  operation.spare = manner.spare;
  operation.new_connection = manner.new_connection;
  if (manner.urgent) operation.stall_max = HttpOperation::kUrgentStallMax;
  return operation;
}

uint64_t ObjectClient::Read(std::shared_ptr<StoredObject> object, uint64_t offset, std::span<std::byte> out,
                            ReadManner manner, Done done) {
  const Result<Running*> running = Start();
  if (!running.ok()) {
    done(running.status());
    return 0;
  }
  HttpOperation operation =
      MakeRead(**running, {.object = std::move(object), .offset = offset, .bytes = out.size()}, out, manner);
  operation.done = [done = std::move(done)](const HttpResponse& response) { done(response.status); };
  return (*running)->client->Submit(std::move(operation));
}

std::shared_ptr<ObjectClient::Running> ObjectClient::Begun() const {
  const MutexLock lock(mu_);
  return running_;
}

void ObjectClient::Expedite(uint64_t number) {
  if (const auto running = Begun()) running->client->Expedite(number);
}

Status ObjectClient::ReadNow(const std::shared_ptr<StoredObject>& object, uint64_t offset, std::span<std::byte> out,
                             bool new_connection) {
  AUGUR_TRY_ASSIGN(running, Start());
  const ObjectRead read = {.object = object, .offset = offset, .bytes = out.size()};
  return FetchNow(*running->client, MakeRead(*running, read, out, {.urgent = true, .new_connection = new_connection}))
      .status;
}

Result<std::string> ObjectClient::FetchText(const std::shared_ptr<StoredObject>& object) {
  AUGUR_TRY_ASSIGN(running, Start());
  HttpResponse response = FetchNow(*running->client, MakeRead(*running, {.object = object}, {}, {.urgent = true}));
  if (!response.status.ok()) return response.status;
  return std::move(response.body);
}

Result<uint64_t> ObjectClient::Send(ObjectRequest request, SendOptions options,
                                    std::function<void(HttpResponse)> done) {
  AUGUR_TRY_ASSIGN(running, Start());
  HttpOperation operation = running->session->MakeRequest(std::move(request));
  operation.body_max = options.answer_bytes_max;
  operation.stall_max = options.stall_max;
  operation.done = std::move(done);
  return running->client->Submit(std::move(operation));
}

void ObjectClient::Cancel(uint64_t number) {
  if (const auto running = Begun()) running->client->Cancel(number);
}

void ObjectClient::Rest() {
  const std::shared_ptr<Running> running = Begun();
  if (!running) return;
  ObjectSession::Learnt learnt = running->session->learnt();
  {
    const MutexLock lock(mu_);
    if (running_ != running) return;  // another thread has ended it
    learnt_ = std::move(learnt);
    running_.reset();
  }
  running->client.reset();
  running->engine.reset();
}

ServerTraffic ObjectClient::Traffic() const {
  const auto running = Begun();
  if (!running) return {};
  const HttpCounters& counters = running->client->counters();
  return {.requests = counters.requests.load(),
          .bytes = counters.bytes.load(),
          .retries = counters.retries.load(),
          .hedges = counters.hedges.load(),
          .slow_downs = counters.throttled.load(),
          .requests_max = counters.in_flight_limit.load(),
          .down = counters.link_down.load()};
}

}  // namespace augur
