// SPDX-License-Identifier: Apache-2.0
// Measures what a retained cache in shared memory takes, beside LMDB and a disk cache on the same tmpfs, and prints
// microseconds as one JSON object: a list for each contender and measure, with one number a round. Rounds are
// interleaved. A disk cache erases no single block, so it has no measure of replacement and no usable part.
//
//   retained_cache_bench [--folder /dev/shm] [--size 1G] [--rounds 3] [--steps 5000] [--seed 1]
//
// Blocks have 40 to 180 KB, 110 KB in the mean. Measures:
//   fill_us      insert into an empty one until 90 % of its size is in use: memory that was never touched before
//   replace_us   erase one block at random and insert another, at that fill
//   refused      of those replacements, how many found no room
//   read_us      find a random block and copy its bytes
//   two_read_us  the same by a second process, while the first one replaces; two_replace_us: of the first
//   usable       the largest part of the size that takes `steps` replacements without a refusal (once, not each round)

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "cache/disk_cache_layout.h"
#include "retained_cache_contenders.h"

namespace augur {
namespace {

using Clock = std::chrono::steady_clock;

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

constexpr int kErasesMax = 100;

// Blocks that are in a contender, and what is done with them.
class Workload {
 public:
  Workload(Contender& contender, uint64_t seed) : contender_(contender), random_(seed) {
    for (size_t at = 0; at < bytes_.size(); ++at) bytes_[at] = static_cast<std::byte>(at * 31 >> 3);
  }

  // False: no room before so many bytes are in it.
  bool Fill(uint64_t bytes) {
    while (used_ + kBlockBytesMax < bytes) {
      if (!Insert()) return false;
    }
    return true;
  }
  // Erases one and inserts one, of any size, so the fill wanders a little; kept below where it began.
  bool Replace(uint64_t bytes) {
    do {
      size_t at = random_() % ids_.size();
      // One that the other process is reading stays: then another.
      for (int tries = 0; !contender_.Erase(ids_[at]); at = random_() % ids_.size()) {
        if (++tries == kErasesMax) return false;
      }
      used_ -= BlockBytes(ids_[at]);
      ids_[at] = ids_.back();
      ids_.pop_back();
    } while (used_ + BlockBytes(next_id_) > bytes);
    return Insert();
  }
  bool Read() { return contender_.Read(ids_[random_() % ids_.size()], out_.data()); }
  size_t blocks() const { return ids_.size(); }

 private:
  bool Insert() {
    const uint64_t id = next_id_++;
    if (!contender_.Insert(id, std::span(bytes_).first(BlockBytes(id)))) return false;
    used_ += BlockBytes(id);
    ids_.push_back(id);
    return true;
  }

