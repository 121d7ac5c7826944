// SPDX-License-Identifier: Apache-2.0
#include "s3/credential_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <thread>

#include "base/unique_fd.h"
#include "unit/s3/aws_home.h"

namespace augur {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// What Python's shlex.split gives.
TEST(ShellWords, FollowShlex) {
  const auto words = [](const std::string& line) {
    const Result<std::vector<std::string>> split = ShellWords(line);
    EXPECT_TRUE(split.ok()) << line;
    return split.ok() ? *split : std::vector<std::string>();
  };
  EXPECT_THAT(words("/opt/bin/get --role  'a b' \"c \\\"d\\\" \\e\" f\\ g ''"),
              ElementsAre("/opt/bin/get", "--role", "a b", "c \"d\" \\e", "f g", ""));
  EXPECT_THAT(words("a'b'\"c\"d"), ElementsAre("abcd"));
  EXPECT_THAT(words(" \t "), ElementsAre());
  EXPECT_FALSE(ShellWords("'a").ok());
  EXPECT_FALSE(ShellWords("a\\").ok());
}

class CredentialProcessTest : public testing::Test {
 protected:
  // Runs a script of the shell with this body.
  Result<Credentials> Run(const std::string& body, std::chrono::milliseconds time_max = kCredentialProcessTimeMax) {
    const std::string script = home_.Write("get credentials", "#!/bin/sh\n" + body + "\n", 0700);
    home_.Set("TOKEN", "from-env");
    return RunCredentialProcess("'" + script + "' \"one two\"", home_.environment(), "the script", time_max);
  }
  std::string Error(const std::string& body) {
    const Result<Credentials> credentials = Run(body);
    EXPECT_FALSE(credentials.ok()) << body;
    return credentials.status().text();
  }

  AwsHome home_;
};

TEST_F(CredentialProcessTest, GivesWhatTheProgramWrites) {
  const Result<Credentials> credentials = Run(R"(echo "noise" >&2; read line && exit 3
printf '{"Version": 1, "AccessKeyId": "%s", "SecretAccessKey": "s", "SessionToken": "%s",' "$1" "$TOKEN"
printf '"Expiration": "2026-11-25T12:00:00Z"}')");
  ASSERT_TRUE(credentials.ok()) << credentials.status().text();
  EXPECT_EQ(credentials->access_key_id, "one two");
  EXPECT_EQ(credentials->secret_access_key, "s");
  EXPECT_EQ(credentials->session_token, "from-env");
  EXPECT_EQ(IsoTime(credentials->expiration.value_or(UtcTime())), "2026-11-25T12:00:00Z");
  EXPECT_EQ(credentials->source, "the script");
}

TEST_F(CredentialProcessTest, MayLeaveOutTokenAndExpiration) {
  const Result<Credentials> credentials = Run(R"(echo '{"Version":1,"AccessKeyId":"k","SecretAccessKey":"s"}')");
  ASSERT_TRUE(credentials.ok()) << credentials.status().text();
  EXPECT_EQ(credentials->session_token, "");
  EXPECT_FALSE(credentials->expiration.has_value());
}

TEST_F(CredentialProcessTest, TellsWhatTheProgramSaysOfItsFailure) {
  EXPECT_THAT(Error("echo s3cret; echo 'session over,' >&2; echo 'log in' >&2; exit 7"),
              HasSubstr("it ended with status 7: session over, log in"));
  EXPECT_THAT(Error("echo s3cret; exit 7"), Not(HasSubstr("s3cret")));
  EXPECT_THAT(Error("kill -9 $$"), HasSubstr("a signal ended it"));
}

TEST_F(CredentialProcessTest, RefusesAnotherAnswerWithoutRepeatingIt) {
  EXPECT_THAT(Error("echo s3cret"), HasSubstr("no object of JSON"));
  EXPECT_THAT(Error("echo s3cret"), Not(HasSubstr("s3cret")));
  EXPECT_THAT(Error(R"(echo '{"Version":2,"AccessKeyId":"k","SecretAccessKey":"s"}')"), HasSubstr("\"Version\": 1"));
  EXPECT_THAT(Error(R"(echo '{"Version":1,"AccessKeyId":"k"}')"), HasSubstr("no SecretAccessKey"));
  EXPECT_THAT(Error(R"(echo '{"Version":1,"AccessKeyId":1,"SecretAccessKey":"s"}')"), HasSubstr("is no text"));
  EXPECT_THAT(Error(R"(echo '{"Version":1,"AccessKeyId":"k","SecretAccessKey":"s","Expiration":"soon"}')"),
              HasSubstr("Expiration: 'soon'"));
}

TEST_F(CredentialProcessTest, NamesTheProgramThatIsNotThere) {
  const Result<Credentials> credentials = RunCredentialProcess("/nowhere/get x", home_.environment(), "");
  ASSERT_FALSE(credentials.ok());
  EXPECT_THAT(credentials.status().text(), HasSubstr("/nowhere/get: No such file"));
  EXPECT_FALSE(RunCredentialProcess("", home_.environment(), "").ok());
}

// A child of the program, which holds its output open, ends too: the last reader of the pipe is gone then.
TEST_F(CredentialProcessTest, KillsAProgramThatDoesNotEnd) {
  const std::string fifo = home_.path() + "/held";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const Result<Credentials> credentials =
      Run("sleep 1000 3<>'" + fifo + "' & sleep 1000", std::chrono::milliseconds(500));
  ASSERT_FALSE(credentials.ok());
  EXPECT_EQ(credentials.status().code(), Code::kIo);
  EXPECT_THAT(credentials.status().text(), HasSubstr("it has not ended in 500 ms"));
  while (true) {
    const UniqueFd writer(open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (!writer.valid()) break;
    std::this_thread::yield();
  }
  EXPECT_EQ(errno, ENXIO);
}

TEST_F(CredentialProcessTest, ReadsMuchOutputWithoutHanging) {
  EXPECT_THAT(Error("head -c 1000000 /dev/zero | tr '\\0' x; head -c 1000000 /dev/zero >&2"), HasSubstr("JSON"));
}

}  // namespace
}  // namespace augur
