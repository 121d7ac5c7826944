// SPDX-License-Identifier: Apache-2.0
// What it costs to see and to drop what a reader reads, on a mount whose files are in the page cache before they are
// opened. Needs root. Prints one JSON object: for each way, median and quartiles over the rounds.
//
//   observe [--files N] [--bytes N] [--rounds N]
//
// A round goes through all ways, one after the other, each on a mount of its own. The reader is a process of its own:
// open, fstat, read whole, close, in path order. CPU time is that of the other processes, without the kernel's own
// threads. src/fuse/OBSERVATION.md says what came out.

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "augur/store.h"
#include "augur/store_writer.h"
#include "base/check.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "cache/buffer_pool.h"
#include "cache/record_cache.h"
#include "control/statistics.h"
#include "fs/file_system.h"
#include "fuse/mount_helper.h"
#include "fuse/mount_point.h"
#include "fuse/page_cache_pusher.h"
#include "fuse/session.h"
#include "io/read_engine.h"
#include "observe_peers.h"
#include "store/local_files.h"

namespace augur {
namespace {

// One in so many files is left out of the push.
constexpr size_t kSentinelEvery = 64;

enum class Seen { kNothing, kSentinels, kInotify, kFanotify };
enum class Dropped { kNot, kByHelper, kByDaemon };

struct Way {
  const char* name = "";
  Seen seen = Seen::kNothing;
  Dropped dropped = Dropped::kNot;
  size_t piece_bytes = kBlockBytes;
};

constexpr std::array kWays = {
    Way{.name = "nothing"},
    Way{.name = "sentinels", .seen = Seen::kSentinels},
    Way{.name = "inotify", .seen = Seen::kInotify},
    Way{.name = "fanotify", .seen = Seen::kFanotify},
    Way{.name = "drop_by_helper", .dropped = Dropped::kByHelper},
    Way{.name = "drop_by_inval_inode", .dropped = Dropped::kByDaemon},
    Way{.name = "pieces_of_4096", .piece_bytes = 4096},
};

using Figures = std::map<std::string, double>;

// One mount and what is measured on it.
class Scenario {
 public:
  Scenario(std::string store_path, std::string point, std::vector<std::string> names)
      : store_path_(std::move(store_path)), point_(std::move(point)), names_(std::move(names)) {}

