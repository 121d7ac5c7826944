// SPDX-License-Identifier: Apache-2.0
// augurfs STORE MOUNTPOINT: the program of the daemon that serves a mount. From the parsed options on it is a Daemon.
#include <sys/prctl.h>

#include <memory>
#include <optional>
#include <utility>

#include "fuse/holder_link.h"
#include "fuse/mount_point.h"
#include "fuse/program_start.h"
#include "tools/augurfs_options.h"
#include "tools/background.h"
#include "tools/daemon.h"
#include "tools/heap.h"
#include "tools/option_paths.h"
#include "tools/output.h"

namespace augur {
namespace {

Status Main(int argc, char** argv) {
  KeepHeapSmall();
  IgnoreBrokenPipe();
  // What another program than this one has inherited from the process augur-holder.
  AUGUR_TRY_ASSIGN(inherited, ReadInheritedWord(argc > 1 ? argv[1] : ""));
  if (inherited) argv[1] = std::exchange(argv[0], nullptr);
  const int skipped = inherited ? 1 : 0;
  AUGUR_TRY_ASSIGN(options, ParseAugurfs(argc - skipped, argv + skipped));
  if (!options.print.empty()) return WriteOut(options.print);
  AUGUR_TRY(ResolvePaths(options));
  std::unique_ptr<HolderLink> link;
  std::optional<Background> background;
  if (inherited) {
    (void)prctl(PR_SET_NAME, kAugurfs);  // a kernel before 6.14 has the number of its file there
    AUGUR_TRY_ASSIGN(linked, LinkOf(*inherited));
    link = std::make_unique<HolderLink>(std::move(linked));
    if (!options.foreground) background.emplace();  // the caller is gone
  } else if (!options.foreground) {
    AUGUR_TRY_ASSIGN(forked, Background::Fork(MountPoint::HandedDownFd(options.mountpoint)));
    background = std::move(forked);
  }
  // Memory that we allocate while a reader waits for us must not be got by writing to or shrinking our own mount. Only
  // with CAP_SYS_RESOURCE; without it nothing is lost but that.
  (void)prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
  Daemon daemon(options, std::move(background), std::move(link));
  return daemon.Run();
}

}  // namespace
}  // namespace augur

int main(int argc, char** argv) {
  const augur::Status status = augur::Main(argc, argv);
  if (status.ok()) return augur::kExitDone;
  return augur::Fail(augur::kAugurfs, status);
}
