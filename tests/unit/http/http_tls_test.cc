// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "http/fetch_now.h"
#include "unit/http/fault_server.h"
#include "unit/http/http_fixture.h"

namespace augur {
namespace {

using testing::HasSubstr;

// A certificate of 127.0.0.1 that signs itself.
class HttpTlsTest : public testing::Test {
 protected:
  HttpTlsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "augur-tls-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout " + Key() +
        " -out " + Certificate() + " -subj /CN=augur -addext subjectAltName=IP:127.0.0.1 2>/dev/null";
    made_ = std::system(command.c_str()) == 0;  // NOLINT(concurrency-mt-unsafe, cert-env33-c)
  }
  ~HttpTlsTest() override { std::filesystem::remove_all(folder_); }
  void SetUp() override { ASSERT_TRUE(made_) << "openssl is needed: apt-get install openssl"; }

  std::string Key() const { return folder_ + "/key.pem"; }
  std::string Certificate() const { return folder_ + "/certificate.pem"; }

  std::string folder_;
  bool made_ = false;
};

TEST_F(HttpTlsTest, TrustsTheServersOfTheBundleOnly) {
  const std::string object = ObjectBytes(300'000);
  FaultServer server([&](const FaultServer::Request& request) { return FaultServer::Range(request, object); },
                     Certificate(), Key());
  HttpRequest request;
  BodyMemory memory(200'000);
  request.url = server.Url("/object");
  request.headers = {{"Range", "bytes=50000-249999"}};
  request.into = memory.span();
  {
    const auto engine = MakeHttpEngine();
    const HttpResponse response = FetchNow(*engine, request);
    EXPECT_EQ(response.status.code(), Code::kPermission);
    EXPECT_THAT(response.status.text(), HasSubstr("not trusted"));
  }
  const auto engine = MakeHttpEngine({.ca_bundle = Certificate()});
  EXPECT_TRUE(FetchNow(*engine, request).connection_was_new);
  EXPECT_EQ(memory.text(), object.substr(50'000, 200'000));
  EXPECT_FALSE(FetchNow(*engine, request).connection_was_new);
  request.new_connection = true;
  EXPECT_TRUE(FetchNow(*engine, request).succeeded());

  // The certificate is of the address, not of the name.
  const std::string url = "https://localhost:" + std::to_string(server.port()) + "/object";
  request.url = url;
  EXPECT_EQ(FetchNow(*engine, request).status.code(), Code::kPermission);
}

TEST_F(HttpTlsTest, APlainServerIsAFailureOfTheConnection) {
  FaultServer server([](const FaultServer::Request&) { return FaultServer::Code(200); });
  const auto engine = MakeHttpEngine({.ca_bundle = Certificate()});
  HttpRequest request;
  request.url = "https://127.0.0.1:" + std::to_string(server.port()) + "/";
  // The server waits for the end of a line that never comes, unless the handshake has one.
  request.stall_max = std::chrono::milliseconds(200);
  const HttpResponse response = FetchNow(*engine, request);
  EXPECT_EQ(response.status.code(), Code::kIo);
  EXPECT_EQ(response.code, 0);
}

}  // namespace
}  // namespace augur