  Figures Run(const Way& way) {
    std::vector<std::string> paths;
    paths.reserve(names_.size());
    for (const std::string& name : names_) paths.push_back(point_ + "/" + name);
    const Peer reader([&](int in, int out) { ReadAll(paths, in, out); });
    const Peer marker([&](int in, int out) { WatchByFanotify(point_, in, out); });
    Mount();
    if (way.seen == Seen::kFanotify) {
      marker.Say(1);
      marker.Hear();
    }
    if (way.seen == Seen::kInotify) helper_->Watch(std::vector{EntryNumber{0}});
    StatNow();
    // Once unmeasured: first touch of memory, the first OPEN, the sentinels' records into the cache.
    PushAll(way);
    ReadOnce(reader);
    DropAll(way.dropped);
    Figures figures;
    for (const std::string epoch : {"1", "2"}) {
      const double push = Seconds(CLOCK_MONOTONIC);
      const double push_cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
      PushAll(way);
      figures["push_us_" + epoch] = PerFile(Seconds(CLOCK_MONOTONIC) - push);
      figures["push_cpu_us_" + epoch] = PerFile(Seconds(CLOCK_PROCESS_CPUTIME_ID) - push_cpu);
      const uint64_t reads = statistics_.Get(Stat::kReads);
      const uint64_t seen = opened_;
      const double cpu = Cpu(marker);
      const double reader_cpu = CpuSeconds(reader.pid());
      figures["read_us_" + epoch] = ReadEpoch(reader, way.dropped);
      figures["reader_cpu_us_" + epoch] = PerFile(CpuSeconds(reader.pid()) - reader_cpu);
      usleep(20'000);  // what the helper and the drops have left to do
      figures["cpu_us_" + epoch] = PerFile(Cpu(marker) - cpu);
      figures["reads_" + epoch] = static_cast<double>(statistics_.Get(Stat::kReads) - reads);
      figures["seen_" + epoch] = static_cast<double>(opened_ - seen);
      // Each in its own way: the helper's opens would fetch the attributes that the other has made the kernel forget.
      DropAll(way.dropped);
    }
    End();
    return figures;
  }

 private:
  double PerFile(double seconds) const { return seconds * 1e6 / static_cast<double>(names_.size()); }
  double Cpu(const Peer& marker) const {
    return Seconds(CLOCK_PROCESS_CPUTIME_ID) + CpuSeconds(helper_->pid()) + CpuSeconds(marker.pid());
  }

  template <typename T>
  static T Must(Result<T> result) {
    if (result.ok()) return std::move(result).value();
    std::fprintf(stderr, "observe: %s\n", result.status().text().c_str());
    _exit(2);
  }

  void Mount() {
    place_ = std::make_unique<LocalPlace>(store_path_, StoreOptions{});
    store_ = Must(Store::Open(*place_));
    helper_ = Must(MountHelper::Fork(*place_, store_->summary().generation));
    engine_ = Must(MakeReadEngine(EngineKind::kAuto, 16));
    shards_ = store_->files().MakeSource(store_, *engine_, ReadPurpose::kDemand, StoreFiles::NothingBefore);
    file_system_ = std::make_unique<FileSystem>(store_, *shards_, cache_, statistics_, FileSystemOptions{});
    mount_point_ = std::make_unique<MountPoint>(Must(MountPoint::Check({.path = point_, .source = store_path_})));
    AUGUR_CHECK(mount_point_->Mount().ok());
    session_ = Must(Session::Make(mount_point_->TakeDevice(), *file_system_, statistics_, {}));
    AUGUR_CHECK(session_->Start().ok());
    while (session_->state() == SessionState::kStarting) usleep(1000);
    pusher_ = std::make_unique<PageCachePusher>(session_->notifications());
    AUGUR_CHECK(helper_
                    ->AttachTo(mount_point_->path(), mount_point_->device_number(), UniqueFd(),
                               [this](uint32_t, std::span<const EntryNumber> files) { opened_ += files.size(); })
                    .ok());
    for (const std::string& name : names_) {
      const Entry entry = Must(store_->Find(name));
      entries_.push_back(static_cast<EntryNumber>(entry.number));
      auto& bytes = records_.emplace_back(entry.size);
      for (uint64_t block = 0; block < Store::BlockCount(entry); ++block) {
        const auto into = std::span(bytes).subspan(block * kBlockBytes, Store::BlockBytes(entry, block));
        AUGUR_CHECK(store_->Read(entry, block, into).ok());
      }
    }
  }

  void End() {
    helper_.reset();
    session_->Stop();
    (void)mount_point_->Unmount().ok();
    engine_.reset();
  }

  void StatNow() {
    std::promise<void> done;
    helper_->Stat(entries_, [&] { done.set_value(); });
    done.get_future().wait();
  }

  void DropNow(std::span<const EntryNumber> files) {
    std::promise<void> done;
    helper_->Drop(files, [&] { done.set_value(); });
    done.get_future().wait();
  }

  void PushAll(const Way& way) {
    std::vector<std::span<const std::byte>> pieces;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (way.seen == Seen::kSentinels && i % kSentinelEvery == 0) continue;
      for (uint64_t at = 0; at < records_[i].size(); at += kBlockBytes) {
        auto rest = std::span<const std::byte>(records_[i]).subspan(at);
        rest = rest.first(std::min<size_t>(rest.size(), kBlockBytes));
        pieces.clear();
        while (!rest.empty()) {
          pieces.push_back(rest.first(std::min(rest.size(), way.piece_bytes)));
          rest = rest.subspan(pieces.back().size());
        }
        AUGUR_CHECK(pusher_->Push(entries_[i], at, pieces) != PushOutcome::kEnded);
      }
    }
  }

  static void ReadOnce(const Peer& reader) {
    reader.Say(1);
    while ((reader.Hear() >> 63) == 0) {
    }
  }

  // One pass of the reader, files dropped a step behind it. The reader's microseconds a file.
  double ReadEpoch(const Peer& reader, Dropped dropped) {
    reader.Say(1);
    size_t done = 0;
    while (true) {
      const uint64_t word = reader.Hear();
      if ((word >> 63) != 0) return PerFile(static_cast<double>(word & ~(uint64_t{1} << 63)) * 1e-9);
      const auto files = std::span(entries_).subspan(done, word - done);
      done = word;
      DropBehind(dropped, files);
    }
  }

  void DropAll(Dropped dropped) {
    if (dropped == Dropped::kByDaemon) {
      DropBehind(dropped, entries_);
    } else {
      DropNow(entries_);
    }
  }

  void DropBehind(Dropped dropped, std::span<const EntryNumber> files) {
    if (dropped == Dropped::kByHelper) helper_->Drop(files, [] {});
    if (dropped == Dropped::kByDaemon) {
      for (const EntryNumber file : files) (void)pusher_->Drop(file);
    }
  }

