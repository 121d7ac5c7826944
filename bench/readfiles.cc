// SPDX-License-Identifier: Apache-2.0
// Reads files as a data loader does, open, fstat, read whole, close, and prints what it took as one JSON object.
//
//   readfiles --root DIR [--list FILE] [--order sequential|shuffle] [--seed N] [--threads N] [--limit N] [--pace MB/S]
//   readfiles --root DIR --epoch FILE --epoch FILE ... [--threads N] [--pace MB/S]
//   readfiles --touch BYTES      writes to that much memory once and gives it back (see bench/README.md, first touch)
//
// The list is made before the clock starts: by a walk of the root, or from a file of paths below it, one a line, so
// that a cold run does not begin with a scan of what it is going to read. It has path order; a shuffle depends on the
// seed alone. Threads take the next file of the list when they are done with theirs, as the workers of a loader do.
// With --epoch the lists are read one after the other, each in its own order, and the object has "epochs", an object
// for each. With --pace a file is begun no sooner than the bytes before it allow: a reader that also has something to
// do.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "base/units.h"

namespace augur {
namespace {

using Clock = std::chrono::steady_clock;

double Microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

// What one thread has measured. Owned by that thread until it has been joined.
struct Tally {
  std::vector<double> file_us;  // one a file
  double open_us = 0;
  double fstat_us = 0;
  double read_us = 0;
  double close_us = 0;
  uint64_t bytes = 0;
  uint64_t failures = 0;
  std::string first_failure;
};

void Fail(Tally& tally, const std::string& path, const std::string& cause) {
  if (tally.failures++ == 0) {
    tally.first_failure = Printable(path) + ": " + cause;
  }
}

std::string ErrnoText(int error) { return std::system_category().message(error); }

// Reads `size` bytes of `fd`. False, with the cause, when they are not all there.
bool ReadWhole(int fd, size_t size, char* data, std::string& cause) {
  size_t done = 0;
  while (done < size) {
    const ssize_t count = read(fd, data + done, size - done);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      cause = count < 0 ? ErrnoText(errno)
                        : "ended after " + std::to_string(done) + " of " + std::to_string(size) + " bytes";
      return false;
    }
    done += static_cast<size_t>(count);
  }
  return true;
}

void ReadOne(const std::string& path, std::vector<char>& buffer, Tally& tally) {
  const auto start = Clock::now();
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return Fail(tally, path, ErrnoText(errno));
  }
  const auto opened = Clock::now();
  struct stat info;
  if (fstat(fd.get(), &info) != 0) {
    return Fail(tally, path, ErrnoText(errno));
  }
  const auto known = Clock::now();
  const auto size = static_cast<size_t>(info.st_size);
  if (buffer.size() < size) {
    buffer.resize(size);
  }
  std::string cause;
  if (!ReadWhole(fd.get(), size, buffer.data(), cause)) {
    return Fail(tally, path, cause);
  }
  const auto was_read = Clock::now();
  fd.Reset();
  const auto end = Clock::now();
  tally.open_us += Microseconds(opened - start);
  tally.fstat_us += Microseconds(known - opened);
  tally.read_us += Microseconds(was_read - known);
  tally.close_us += Microseconds(end - was_read);
  tally.file_us.push_back(Microseconds(end - start));
  tally.bytes += size;
}

// Paths of the regular files below `root`, in the order of their bytes.
std::vector<std::string> Walk(const std::string& root) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(root, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error) && !at->is_symlink(error)) {
      paths.push_back(at->path().string());
    }
  }
  if (error) {
    std::fprintf(stderr, "readfiles: %s: %s\n", root.c_str(), error.message().c_str());
    return {};
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> ReadList(const std::string& list, const std::string& root) {
  std::vector<std::string> paths;
  std::ifstream in(list);
  for (std::string line; std::getline(in, line);) {
    paths.push_back(root);
    paths.back().append("/").append(line);
  }
  if (paths.empty()) {
    std::fprintf(stderr, "readfiles: %s: no paths in it, or it cannot be read\n", list.c_str());
  }
  return paths;
}

// Fisher and Yates; std::shuffle may differ between libraries, and runs are to be comparable.
void Shuffle(std::vector<std::string>& paths, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t left = paths.size(); left > 1; --left) {
    std::swap(paths[left - 1], paths[random() % left]);
  }
}