  Contender& contender_;
  std::mt19937_64 random_;
  std::vector<uint64_t> ids_;
  uint64_t next_id_ = 1;
  uint64_t used_ = 0;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(kBlockBytesMax);
  std::vector<std::byte> out_ = std::vector<std::byte>(UpToDiskCachePage(kBlockBytesMax));
};

struct Settings {
  std::string folder = "/dev/shm";
  uint64_t size = kGiB;
  int rounds = 3;
  int steps = 5000;
  uint64_t seed = 1;
};

using Measures = std::map<std::string, std::vector<double>>;

// A folder for one round of one contender, removed with all that is in it.
class RoundFolder {
 public:
  explicit RoundFolder(const std::string& folder)
      : path_(folder + "/retained_cache_bench_" + std::to_string(::getpid())) {
    ::mkdir(path_.c_str(), 0700);
  }
  ~RoundFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  RoundFolder(const RoundFolder&) = delete;
  RoundFolder& operator=(const RoundFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A second process that reads random blocks of those that are in it at first, once told to, until it is told to stop;
// then it tells its time a read. Made before this one opens the contender: LMDB must not be open across a fork.
class SecondReader {
 public:
  SecondReader(Opener open, const std::string& folder, const Settings& settings) {
    if (::pipe(go_) != 0 || ::pipe(result_) != 0) return;
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    uint64_t blocks = 0;
    double us = -1;
    if (::read(go_[0], &blocks, sizeof(blocks)) == sizeof(blocks)) us = ReadFor(open, folder, settings, blocks);
    const bool told = ::write(result_[1], &us, sizeof(us)) == sizeof(us);
    ::_exit(told ? 0 : 1);
  }
  ~SecondReader() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    for (const int fd : {go_[0], go_[1], result_[0], result_[1]}) ::close(fd);
  }
  SecondReader(const SecondReader&) = delete;
  SecondReader& operator=(const SecondReader&) = delete;
  bool Go(uint64_t blocks) const { return ::write(go_[1], &blocks, sizeof(blocks)) == sizeof(blocks); }
  double Result() const {
    double us = -1;
    return ::read(result_[0], &us, sizeof(us)) == sizeof(us) ? us : -1;
  }

 private:
  static double ReadFor(Opener open, const std::string& folder, const Settings& settings, uint64_t blocks) {
    const auto contender = open(folder, settings.size);
    if (!contender) return -1;
    std::mt19937_64 random(settings.seed + 99);
    std::vector<std::byte> out(UpToDiskCachePage(kBlockBytesMax));
    int found = 0;
    double us = 0;
    // Blocks that have been replaced are not found; only those that are read count.
    for (int tries = 0; found < settings.steps && tries < 20 * settings.steps; ++tries) {
      const auto start = Clock::now();
      if (!contender->Read(1 + random() % blocks, out.data())) continue;
      us += MicrosecondsSince(start);
      ++found;
    }
    return found == 0 ? -1 : us / found;
  }

  int go_[2] = {-1, -1};
  int result_[2] = {-1, -1};
  pid_t pid_ = -1;
};

bool Round(Opener open, const Settings& settings, Measures& measures) {
  const RoundFolder folder(settings.folder);
  const SecondReader second(open, folder.path(), settings);
  const auto contender = open(folder.path(), settings.size);
  if (!contender) return false;
  Workload work(*contender, settings.seed);
  const uint64_t bytes = settings.size / 10 * 9;
  auto start = Clock::now();
  const bool filled = work.Fill(bytes);
  measures["fill_us"].push_back(MicrosecondsSince(start) / static_cast<double>(work.blocks()));
  measures["blocks"].push_back(static_cast<double>(work.blocks()));

  start = Clock::now();
  for (int step = 0; step < settings.steps; ++step) {
    if (!work.Read()) return false;
  }
  measures["read_us"].push_back(MicrosecondsSince(start) / settings.steps);

  const auto replace = [&](const char* name) {
    if (!contender->CanErase()) return;
    int refused = filled ? 0 : 1;
    start = Clock::now();
    for (int step = 0; step < settings.steps; ++step) refused += work.Replace(bytes) ? 0 : 1;
    measures[name].push_back(MicrosecondsSince(start) / settings.steps);
    measures["refused"].push_back(refused);
  };
  // The second one knows the blocks by the numbers they were given in Fill.
  if (!second.Go(work.blocks())) return false;
  replace("two_replace_us");
  measures["two_read_us"].push_back(second.Result());
  replace("replace_us");
  return true;
}

// Tried from above; a fill that cannot even be reached is a refusal.
double Usable(Opener open, const Settings& settings) {
  for (const double part : {0.99, 0.97, 0.95, 0.925, 0.9, 0.875, 0.85, 0.825, 0.8, 0.75, 0.7, 0.6, 0.5}) {
    const RoundFolder folder(settings.folder);
    const auto contender = open(folder.path(), settings.size);
    if (!contender || !contender->CanErase()) return 0;
    const auto bytes = static_cast<uint64_t>(static_cast<double>(settings.size) * part);
    Workload work(*contender, settings.seed);
    bool taken = work.Fill(bytes);
    for (int step = 0; taken && step < settings.steps; ++step) taken = work.Replace(bytes);
    if (taken) return part;
  }
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app("Measures the retained cache in shared memory beside LMDB and a disk cache, as JSON");
  Settings settings;
  std::string size = "1G";
  app.add_option("--folder", settings.folder, "on a tmpfs");
  app.add_option("--size", size, "of each: K, M, G");
  app.add_option("--rounds", settings.rounds)->check(CLI::Range(1, 1000));
  app.add_option("--steps", settings.steps, "of each measure")->check(CLI::Range(1, 100'000'000));
  app.add_option("--seed", settings.seed);
  CLI11_PARSE(app, argc, argv);
  const Result<uint64_t> bytes = ParseSize(size);
  if (!bytes.ok() || *bytes < 8 * kMiB) {
    std::fprintf(stderr, "retained_cache_bench: --size: %s\n",
                 bytes.ok() ? "at least 8M" : bytes.status().text().c_str());
    return 2;
  }
  settings.size = *bytes;
  const std::map<std::string, Opener> contenders = {
      {"arena", OpenArena}, {"lmdb", OpenLmdb}, {"segments", OpenSegments}};
  nlohmann::json out;
  std::map<std::string, Measures> measures;
  for (int round = 0; round < settings.rounds; ++round, ++settings.seed) {
    for (const auto& [name, open] : contenders) {
      if (!Round(open, settings, measures[name])) {
        std::fprintf(stderr, "retained_cache_bench: %s: a block that was inserted is missing, or it cannot be opened\n",
                     name.c_str());
        return 1;
      }
    }
  }
  for (const auto& [name, open] : contenders) {
    out[name] = measures[name];
    out[name]["usable"] = Usable(open, settings);
  }
  std::puts(out.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace augur

// Running out of memory is all that can throw here, and ends the program either way.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) { return augur::Main(argc, argv); }
