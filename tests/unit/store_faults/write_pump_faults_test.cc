// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/unique_fd.h"
#include "store/write_pump.h"
#include "unit/store_writer/fixture.h"
#include "unit/system_faults.h"

namespace augur {
namespace {

class WritePumpFaultsTest : public StoreWriterTest {
 protected:
  // Writes 70 MiB and more through the page cache: the pump waits for what is 64 MiB back.
  Status WriteMuch() const {
    const std::string path = folder_ + "/file";
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    auto pump = WritePump::Start();
    if (!pump.ok()) return pump.status();
    uint64_t number = 0;
    for (uint64_t offset = 0; offset < (72U << 20); offset += WritePump::kBufferBytes) {
      const auto buffer = (*pump)->Take();
      if (!buffer.ok()) return buffer.status();
      std::memset(*buffer, 1, WritePump::kBufferBytes);
      number = (*pump)->Submit(*buffer, WritePump::kBufferBytes, {-1, fd.get(), path}, offset);
    }
    return (*pump)->WaitUntil(number);
  }
};

// The kernel tells of it once: fdatasync would be silent.
TEST_F(WritePumpFaultsTest, AWriteThatFailedIsToldWhateverItsErrno) {
  const SystemFaults faults([](const SystemCall& call) {
    return call.name == "sync_file_range" && call.flags == SYNC_FILE_RANGE_WAIT_BEFORE ? ESTALE : 0;
  });
  EXPECT_THAT(WriteMuch().text(), testing::HasSubstr("Stale file handle"));
}

// The pump may have asked the descriptor that is written through, and been told, before the sync does.
TEST_F(WritePumpFaultsTest, AShardIsSyncedByADescriptorThatWritesNothing) {
  int synced = 0;
  const SystemFaults faults([&synced](const SystemCall& call) {
    if (call.name != "fdatasync" || !NameOf(call.fd).starts_with("shard-")) return 0;
    ++synced;
    return (::fcntl(call.fd, F_GETFL) & O_ACCMODE) == O_RDONLY ? 0 : EIO;
  });
  Create({{"a", "one"}});
  EXPECT_GE(synced, 2) << "for the frame, and at the end";
}

TEST_F(WritePumpFaultsTest, ACallThatIsNotKnownIsNoFailure) {
  for (const int error : {ENOSYS, EPERM, EINVAL}) {
    const SystemFaults faults([error](const SystemCall& call) { return call.name == "sync_file_range" ? error : 0; });
    const Status written = WriteMuch();
    EXPECT_TRUE(written.ok()) << written.text();
  }
}

}  // namespace
}  // namespace augur
