// SPDX-License-Identifier: Apache-2.0
#include "http/http_transfer.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "base/blanks.h"
#include "base/check.h"
#include "base/units.h"

namespace augur {
namespace {

// Of the headers of one answer; servers refuse requests with more than 8 to 32 KiB of their own.
constexpr size_t kHeadersMax = 256;

// libcurl's default of 16 KiB costs plain HTTP one system call for each 16 KiB. TLS has records of 16 KiB, whatever the
// size (figures in bench/http_transfer.cc). libcurl takes a buffer anew for each transfer: one of 512 KiB is mapped and
// unmapped each time (KeepHeapSmall), which took a third of the thread's time in clearing pages.
constexpr long kBufferBytes = 128 << 10;
constexpr long kUploadBufferBytes = 512 << 10;

char LowerCase(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

bool HasLineBreak(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) != text.npos; }

// Of what this end has sent, what the other end has. Nothing: the socket is none of TCP.
std::optional<uint64_t> AcknowledgedBytes(curl_socket_t socket) {
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return std::nullopt;
  if (bytes < offsetof(tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return std::nullopt;
  return info.tcpi_bytes_acked;
}

// The macro of <curl/curl.h> wants an option that it knows at compile time; all values here are of the right type.
template <typename Value>
void Set(CURL* easy, CURLoption option, Value value) {
  AUGUR_CHECK((curl_easy_setopt)(easy, option, value) == CURLE_OK);
}

}  // namespace

HttpTransfer::HttpTransfer(const Settings& settings) : settings_(settings), easy_(curl_easy_init()) {
  AUGUR_CHECK(easy_ != nullptr);
}

HttpTransfer::~HttpTransfer() { curl_easy_cleanup(easy_); }

HttpTransfer& HttpTransfer::Of(CURL* easy) {
  HttpTransfer* transfer = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
  return *transfer;
}

Status HttpTransfer::Begin(uint64_t number, HttpRequest request) {
  number_ = number;
  request_ = std::move(request);
  response_ = {};
  header_list_.reset();
  error_text_[0] = '\0';
  watch_.Begin({.lookup_max = request_.lookup_max,
                .connect_max = request_.connect_max,
                .stall_max = request_.stall_max,
                .bytes_min = request_.method == "GET" ? HttpRequest::kBytesMin : 1},
               Clock::now());
  arrived_on_ = CURL_SOCKET_BAD;
  sent_bytes_ = 0;
  began_ = too_long_ = enough_ = false;

  curl_easy_reset(easy_);  // keeps connections and TLS sessions
  Set(easy_, CURLOPT_PRIVATE, this);
  Set(easy_, CURLOPT_ERRORBUFFER, error_text_.data());
  SetCallbacks();
  if (HasLineBreak(request_.url) || HasLineBreak(request_.method)) {
    return {Code::kInvalid, Context() + ": a line break in the method or the URL"};
  }
  Set(easy_, CURLOPT_URL, request_.url.c_str());
  SetConnection();
  SetBody();
  return SetHeaders();
}

void HttpTransfer::SetConnection() {
  Set(easy_, CURLOPT_SHARE, settings_.share);
  Set(easy_, CURLOPT_NOSIGNAL, 1L);
  Set(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  Set(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  Set(easy_, CURLOPT_PATH_AS_IS, 1L);
  Set(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  Set(easy_, CURLOPT_TCP_KEEPIDLE, 30L);
  Set(easy_, CURLOPT_TCP_KEEPINTVL, 10L);
  // libcurl counts the look-up as well; the watch knows the two apart.
  const std::chrono::milliseconds connected_max = request_.lookup_max + request_.connect_max;
  Set(easy_, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::max<int64_t>(1, connected_max.count())));
  Set(easy_, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
  // Names are looked up on threads of libcurl. Without this the end of a transfer waits for its look-up, and with it
  // all other transfers of the thread: 10 s and more where the name server is gone.
  Set(easy_, CURLOPT_QUICK_EXIT, 1L);
  Set(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (request_.no_proxy_ever) Set(easy_, CURLOPT_PROXY, "");
  if (request_.new_connection) {
    Set(easy_, CURLOPT_FRESH_CONNECT, 1L);
    Set(easy_, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
  }
  // libcurl keeps the parsed certificates between connections, but not where it has a folder of them, too.
  if (!settings_.ca_bundle.empty()) {
    Set(easy_, CURLOPT_CAINFO, settings_.ca_bundle.c_str());
    Set(easy_, CURLOPT_CAPATH, static_cast<char*>(nullptr));
  }
}

void HttpTransfer::SetBody() {
  // Sizes of buffers are refused, and not needed, where a transfer that failed early has left its buffer.
  if (request_.method == "HEAD") {
    Set(easy_, CURLOPT_NOBODY, 1L);
  } else if (request_.method == "PUT") {
    Set(easy_, CURLOPT_UPLOAD, 1L);
    Set(easy_, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    (void)curl_easy_setopt(easy_, CURLOPT_UPLOAD_BUFFERSIZE, kUploadBufferBytes);
  } else if (request_.method == "POST") {
    Set(easy_, CURLOPT_POST, 1L);
    if (request_.body.empty()) Set(easy_, CURLOPT_POSTFIELDS, "");
    Set(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  } else {
    Set(easy_, CURLOPT_HTTPGET, 1L);
    if (request_.method != "GET") Set(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
  (void)curl_easy_setopt(easy_, CURLOPT_BUFFERSIZE, kBufferBytes);
}

Status HttpTransfer::SetHeaders() {
  bool has_type = false;
  for (const auto& [name, value] : request_.headers) {
    if (name.empty() || HasLineBreak(name) || HasLineBreak(value) || name.find(':') != std::string::npos) {
      return {Code::kInvalid, Context() + ": a header with a line break, or a wrong name: " + Printable(name)};
    }
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(), LowerCase);
    has_type |= lower == "content-type";
    AddHeader(name, value);
  }
  // What libcurl would add: an Expect costs a round trip, and a type that was not asked for is not signed.
  AddHeader("Expect:", {});
  if (!has_type && request_.method == "POST") AddHeader("Content-Type:", {});
  Set(easy_, CURLOPT_HTTPHEADER, header_list_.get());
  Set(easy_, CURLOPT_USERAGENT, settings_.user_agent.c_str());
  return Status::Ok();
}

void HttpTransfer::AddHeader(std::string_view name, std::string_view value) {
  // "Name;" sends an empty header; "Name:" removes libcurl's own.
  std::string line(name);
  if (!value.empty()) {
    line.append(": ").append(value);
  } else if (!name.ends_with(':')) {
    line.push_back(';');
  }
  curl_slist* longer = curl_slist_append(header_list_.get(), line.c_str());
  AUGUR_CHECK(longer != nullptr);
  (void)header_list_.release();
  header_list_.reset(longer);
}

void HttpTransfer::SetCallbacks() {
  using Self = HttpTransfer*;
  constexpr auto on_header = +[](char* data, size_t size, size_t count, void* self) {
    return static_cast<Self>(self)->OnHeaderLine({data, size * count});
  };
  constexpr auto on_body = +[](char* data, size_t size, size_t count, void* self) {
    return static_cast<Self>(self)->OnBody(data, size * count);
  };
  constexpr auto on_upload = +[](char* data, size_t size, size_t count, void* self) {
    return static_cast<Self>(self)->OnUpload(data, size * count);
  };
  // Back to the beginning, when libcurl finds a kept connection closed and sends the request once more.
  constexpr auto on_seek = +[](void* self, curl_off_t offset, int origin) {
    const auto transfer = static_cast<Self>(self);
    if (origin != SEEK_SET || offset < 0 || static_cast<size_t>(offset) > transfer->request_.body.size()) {
      return CURL_SEEKFUNC_FAIL;
    }
    transfer->sent_bytes_ = static_cast<size_t>(offset);
    return CURL_SEEKFUNC_OK;
  };
  // As libcurl opens a socket, but not for the programs that this process starts.
  constexpr auto open_socket = +[](void* self, curlsocktype /*purpose*/, curl_sockaddr* address) {
    static_cast<Self>(self)->watch_.OnSocket(Clock::now());
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  };
  constexpr auto on_connected = +[](void* self, char* /*to*/, char* /*from*/, int /*to_port*/, int /*from_port*/) {
    static_cast<Self>(self)->watch_.OnConnected(Clock::now());
    return CURL_PREREQFUNC_OK;
  };
  Set(easy_, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  Set(easy_, CURLOPT_OPENSOCKETDATA, this);
  Set(easy_, CURLOPT_PREREQFUNCTION, on_connected);
  Set(easy_, CURLOPT_PREREQDATA, this);
  Set(easy_, CURLOPT_HEADERFUNCTION, on_header);
  Set(easy_, CURLOPT_HEADERDATA, this);
  Set(easy_, CURLOPT_WRITEFUNCTION, on_body);
  Set(easy_, CURLOPT_WRITEDATA, this);
  Set(easy_, CURLOPT_READFUNCTION, on_upload);
  Set(easy_, CURLOPT_READDATA, this);
  Set(easy_, CURLOPT_SEEKFUNCTION, on_seek);
  Set(easy_, CURLOPT_SEEKDATA, this);
}

bool HttpTransfer::IsStalled(curl_socket_t socket, Clock::time_point now) {
  if (!request_.body.empty()) {
    if (const std::optional<uint64_t> arrived = AcknowledgedBytes(socket)) {
      // A kept connection begins with the bytes of earlier requests.
      if (socket == arrived_on_) watch_.OnBytes(*arrived - arrived_bytes_, now);
      arrived_on_ = socket;
      arrived_bytes_ = *arrived;
    }
  }
  return watch_.IsOver(now);
}

size_t HttpTransfer::OnHeaderLine(std::string_view line) {
  watch_.OnBytes(line.size(), Clock::now());
  if (line.starts_with("HTTP/")) {  // the head of the answer, after that of a 100 Continue
    long code = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &code);
    response_.code = static_cast<int>(code);
    response_.headers.clear();
  } else if (const size_t colon = line.find(':');
             colon != std::string_view::npos && response_.headers.size() < kHeadersMax) {
    std::string name(WithoutBlanks(line.substr(0, colon)));
    std::transform(name.begin(), name.end(), name.begin(), LowerCase);
    response_.headers.emplace_back(std::move(name), WithoutBlanks(line.substr(colon + 1)));
  } else if (WithoutBlanks(line).empty() && !BodyFits()) {
    too_long_ = true;
    return 0;
  }
  if (!std::exchange(began_, true) && request_.began) request_.began();
  return line.size();
}

bool HttpTransfer::goes_into_memory() const {
  return !request_.into.empty() && (response_.code == 200 || response_.code == 206);
}

bool HttpTransfer::BodyFits() {
  if (!goes_into_memory() || request_.method == "HEAD") return true;
  const std::string_view text = response_.Header("content-length");
  uint64_t bytes = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), bytes);
  return bytes <= request_.into.size();
}

size_t HttpTransfer::OnBody(const char* data, size_t bytes) {
  watch_.OnBytes(bytes, Clock::now());
  settings_.received_bytes->fetch_add(bytes, std::memory_order_relaxed);
  if (goes_into_memory()) {
    if (bytes > request_.into.size() - response_.body_bytes) {
      too_long_ = true;
      return 0;
    }
    std::memcpy(request_.into.data() + response_.body_bytes, data, bytes);
  } else {
    const size_t room = request_.body_max - std::min(request_.body_max, response_.body.size());
    response_.body.append(data, std::min(bytes, room));
    if (bytes > room) {
      (response_.code >= 200 && response_.code < 300 ? too_long_ : enough_) = true;
      return 0;
    }
  }
  response_.body_bytes += bytes;
  return bytes;
}

size_t HttpTransfer::OnUpload(char* data, size_t bytes) {
  bytes = std::min(bytes, request_.body.size() - sent_bytes_);
  if (bytes != 0) std::memcpy(data, request_.body.data() + sent_bytes_, bytes);
  sent_bytes_ += bytes;
  return bytes;
}

HttpOutcome HttpTransfer::Finish(CURLcode code) {
  if (too_long_) {
    const std::string_view length = response_.Header("content-length");
    const size_t room = request_.into.empty() ? request_.body_max : request_.into.size();
    return Take({Code::kUnsupported, Context() + ": the server answered " + std::to_string(response_.code) +
                                         " and sends " +
                                         (length.empty() ? std::string("more") : std::string(length) + " bytes") +
                                         " where at most " + std::to_string(room) + " were asked for"});
  }
  if (enough_) code = CURLE_OK;
  return Take(code == CURLE_OK ? Status::Ok() : Failure(code));
}

HttpOutcome HttpTransfer::FinishStalled() {
  return Take(
      {Code::kIo, Context() + ": " + watch_.Cause() + ", after " + std::to_string(response_.body_bytes) + " bytes"});
}

HttpOutcome HttpTransfer::FinishCancelled() { return Take({Code::kStopped, Context() + ": cancelled"}); }

HttpOutcome HttpTransfer::Take(Status status) {
  long connections = 0;
  curl_easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &connections);
  response_.connection_was_new = connections > 0;
  response_.got_on = watch_.got_on();
  response_.status = std::move(status);
  response_.request = Context();
  std::function<void(HttpResponse)> done = std::move(request_.done);
  request_ = {};
  return {std::move(done), std::exchange(response_, {})};
}

Status HttpTransfer::Failure(CURLcode code) const {
  const std::string cause = error_text_[0] == '\0' ? curl_easy_strerror(code) : Printable(error_text_.data());
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return {Code::kInvalid, Context() + ": " + cause};
    case CURLE_SSL_CACERT_BADFILE:
      return {Code::kInvalid, Context() + ": the CA bundle " + settings_.ca_bundle + " cannot be used: " + cause};
    case CURLE_PEER_FAILED_VERIFICATION:
      return {Code::kPermission, Context() + ": the server's certificate is not trusted by the CA bundle " +
                                     settings_.ca_bundle + ": " + cause};
    case CURLE_SSL_CONNECT_ERROR:
      return {Code::kIo, Context() + ": " + cause + " (a server that has no TLS is named by http:// and not https://)"};
    case CURLE_GOT_NOTHING:
      if (!request_.url.starts_with("http://")) return {Code::kIo, Context() + ": " + cause};
      return {Code::kIo, Context() + ": " + cause + " (a server that has TLS is named by https:// and not http://)"};
    case CURLE_OUT_OF_MEMORY: return {Code::kNoSpace, Context() + ": no memory"};
    default: return {Code::kIo, Context() + ": " + cause};
  }
}

std::string HttpTransfer::Context() const { return Printable(request_.method) + " " + UrlWithoutSecrets(request_.url); }

}  // namespace augur
