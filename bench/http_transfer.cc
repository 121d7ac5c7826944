// SPDX-License-Identifier: Apache-2.0
// What HTTP costs the client: rate, and processor time for a GB. Prints one JSON object.
//
//   http_transfer_bench [--url URL --object-bytes N] [--bytes N] [--rounds N] [--in-flight N]
//
// Without --url a server of its own, in a process of its own on 127.0.0.1, answers ranges of 256 MiB in memory. Each
// round reads as many bytes by each client, one after the other. Median, least and most of the rounds are given.
//
//   loop     as many threads as requests in flight, each a plain loop of curl_easy_perform into its memory
//   engine   HttpEngine
//   client   RetryingClient on an HttpEngine, without urgent requests; its limit is the number in flight
#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "http/http_engine.h"
#include "http/retrying_client.h"

namespace augur {
namespace {

constexpr uint64_t kOwnObjectBytes = 256 << 20;

struct Arguments {
  std::string url;
  uint64_t object_bytes = kOwnObjectBytes;
  uint64_t bytes = 1'000'000'000;  // of a round
  int rounds = 5;
  unsigned in_flight = 0;  // 0: by the size
};

// What one client reads in a round.
struct Work {
  std::string url;
  uint64_t object_bytes = 0;
  size_t range_bytes = 0;
  size_t requests = 0;
  unsigned in_flight = 0;

  std::string Range(std::minstd_rand& random) const {
    const uint64_t first = std::uniform_int_distribution<uint64_t>(0, object_bytes - range_bytes)(random);
    return "bytes=" + std::to_string(first) + "-" + std::to_string(first + range_bytes - 1);
  }
};

[[noreturn]] void Fail(const std::string& text) {
  std::fprintf(stderr, "http_transfer_bench: %s\n", text.c_str());
  std::_Exit(2);
}

void ServeConnection(int fd, const std::vector<char>& object) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::string buffer;
  std::vector<char> bytes(16384);
  for (;;) {
    const size_t end = buffer.find("\r\n\r\n");
    if (end == std::string::npos) {
      const ssize_t n = ::recv(fd, bytes.data(), bytes.size(), 0);
      if (n <= 0) break;
      buffer.append(bytes.data(), static_cast<size_t>(n));
      continue;
    }
    const size_t range = buffer.find("bytes=") + 6;
    const uint64_t first = std::strtoull(buffer.c_str() + range, nullptr, 10);
    const uint64_t last = std::strtoull(buffer.c_str() + buffer.find('-', range) + 1, nullptr, 10);
    buffer.erase(0, end + 4);
    const std::string head =
        "HTTP/1.1 206 Partial Content\r\nContent-Length: " + std::to_string(last - first + 1) + "\r\n\r\n";
    bool open = ::send(fd, head.data(), head.size(), MSG_NOSIGNAL | MSG_MORE) == static_cast<ssize_t>(head.size());
    for (uint64_t at = first; open && at <= last;) {
      const ssize_t n = ::send(fd, object.data() + at, last - at + 1, MSG_NOSIGNAL);
      open = n > 0;
      at += static_cast<uint64_t>(std::max<ssize_t>(n, 0));
    }
    if (!open) break;
  }
  ::close(fd);
}

// Starts the server's process, which ends with this one, and returns the URL of its object.
std::string StartServer() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), bytes) != 0 || ::listen(listener, 256) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) {
    Fail("cannot listen on 127.0.0.1");
  }
  const pid_t parent = ::getpid();
  if (::fork() == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) std::_Exit(0);
    const std::vector<char> object(kOwnObjectBytes, 'x');
    for (;;) {
      const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) std::_Exit(1);
      std::thread(ServeConnection, fd, std::cref(object)).detach();
    }
  }
  ::close(listener);
  return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/object";
}

