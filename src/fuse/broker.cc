// SPDX-License-Identifier: Apache-2.0
#include "fuse/broker.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "fuse/broker_process.h"
#include "fuse/passed_fds.h"

namespace augur {

struct Broker::Answer {
  BrokerReply reply;
  std::string text;
  std::vector<UniqueFd> fds;
};

Result<std::unique_ptr<Broker>> Broker::Fork(MountPoint& point, const BrokerOptions& options) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return ErrnoStatus(errno, "socketpair");
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t daemon = getpid();
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, "fork");
  if (pid == 0) RunBrokerProcess(std::move(theirs), point, options, daemon);
  return std::unique_ptr<Broker>(new Broker(pid, std::move(ours)));
}

Broker::~Broker() {
  const MutexLock lock(mu_);
  socket_.Reset();
  // It ends at once, unless it hangs in umount(2): then it is init's to collect.
  (void)waitpid(pid_, nullptr, WNOHANG);
}

Result<Broker::Answer> Broker::Ask(const BrokerRequest& request) {
  const MutexLock lock(mu_);
  Answer answer;
  std::array<std::byte, kBrokerPacketBytesMax> packet;
  ssize_t bytes = 0;
  if (SendWithFds(socket_.get(), std::as_bytes(std::span(&request, 1)), {})) {
    bytes = ReceiveWithFds(socket_.get(), packet, answer.fds);
  }
  if (bytes < static_cast<ssize_t>(sizeof answer.reply)) {
    return Status(Code::kStopped,
                  "the process augur-broker, which mounts and unmounts, is gone: unmount by hand "
                  "(umount as root, else fusermount3 -u)");
  }
  std::memcpy(&answer.reply, packet.data(), sizeof answer.reply);
  answer.text.assign(reinterpret_cast<const char*>(packet.data()) + sizeof answer.reply,
                     static_cast<size_t>(bytes) - sizeof answer.reply);
  if (answer.reply.code != 0) return Status(static_cast<Code>(answer.reply.code), answer.text);
  return answer;
}

Result<Broker::Mounted> Broker::Mount() {
  AUGUR_TRY_ASSIGN(answer, Ask({.verb = BrokerVerb::kMount}));
  Mounted mounted;
  std::span<UniqueFd> fds = answer.fds;
  if (answer.reply.device_sent != 0) {
    if (fds.empty()) return Status(Code::kIo, "augur-broker sent no descriptor of /dev/fuse");
    mounted.device = std::move(fds[0]);
    fds = fds.subspan(1);
  }
  if (!fds.empty()) mounted.clone = std::move(fds[0]);
  answer.reply.device_number.back() = '\0';
  mounted.device_number = answer.reply.device_number.data();
  mounted.note = std::move(answer.text);
  return mounted;
}

Status Broker::SetReadAhead(uint64_t bytes) { return Ask({.verb = BrokerVerb::kReadAhead, .bytes = bytes}).status(); }

Result<bool> Broker::Unmount() {
  AUGUR_TRY_ASSIGN(answer, Ask({.verb = BrokerVerb::kUnmount}));
  return answer.reply.in_use != 0;
}

Status Broker::Watch(pid_t thread) {
  return Ask({.verb = BrokerVerb::kWatch, .pid = static_cast<uint32_t>(thread)}).status();
}

Status Broker::AbortInTheEnd() { return Ask({.verb = BrokerVerb::kAbortInTheEnd}).status(); }

LaunchFacts Broker::Launch(uint32_t pid) {
  const Result<Answer> answer = Ask({.verb = BrokerVerb::kLaunch, .pid = pid});
  if (!answer.ok()) return {};
  return {.launch = answer->reply.launch, .rank = answer->reply.rank, .world_size = answer->reply.world_size};
}

}  // namespace augur
