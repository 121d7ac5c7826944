// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "fs/file_system.h"
#include "fs/lasting_numbers.h"
#include "fs/node_numbers.h"
#include "fs/tree_changes.h"
#include "fuse/lasting_state.h"
#include "io/read_engine.h"
#include "store/store_files.h"

namespace augur {

// MountedGenerations are the generation of the store that a mount shows, and those before it of which files may still
// be open. Each has the numbers that its entries have at the kernel. A daemon that goes on with a mount finds in
// LastingNumbers what the one before showed. It may show another generation instead: that is a reload.
//
// For one thread. A generation is locked against 'augurpack gc' as long as this has it. One that is gone all the same,
// by a gc on another machine, costs its open files an EIO.
class MountedGenerations {
 public:
  enum class Start {
    kFirst,   // no daemon has served the mount: it shows the generation of the options
    kGoesOn,  // it shows what it did
    kNext,    // it shows the generation of the options, if there is one in them
  };

  // `place` outlives this; `held` too, and is nullptr where nothing is written down. `device` is that of /dev/fuse, to
  // ask the kernel which nodes it knows. kChanged: the store has another index under the generation that was shown.
  // kNoSpace: a reload is not possible, because the generations differ too much, or files of too many are open. Else as
  // Store::Open.
  static Result<std::unique_ptr<MountedGenerations>> Open(std::unique_ptr<StorePlace> place,
                                                          const StoreOptions& options, LastingState* held, Start start,
                                                          int device);
  MountedGenerations(const MountedGenerations&) = delete;
  MountedGenerations& operator=(const MountedGenerations&) = delete;

  const StorePlace& place() const { return *place_; }
  const std::shared_ptr<const Store>& shown() const { return shown_; }
  const NodeNumbers& numbers() const { return numbers_; }
  // How many generations the mount has shown before this one.
  uint64_t sequence() const { return sequence_; }
  // Another daemon has served the mount.
  bool goes_on() const { return start_ != Start::kFirst; }
  // Whether this daemon shows another generation than the one before it.
  bool is_reload() const { return next_.has_value(); }

  // The newest one that the store has. Waits; failures as StorePlace::Open, with the store's name. Any thread.
  Result<uint64_t> Newest() const;

  // Writes down the shown generation, with the earlier ones, for the next daemon. From now on the mount shows it.
  void WriteDown();

  // Makes the sources of the earlier ones' shards. Called once, before earlier().
  using MakeShards = std::function<std::unique_ptr<ShardSource>(const std::shared_ptr<const Store>& store)>;
  void OpenShards(const MakeShards& make);
  // As FileSystemOptions has them.
  std::vector<EarlierGeneration> earlier() const;
  // Waits for the reads of their shards.
  void Drain();

  // The generations of which the kernel may have names, from the one before on, and what has changed since that one if
  // it is known. Those from one on that is gone are left out.
  struct OldNames {
    std::vector<std::shared_ptr<const Store>> generations;
    std::optional<std::vector<FolderPair>> folders;
  };
  OldNames TakeOldNames() { return std::exchange(old_names_, {}); }
  // The kernel has none any more. Any thread.
  void NamesAreNew() { held_->numbers.NamesAreNew(); }

 private:
  struct Earlier {
    LastingNumbers::Generation generation;
    std::shared_ptr<const Store> store;  // nullptr: it is gone
    std::unique_ptr<ShardSource> shards;
  };
  // What a reload will write down.
  struct Next {
    uint64_t next_number;
    std::vector<NumberRun> runs;
    uint64_t old_names;
  };

  MountedGenerations(std::unique_ptr<StorePlace> place, const StoreOptions& options, LastingState* held, Start start)
      : place_(std::move(place)), options_(options), held_(held), start_(start) {}
  Status OpenFirst();
  Status OpenShown(const LastingNumbers::Set& set);
  Status OpenNext(const LastingNumbers::Set& set, int device);
  Result<std::shared_ptr<const Store>> OpenAgain(const LastingNumbers::Generation& generation) const;
  void OpenEarlier(const LastingNumbers::Generation& generation);
  void NoteOldNames(uint64_t generations, std::optional<std::vector<FolderPair>> folders);

  const std::unique_ptr<StorePlace> place_;
  StoreOptions options_;
  LastingState* const held_;
  const Start start_;
  std::shared_ptr<const Store> shown_;
  std::vector<Earlier> earlier_;  // from the newest to the oldest
  NodeNumbers numbers_;
  uint64_t sequence_ = 0;
  std::optional<Next> next_;
  OldNames old_names_;
};

}  // namespace augur
