// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "augur/status.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "control/control_socket.h"
#include "control/frame.h"

namespace augur {

// What a handler gives back: a header, and a body that may be empty.
struct ControlReply {
  nlohmann::json header = nlohmann::json::object();
  std::string body;
};

// Gives the body of a request piece by piece: true and a piece that is not empty, or false at the end.
using ControlBody = std::function<Result<bool>(std::string& piece)>;
// Called on a thread of the server, several at a time. It need not read the whole body.
using ControlHandler = std::function<Result<ControlReply>(const nlohmann::json& request, const ControlBody& body)>;

// ControlServer answers the operator's requests on a socket, on threads of its own that nothing of the mount waits for.
// One accepts, and there is one for each connection, at most kConnectionsMax. A client that hangs costs one of them.
// When all are taken and another comes, the one that has been silent longest is cut off if it was silent for
// `silence_max`. Else the new one is told that the daemon is busy. Only root and the user of the daemon are answered.
// Methods are for one thread. Owns the socket, and removes its file at the end.
class ControlServer {
 public:
  static constexpr size_t kConnectionsMax = 8;
  // An operator at a terminal may take longer, and is cut off only when others want the place.
  static constexpr std::chrono::seconds kSilenceMax{10};

  // Starts. `handlers` by command. Failure: the system gives no thread.
  static Result<std::unique_ptr<ControlServer>> Start(ControlSocket socket,
                                                      std::map<std::string, ControlHandler, std::less<>> handlers,
                                                      std::chrono::milliseconds silence_max = kSilenceMax);
  // Cuts off every connection and waits until the handlers that run have returned.
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  const std::string& path() const { return socket_.path(); }

 private:
  struct Connection;
  ControlServer(ControlSocket socket, UniqueFd stop, std::map<std::string, ControlHandler, std::less<>> handlers,
                std::chrono::milliseconds silence_max);
  void Accept();
  void Take(UniqueFd fd);
  // A slot without a connection, made free if need be; nullptr: none can be.
  std::unique_ptr<Connection>* FreeSlot();
  void Serve(Connection& connection);
  Result<ControlReply> Answer(Connection& connection, FrameSocket& frames);

  // Constant after construction.
  const ControlSocket socket_;
  const UniqueFd stop_;  // readable: end
  const std::map<std::string, ControlHandler, std::less<>> handlers_;
  const std::chrono::milliseconds silence_max_;

  Mutex mu_;
  std::array<std::unique_ptr<Connection>, kConnectionsMax> connections_ AUGUR_GUARDED_BY(mu_);

  std::thread accepting_;  // the only one that makes connections
};

}  // namespace augur
