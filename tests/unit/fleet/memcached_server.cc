// SPDX-License-Identifier: Apache-2.0
#include "unit/fleet/memcached_server.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <utility>

#include "unit/store/test_store.h"

namespace augur::testing {
namespace {

constexpr std::chrono::seconds kPatience(60);

void Fail(const std::string& what) { throw std::runtime_error("memcached: " + what); }

}  // namespace

MemcachedServer::MemcachedServer(std::vector<std::string> words) : words_(std::move(words)) { Start(); }

MemcachedServer::~MemcachedServer() { Kill(); }

// The server writes the port that it has chosen into a file, once it listens.
void MemcachedServer::Start() {
  const TempFolder folder;
  const std::string file = folder.path() + "/port";
  std::vector<std::string> words = {
      "env", "MEMCACHED_PORT_FILENAME=" + file,        "memcached", "-l", "127.0.0.1", "-U", "0", "-t", "1",
      "-p",  port_ == 0 ? "-1" : std::to_string(port_)};
  if (geteuid() == 0) words.insert(words.end(), {"-u", "root"});
  words.insert(words.end(), words_.begin(), words_.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t test = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    // Also when the test is killed.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != test) _exit(1);
    execvp("env", arguments.data());
    _exit(127);
  }
  if (pid_ < 0) Fail("no process");
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  while (text.find('\n') == std::string::npos) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) {
      pid_ = -1;
      Fail("it does not start; is it installed (packaging/deps.sh test)?");
    }
    if (std::chrono::steady_clock::now() > end) Fail("it does not listen");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (access(file.c_str(), R_OK) == 0) text = ReadFile(file);
  }
  port_ = static_cast<uint16_t>(std::stoi(text.substr(text.rfind(' '))));
}

void MemcachedServer::Stop() {
  kill(pid_, SIGSTOP);
  // The signal is on its way until the kernel says so.
  int status = 0;
  waitpid(pid_, &status, WUNTRACED);
}

void MemcachedServer::Continue() { kill(pid_, SIGCONT); }

void MemcachedServer::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void MemcachedServer::StartAgain() { Start(); }

}  // namespace augur::testing