// A plain loop in each thread.
void ReadByLoop(const Work& work) {
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < work.in_flight; ++i) {
    threads.emplace_back([&, i] {
      struct Memory {
        std::vector<char> bytes;
        size_t filled = 0;
      } memory;
      memory.bytes.resize(work.range_bytes);
      std::minstd_rand random(i + 1);
      CURL* const easy = curl_easy_init();
      constexpr auto on_body = +[](char* data, size_t size, size_t count, void* to) {
        const auto into = static_cast<Memory*>(to);
        if (size * count > into->bytes.size() - into->filled) return size_t{0};
        std::memcpy(into->bytes.data() + into->filled, data, size * count);
        into->filled += size * count;
        return size * count;
      };
      curl_easy_setopt(easy, CURLOPT_URL, work.url.c_str());
      curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
      curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
      curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
      curl_easy_setopt(easy, CURLOPT_WRITEDATA, &memory);
      while (next++ < work.requests) {
        memory.filled = 0;
        curl_easy_setopt(easy, CURLOPT_RANGE, work.Range(random).substr(6).c_str());
        const CURLcode code = curl_easy_perform(easy);
        if (code != CURLE_OK || memory.filled != work.range_bytes) Fail(curl_easy_strerror(code));
      }
      curl_easy_cleanup(easy);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Keeps so many requests in flight: each end begins the next one. `submit` gets the memory, the range, and what to call
// at the end.
using Submit = std::function<void(std::span<std::byte>, std::string range, std::function<void(HttpResponse)>)>;

void ReadByEngine(const Work& work, const Submit& submit) {
  std::vector<std::vector<std::byte>> memory(work.in_flight, std::vector<std::byte>(work.range_bytes));
  std::minstd_rand random(1);
  size_t begun = 0;  // on the engine's thread after the first ones, which are submitted before any ends
  size_t ended = 0;
  std::promise<void> all;
  std::promise<void> submitted;
  std::shared_future<void> ready = submitted.get_future().share();
  std::function<void(size_t)> next = [&](size_t slot) {
    ++begun;
    submit(memory[slot], work.Range(random), [&, slot](const HttpResponse& response) {
      ready.wait();
      if (!response.succeeded() || response.body_bytes != work.range_bytes) Fail(response.status.text());
      if (++ended == work.requests) all.set_value();
      if (begun < work.requests) next(slot);
    });
  };
  for (size_t slot = 0; slot < std::min<size_t>(work.in_flight, work.requests); ++slot) next(slot);
  submitted.set_value();
  all.get_future().wait();
}

std::unique_ptr<HttpEngine> MakeEngine(unsigned in_flight) {
  Result<std::unique_ptr<HttpEngine>> engine = HttpEngine::Make({.in_flight_max = in_flight});
  if (!engine.ok()) Fail(engine.status().text());
  return std::move(engine).value();
}

void ReadByBareEngine(const Work& work) {
  const auto engine = MakeEngine(work.in_flight);
  ReadByEngine(work, [&](std::span<std::byte> into, std::string range, std::function<void(HttpResponse)> done) {
    HttpRequest request;
    request.url = work.url;
    request.headers = {{"Range", std::move(range)}};
    request.into = into;
    request.done = std::move(done);
    engine->Submit(std::move(request));
  });
}

void ReadByClient(const Work& work) {
  const auto engine = MakeEngine(2 * work.in_flight);
  RetryOptions options;
  options.in_flight_min = options.in_flight_start = options.in_flight_max = static_cast<int>(work.in_flight);
  RetryingClient client(*engine, options);
  ReadByEngine(work, [&](std::span<std::byte> into, std::string range, std::function<void(HttpResponse)> done) {
    HttpOperation operation;
    operation.prepare = [&work, range = std::move(range)](int) -> Result<HttpAttempt> {
      return HttpAttempt{"GET", work.url, {{"Range", range}}};
    };
    operation.into = into;
    operation.done = std::move(done);
    client.Submit(std::move(operation));
  });
}

double CpuSeconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

nlohmann::json Spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {{"median", values[values.size() / 2]}, {"least", values.front()}, {"most", values.back()}};
}

nlohmann::json Measure(const Arguments& arguments, const std::string& url, size_t range_bytes, unsigned in_flight) {
  const Work work{.url = url,
                  .object_bytes = arguments.object_bytes,
                  .range_bytes = range_bytes,
                  .requests = std::max<size_t>(1, arguments.bytes / range_bytes),
                  .in_flight = arguments.in_flight != 0 ? arguments.in_flight : in_flight};
  const std::pair<const char*, void (*)(const Work&)> clients[] = {
      {"loop", &ReadByLoop}, {"engine", &ReadByBareEngine}, {"client", &ReadByClient}};
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> measured;
  const double gigabytes = static_cast<double>(work.requests) * static_cast<double>(range_bytes) * 1e-9;
  for (int round = 0; round < arguments.rounds; ++round) {
    for (const auto& [name, read] : clients) {
      const auto begin = std::chrono::steady_clock::now();
      const double cpu = CpuSeconds();
      read(work);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
      measured[name].first.push_back(gigabytes * 1000 / time.count());
      measured[name].second.push_back((CpuSeconds() - cpu) / gigabytes);
    }
  }
  nlohmann::json row = {{"range_bytes", range_bytes}, {"in_flight", work.in_flight}};
  for (const auto& [name, values] : measured) {
    row[name] = {{"mb_per_second", Spread(values.first)}, {"cpu_seconds_per_gb", Spread(values.second)}};
  }
  return row;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Measures what HTTP costs the client.");
  app.add_option("--url", arguments.url, "an object on another server that answers ranges");
  app.add_option("--object-bytes", arguments.object_bytes, "its size");
  app.add_option("--bytes", arguments.bytes, "bytes of a round");
  app.add_option("--rounds", arguments.rounds, "rounds");
  app.add_option("--in-flight", arguments.in_flight, "requests in flight (default: 64, and 8 of 8 MiB)");
  CLI11_PARSE(app, argc, argv);
  const std::string url = arguments.url.empty() ? StartServer() : arguments.url;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  nlohmann::json rows = nlohmann::json::array();
  rows.push_back(Measure(arguments, url, 110'000, 64));
  rows.push_back(Measure(arguments, url, 8 << 20, 8));
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  std::printf("%s\n", nlohmann::json({{"rows", rows}, {"load", load}}).dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace augur

int main(int argc, char** argv) {
  try {
    return augur::Main(argc, argv);
  } catch (const std::exception& failure) {  // of CLI11 or the threads
    std::fprintf(stderr, "http_transfer_bench: %s\n", failure.what());
    return 2;
  }
}
