// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "fuse/helper_message.h"
#include "prefetch/mount_view.h"
#include "store/store_files.h"

namespace augur {

// MountHelper is the MountView of a real mount: a small process of ours (RunHelperProcess, named augur-helper), forked
// before the daemon has threads. It holds no descriptor of /dev/fuse: when the daemon dies the mount dies, and whatever
// the helper waits for there ends. The helper ends with the daemon however that ends, and with this object. Methods as
// MountView says; AttachTo, End and the destructor are for the thread that made it. Owns the process and one thread, on
// which `done` and `opened` are called.
//
// Batches that find the socket full wait, without a maximum: the prefetch asks for each file once at a time.
//
// The helper looks in by a clone of the mount, so that a plain umount never finds it in the way. It lets the clone go
// once the mount is gone from its folder. Without a clone it has the mount in use while it works on a batch: a plain
// umount then finds it busy, as it would with any reader.
class MountHelper final : public MountView {
 public:
  // Forks. The helper opens this generation of the store for itself. REQUIRES: this process has one thread, which lives
  // as long as the daemon (the helper ends when the thread that forked it does). The store's path does not depend on
  // the working folder. kIo: the system gives no process.
  static Result<std::unique_ptr<MountHelper>> Fork(const StorePlace& place, uint64_t generation);
  // Ends the helper. Calls of `done` still outstanding are made; none after it has returned.
  ~MountHelper() override;
  MountHelper(const MountHelper&) = delete;
  MountHelper& operator=(const MountHelper&) = delete;

  // Tells the helper where the mount is and starts the thread. `path` and `device_number` are MountPoint's, `clone` is
  // Broker's or invalid; where the device number is empty the mount cannot be seen, which is logged. Does not wait:
  // usable() turns true once the helper has found the mount there, and calls made meanwhile are done then. REQUIRES:
  // called once, and the mount is served. kNoSpace: the system gives no thread.
  Status AttachTo(const std::string& path, const std::string& device_number, UniqueFd clone, Opened opened);

  // Ends the process and waits until it is gone, but 2 s at most: it may hang in the mount. From then on as when it has
  // died, but without a word in the log. Once is enough; the destructor does it, too.
  void End();

  // Opens are not to be told: an overlay over the mount hides them from inotify(7). REQUIRES: before AttachTo.
  void LeaveOpens() { watching_.store(false, std::memory_order_release); }

  // As in MountView. Turns false for good when the mount is unmounted; with one line in the log, when the helper has
  // died, or finds something else at the mount point.
  bool usable() const override { return usable_.load(std::memory_order_acquire); }
  void SelectView(uint32_t view, const std::string& spec, bool is_root) override;
  // A file that cannot be statted or opened is passed over.
  void Stat(std::span<const EntryNumber> files, Done done) override;
  void Drop(std::span<const EntryNumber> files, Done done) override;
  void Watch(std::span<const EntryNumber> folders) override;
  void Unwatch() override;
  // False once a folder could not be watched (the user's limit of inotify watches is reached, which is logged with the
  // cure): opens there are not told. Stat and Drop go on.
  bool watching() const override { return watching_.load(std::memory_order_acquire); }

  pid_t pid() const { return pid_; }

 private:
  MountHelper(pid_t pid, UniqueFd process, UniqueFd socket, UniqueFd wake);

  using Packet = std::vector<std::byte>;
  // Sends a batch, in as many packets as it takes; `done` is empty where no answer comes.
  void Ask(HelperVerb verb, std::span<const EntryNumber> entries, Done done);
  // Sends now what the socket takes, and leaves the rest to the thread.
  void Send(Packet packet) AUGUR_REQUIRES(mu_);
  void SendQueued() AUGUR_REQUIRES(mu_);
  void Wake();

  // The thread.
  void Run();
  // One packet, if there is one. False: the helper has ended.
  bool Receive();
  void Understand(const HelperHeader& header, std::span<const std::byte> body);
  void HelperEnded();
  void MakeRefusedCalls();

  // Constant after construction.
  const pid_t pid_;
  const UniqueFd process_;  // a pidfd
  const UniqueFd socket_;
  const UniqueFd wake_;

  // Constant after AttachTo.
  Opened opened_;
  std::string path_;
  std::thread thread_;

  // Used by the thread only.
  bool unmounted_ = false;  // the helper has ended because of that
  std::string lost_reason_;

  // Own synchronization.
  std::atomic<bool> usable_ = false;
  std::atomic<bool> watching_ = true;

  // Guarded by mu_, which is not held while `done` or `opened` runs:
  Mutex mu_;
  bool asking_ AUGUR_GUARDED_BY(mu_) = false;    // attached, and the helper has not ended
  bool ending_ AUGUR_GUARDED_BY(mu_) = false;    // the process is meant to end
  bool stopping_ AUGUR_GUARDED_BY(mu_) = false;  // and the thread
  Packet selected_view_ AUGUR_GUARDED_BY(mu_);   // the last SelectView, for when it is attached
  // The socket was full: one for each packet that the helper has not taken.
  std::deque<Packet> queued_ AUGUR_GUARDED_BY(mu_);
  // One for each packet of Stat and Drop that the helper has still to answer, in the order in which it will.
  std::deque<Done> asked_ AUGUR_GUARDED_BY(mu_);
  // One for each Stat and Drop to be called without an answer.
  std::deque<Done> refused_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