double Percentile(const std::vector<double>& sorted, double part) {
  return sorted.empty()
             ? 0
             : sorted[std::min(sorted.size() - 1, static_cast<size_t>(part * static_cast<double>(sorted.size())))];
}

// Mean of the fastest part of the files: the others had to wait for something.
double MeanOfFastest(const std::vector<double>& sorted, double part) {
  const auto count = std::max<size_t>(1, static_cast<size_t>(part * static_cast<double>(sorted.size())));
  if (sorted.empty()) return 0;
  return std::accumulate(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(count), 0.0) /
         static_cast<double>(count);
}

// Of this process so far.
double CpuSeconds() {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

nlohmann::json Summary(const std::vector<Tally>& tallies, double seconds, double cpu_seconds) {
  std::vector<double> all;
  Tally sum;
  for (const Tally& tally : tallies) {
    all.insert(all.end(), tally.file_us.begin(), tally.file_us.end());
    sum.open_us += tally.open_us;
    sum.fstat_us += tally.fstat_us;
    sum.read_us += tally.read_us;
    sum.close_us += tally.close_us;
    sum.bytes += tally.bytes;
    sum.failures += tally.failures;
    if (sum.first_failure.empty()) {
      sum.first_failure = tally.first_failure;
    }
  }
  std::sort(all.begin(), all.end());
  const auto files = static_cast<double>(std::max<size_t>(1, all.size()));
  nlohmann::json out = {
      {"files", all.size()},
      {"bytes", sum.bytes},
      {"failures", sum.failures},
      {"threads", tallies.size()},
      {"seconds", seconds},
      {"cpu_seconds", cpu_seconds},
      {"files_per_s", static_cast<double>(all.size()) / seconds},
      {"mb_per_s", static_cast<double>(sum.bytes) / 1e6 / seconds},
      {"us_per_file", std::accumulate(all.begin(), all.end(), 0.0) / files},
      {"us_of_fastest_98_percent", MeanOfFastest(all, 0.98)},
      {"open_us", sum.open_us / files},
      {"fstat_us", sum.fstat_us / files},
      {"read_us", sum.read_us / files},
      {"close_us", sum.close_us / files},
      {"p50_us", Percentile(all, 0.5)},
      {"p90_us", Percentile(all, 0.9)},
      {"p99_us", Percentile(all, 0.99)},
      {"p999_us", Percentile(all, 0.999)},
      {"max_us", all.empty() ? 0 : all.back()},
  };
  if (sum.failures != 0) {
    out["first_failure"] = sum.first_failure;
  }
  return out;
}

// Buffers are as large as the largest file usually is, and touched, before the clock starts.
constexpr size_t kBufferBytes = 4 << 20;

// Holds readers to a number of bytes a second, together. Safe from any thread.
class Pace {
 public:
  // 0: as fast as they can.
  explicit Pace(double bytes_per_s) : bytes_per_s_(bytes_per_s), start_(Clock::now()) {}

  // Counts bytes that were read, and waits until so many are allowed as there are now.
  void WaitFor(uint64_t bytes) {
    if (bytes_per_s_ == 0) return;
    const auto now = static_cast<double>(bytes_.fetch_add(bytes) + bytes);
    std::this_thread::sleep_until(
        start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(now / bytes_per_s_)));
  }

 private:
  const double bytes_per_s_;
  const Clock::time_point start_;
  std::atomic<uint64_t> bytes_{0};
};

nlohmann::json ReadAll(const std::vector<std::string>& paths, unsigned threads, double bytes_per_s) {
  std::vector<Tally> tallies(threads);
  std::vector<std::vector<char>> buffers(threads, std::vector<char>(kBufferBytes, 1));
  for (Tally& tally : tallies) {
    tally.file_us.reserve(paths.size());
  }
  std::atomic<size_t> next{0};
  const double cpu_before = CpuSeconds();
  const auto start = Clock::now();
  Pace pace(bytes_per_s);
  {
    std::vector<std::jthread> readers;
    for (unsigned number = 0; number < threads; ++number) {
      readers.emplace_back([&paths, &next, &pace, &tally = tallies[number], &buffer = buffers[number]] {
        uint64_t bytes = 0;  // of the file before
        for (size_t at = next++; at < paths.size(); at = next++) {
          pace.WaitFor(bytes);
          const uint64_t sum = tally.bytes;
          ReadOne(paths[at], buffer, tally);
          bytes = tally.bytes - sum;
        }
      });
    }
  }
  const double seconds = Microseconds(Clock::now() - start) / 1e6;
  return Summary(tallies, seconds, CpuSeconds() - cpu_before);
}