  const std::string store_path_;
  const std::string point_;
  const std::vector<std::string> names_;

  BufferPool pool_{uint64_t{1} << 30};
  RecordCache cache_{pool_};
  Statistics statistics_;
  std::unique_ptr<LocalPlace> place_;
  std::shared_ptr<const Store> store_;
  std::unique_ptr<MountHelper> helper_;
  std::unique_ptr<ReadEngine> engine_;
  std::unique_ptr<ShardSource> shards_;
  std::unique_ptr<FileSystem> file_system_;
  std::unique_ptr<MountPoint> mount_point_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<PageCachePusher> pusher_;
  std::atomic<uint64_t> opened_ = 0;
  std::vector<EntryNumber> entries_;
  std::vector<std::vector<std::byte>> records_;
};

// Runs the way in a process of its own, so that the next one finds no threads and no memory of this one.
std::optional<Figures> RunApart(const std::string& store, const std::string& point,
                                const std::vector<std::string>& names, const Way& way) {
  std::array<int, 2> ends{};
  AUGUR_CHECK(pipe2(ends.data(), O_CLOEXEC) == 0);
  const pid_t pid = fork();
  AUGUR_CHECK(pid >= 0);
  if (pid == 0) {
    const std::string text = nlohmann::json(Scenario(store, point, names).Run(way)).dump();
    (void)!write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  const UniqueFd in(ends[0]);
  std::string text;
  std::array<char, 4096> piece;
  for (ssize_t bytes = 0; (bytes = read(in.get(), piece.data(), piece.size())) > 0;) text.append(piece.data(), bytes);
  waitpid(pid, nullptr, 0);
  while (umount2(point.c_str(), MNT_DETACH) == 0) {
  }
  if (text.empty()) return std::nullopt;
  return nlohmann::json::parse(text).get<Figures>();
}

nlohmann::json Quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const auto round = [](double value) { return std::round(value * 100) / 100; };
  return {round(values[n / 2]), round(values[n / 4]), round(values[n - 1 - n / 4])};
}

int Main(int argc, char** argv) {
  size_t files = 2000;
  size_t bytes = 110'000;
  size_t rounds = 9;
  CLI::App app("What seeing and dropping costs a reader");
  app.add_option("--files", files)->check(CLI::Range(1, 1'000'000));
  app.add_option("--bytes", bytes)->check(CLI::Range(1, 4 << 20));
  app.add_option("--rounds", rounds)->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  AUGUR_CHECK(StartLog("observe", LogTarget::kStderr).ok());

  std::string folder = (std::filesystem::temp_directory_path() / "augur-observe-XXXXXX").string();
  AUGUR_CHECK(mkdtemp(folder.data()) != nullptr);
  const std::string point = folder + "/mount";
  std::filesystem::create_directory(point);
  std::vector<std::string> names;
  auto writer = StoreWriter::Begin(folder + "/store", {});
  AUGUR_CHECK(writer.ok());
  std::mt19937_64 random(1);
  std::vector<uint64_t> record((bytes + 7) / 8);
  for (size_t i = 0; i < files; ++i) {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "f%07zu", i);
    names.emplace_back(name.data());
    std::generate(record.begin(), record.end(), std::ref(random));
    const auto content = std::as_bytes(std::span(record)).first(bytes);
    AUGUR_CHECK((*writer)->AddFile(names.back(), {.mode = 0644}, {}, content).ok());
  }
  AUGUR_CHECK((*writer)->Commit().ok());

  std::map<std::string, std::map<std::string, std::vector<double>>> all;
  for (size_t round = 0; round < rounds; ++round) {
    for (const Way& way : kWays) {
      const std::optional<Figures> figures = RunApart(folder + "/store", point, names, way);
      if (!figures) continue;
      for (const auto& [key, value] : *figures) all[way.name][key].push_back(value);
    }
  }
  std::filesystem::remove_all(folder);
  nlohmann::json out = {{"files", files}, {"bytes", bytes}, {"rounds", rounds}, {"values", "median, quartiles"}};
  for (const auto& [way, figures] : all) {
    for (const auto& [key, values] : figures) out["ways"][way][key] = Quartiles(values);
  }
  std::printf("%s\n", out.dump(1).c_str());
  return all.size() == kWays.size() ? 0 : 2;
}

}  // namespace
}  // namespace augur

int main(int argc, char** argv) {
  try {
    return augur::Main(argc, argv);
  } catch (const std::exception& error) {
    // Ours throws nothing: this is the library telling us that memory is used up.
    std::fprintf(stderr, "observe: %s\n", error.what());
    return 2;
  }
}