// Reads the lists in turn; nothing is between the end of one and the beginning of the next but what makes its summary.
nlohmann::json ReadEpochs(const std::vector<std::vector<std::string>>& epochs, unsigned threads, double bytes_per_s) {
  nlohmann::json out = {{"epochs", nlohmann::json::array()}, {"files", 0}, {"bytes", 0}, {"failures", 0}};
  for (const std::vector<std::string>& paths : epochs) {
    const nlohmann::json one = ReadAll(paths, threads, bytes_per_s);
    for (const char* sum : {"files", "bytes", "failures"}) {
      out[sum] = out[sum].get<uint64_t>() + one[sum].get<uint64_t>();
    }
    if (one.contains("first_failure") && !out.contains("first_failure")) out["first_failure"] = one["first_failure"];
    out["epochs"].push_back(one);
  }
  return out;
}

// The first touch of a page costs a virtual machine several times what a later one does; this pays for it.
int Touch(const std::string& text) {
  Result<uint64_t> bytes = ParseSize(text);
  if (!bytes.ok()) {
    std::fprintf(stderr, "readfiles: --touch: %s\n", bytes.status().text().c_str());
    return 2;
  }
  void* memory = mmap(nullptr, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "readfiles: --touch %s: %s\n", text.c_str(), ErrnoText(errno).c_str());
    return 2;
  }
  munmap(memory, *bytes);
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app("Reads files as a data loader does and prints what it took, as JSON");
  std::string root;
  std::string list;
  std::string order = "sequential";
  std::string touch;
  uint64_t seed = 0;
  size_t limit = 0;
  unsigned threads = 1;
  double pace_mb_per_s = 0;
  std::vector<std::string> epochs;
  app.add_option("--root", root, "folder to read");
  app.add_option("--list", list, "file of paths below the root, one a line; without it the root is walked");
  app.add_option("--order", order, "sequential: path order")->check(CLI::IsMember({"sequential", "shuffle"}));
  app.add_option("--seed", seed, "of the shuffle");
  app.add_option("--threads", threads)->check(CLI::Range(1, 1024));
  app.add_option("--limit", limit, "read only so many files, the first of the order");
  app.add_option("--pace", pace_mb_per_s, "MB a second, at most")->check(CLI::NonNegativeNumber);
  app.add_option("--epoch", epochs, "file of paths below the root, read in their order; may be given several times");
  app.add_option("--touch", touch, "only write once to so much memory: K, M, G");
  CLI11_PARSE(app, argc, argv);
  if (!touch.empty()) {
    return Touch(touch);
  }
  if (root.empty()) {
    std::fprintf(stderr, "readfiles: --root is missing\n");
    return 2;
  }
  if (!epochs.empty()) {
    std::vector<std::vector<std::string>> lists;
    for (const std::string& epoch : epochs) {
      lists.push_back(ReadList(epoch, root));
      if (lists.back().empty()) return 2;
    }
    const nlohmann::json summary = ReadEpochs(lists, threads, pace_mb_per_s * 1e6);
    std::puts(summary.dump().c_str());
    return summary["failures"] == 0 ? 0 : 1;
  }
  std::vector<std::string> paths = list.empty() ? Walk(root) : ReadList(list, root);
  if (paths.empty()) {
    std::fprintf(stderr, "readfiles: %s: no files\n", root.c_str());
    return 2;
  }
  if (order == "shuffle") {
    Shuffle(paths, seed);
  }
  if (limit != 0 && limit < paths.size()) {
    paths.resize(limit);
  }
  const nlohmann::json summary = ReadAll(paths, threads, pace_mb_per_s * 1e6);
  std::puts(summary.dump().c_str());
  return summary["failures"] == 0 ? 0 : 1;
}

}  // namespace
}  // namespace augur

// Running out of memory is all that can throw here, and ends the program either way.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) { return augur::Main(argc, argv); }
