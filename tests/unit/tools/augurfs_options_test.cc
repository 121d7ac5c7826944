// SPDX-License-Identifier: Apache-2.0
#include "tools/augurfs_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "views/spec_words.h"

namespace augur {
namespace {

using ::testing::HasSubstr;

Result<AugurfsOptions> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "augurfs");
  return ParseAugurfs(static_cast<int>(arguments.size()), arguments.data());
}

std::string ErrorOf(const std::vector<const char*>& arguments) {
  const Result<AugurfsOptions> options = Parse(arguments);
  if (options.ok()) return "no error";
  EXPECT_EQ(options.status().code(), Code::kInvalid);
  return options.status().text();
}

TEST(AugurfsOptionsTest, DefaultsAreThoseOfTheManual) {
  const Result<AugurfsOptions> options = Parse({"store", "mnt"});
  ASSERT_TRUE(options.ok()) << options.status().text();
  EXPECT_EQ(options->print, "");
  EXPECT_EQ(options->store, "store");
  EXPECT_EQ(options->mountpoint, "mnt");
  EXPECT_FALSE(options->foreground);
  EXPECT_EQ(options->memory_bytes, 0U);
  EXPECT_FALSE(options->uid.has_value());
  EXPECT_FALSE(options->gid.has_value());
  EXPECT_EQ(options->umask, 0U);
  EXPECT_FALSE(options->flags.allow_other);
  EXPECT_FALSE(options->flags.noexec);
  EXPECT_EQ(options->observe, Observe::kNone);
  EXPECT_EQ(options->io, EngineKind::kAuto);
  EXPECT_EQ(options->wire.transport, Transport::kAuto);
  EXPECT_EQ(options->log_path, "");
  EXPECT_EQ(options->cache.group, "");
  EXPECT_EQ(options->read_ahead_bytes, 1048576U);
  EXPECT_EQ(options->wire.threads, 0U);
  EXPECT_EQ(options->generation, 0U);
  EXPECT_EQ(options->wire.background_requests_max, 64U);
  EXPECT_FALSE(options->view.has_value());
  EXPECT_EQ(options->decode_threads, 0U);
}

TEST(AugurfsOptionsTest, AViewIsCheckedWhenItIsRead) {
  const Result<AugurfsOptions> options = Parse({"-o", "view=crop=3+npy,decode-threads=5", "store", "mnt"});
  ASSERT_TRUE(options.ok()) << options.status().text();
  EXPECT_EQ(options->view, *ParseViewSpec("npy+crop=3"));
  EXPECT_EQ(options->decode_threads, 5U);
  const std::string error = ErrorOf({"-o", "view=npy+krop=3", "store", "mnt"});
  EXPECT_THAT(error, HasSubstr("-o view 'npy+krop=3': krop=3: not a word"));
  EXPECT_THAT(error, ::testing::Not(HasSubstr("\n"))) << "the cause is not to be scrolled away";
}

TEST(AugurfsOptionsTest, EveryMountOptionIsRead) {
  const Result<AugurfsOptions> options = Parse(
      {"-f", "-o", "memory=2G,uid=0,gid=1000,umask=027,allow_other,noexec", "store", "mnt", "-o",
       "observe=open,io=pread,log=/tmp/a,read-ahead=128K,threads=3,generation=7,max-background=12,transport=dev"});
  ASSERT_TRUE(options.ok()) << options.status().text();
  EXPECT_TRUE(options->foreground);
  EXPECT_EQ(options->memory_bytes, uint64_t{2} * 1024 * 1024 * 1024);
  EXPECT_EQ(options->uid, 0U);
  EXPECT_EQ(options->gid, 1000U);
  EXPECT_EQ(options->umask, 027U);
  EXPECT_TRUE(options->flags.allow_other);
  EXPECT_TRUE(options->flags.noexec);
  EXPECT_EQ(options->observe, Observe::kOpen);
  EXPECT_EQ(options->io, EngineKind::kPread);
  EXPECT_EQ(options->log_path, "/tmp/a");
  EXPECT_EQ(options->read_ahead_bytes, 131072U);
  EXPECT_EQ(options->wire.threads, 3U);
  EXPECT_EQ(options->generation, 7U);
  EXPECT_EQ(options->wire.background_requests_max, 12U);
  EXPECT_EQ(options->wire.transport, Transport::kDev);
}

TEST(AugurfsOptionsTest, ATransportIsOneOfThree) {
  const Result<AugurfsOptions> options = Parse({"-o", "transport=uring", "store", "mnt"});
  ASSERT_TRUE(options.ok()) << options.status().text();
  EXPECT_EQ(options->wire.transport, Transport::kUring);
  EXPECT_THAT(ErrorOf({"-o", "transport=tcp", "store", "mnt"}), HasSubstr("auto, dev"));
}

TEST(AugurfsOptionsTest, AGroupSharesOnlyWhatIsInSharedMemory) {
  const Result<AugurfsOptions> options = Parse({"store", "mnt", "-o", "cache=shm,cache-group=lab"});
  ASSERT_TRUE(options.ok()) << options.status().text();
  EXPECT_EQ(options->cache.group, "lab");
  EXPECT_THAT(ErrorOf({"s", "m", "-o", "cache-group=lab"}), HasSubstr("add cache=shm"));
  EXPECT_THAT(ErrorOf({"s", "m", "-o", "cache=ram,cache-group=lab"}), HasSubstr("add cache=shm"));
}

TEST(AugurfsOptionsTest, OnlySharedMemoryOutlivesAMount) {
  const Result<AugurfsOptions> options = Parse({"store", "mnt", "-o", "cache=shm,cache-outlives"});
  ASSERT_TRUE(options.ok()) << options.status().text();
  EXPECT_TRUE(options->cache.outlives);
  EXPECT_FALSE(Parse({"store", "mnt", "-o", "cache=shm"})->cache.outlives);
  EXPECT_THAT(ErrorOf({"s", "m", "-o", "cache-outlives"}), HasSubstr("add cache=shm"));
}

TEST(AugurfsOptionsTest, TheLastOfTwoValuesHolds) {
  const Result<AugurfsOptions> options = Parse({"store", "mnt", "-o", "threads=3,threads=5"});
  ASSERT_TRUE(options.ok()) << options.status().text();
  EXPECT_EQ(options->wire.threads, 5U);
}

// The command line that mount.fuse3 makes for `mount -t fuse.augurfs`, and words that fstab lines have.
TEST(AugurfsOptionsTest, WhatMountAddsIsAccepted) {
  const Result<AugurfsOptions> options =
      Parse({"store", "mnt", "-o",
             "rw,dev,suid,nodev,nosuid,exec,ro,auto,noauto,user,users,nouser,owner,group,defaults,_netdev,nofail,async,"
             "sync,atime,noatime,relatime,strictatime,nodiratime,lazytime,x-systemd.automount,x-gvfs-hide,"
             "comment=a\\,b,fsname=store,subtype=augurfs,user=me,allow_other"});
  ASSERT_TRUE(options.ok()) << options.status().text();
  EXPECT_TRUE(options->flags.allow_other);
  EXPECT_FALSE(options->flags.noexec);
}

TEST(AugurfsOptionsTest, UnknownMountOptionsAreRefusedWithTheNearest) {
  EXPECT_EQ(ErrorOf({"s", "m", "-o", "memroy=1G"}),
            "-o memroy: no such mount option; did you mean memory? ('augurfs --help' lists them)");
  EXPECT_EQ(ErrorOf({"s", "m", "-o", "xyzzy"}), "-o xyzzy: no such mount option ('augurfs --help' lists them)");
  // Only a prefix that ends the name may be followed by anything.
  EXPECT_THAT(ErrorOf({"s", "m", "-o", "rocket"}), HasSubstr("no such mount option"));
}

TEST(AugurfsOptionsTest, WrongValuesAreEchoedWithWhatIsAccepted) {
  EXPECT_THAT(ErrorOf({"s", "m", "-o", "memory=1X"}), HasSubstr("-o memory: '1X' is not a size"));
  EXPECT_EQ(ErrorOf({"s", "m", "-o", "memory=1M"}), "-o memory: '1M' is too small: 32M to 1024T");
  EXPECT_EQ(ErrorOf({"s", "m", "-o", "memory"}), "-o memory: the value is missing; the form is: -o memory=SIZE");
  EXPECT_EQ(ErrorOf({"s", "m", "-o", "observe=close"}), "-o observe: 'close' is not one of its words: none or open");
  EXPECT_EQ(ErrorOf({"s", "m", "-o", "allow_other=1"}), "-o allow_other: takes no value");
  EXPECT_EQ(ErrorOf({"s", "m", "-o", "umask=8"}), "-o umask: '8' is not an octal number, as in 022");
  EXPECT_EQ(ErrorOf({"s", "m", "-o", "umask=1000"}), "-o umask: '1000' is too large: 000 to 777, default 000");
  // All ones is "no one" to the kernel.
  EXPECT_THAT(ErrorOf({"s", "m", "-o", "uid=4294967295"}), HasSubstr("too large"));
  EXPECT_THAT(ErrorOf({"s", "m", "-o", "uid=-1"}), HasSubstr("'-1' is not a whole number"));
}

TEST(AugurfsOptionsTest, AMountOptionTypedAsALongOneIsExplained) {
  EXPECT_EQ(ErrorOf({"s", "m", "--memory", "1G"}), "--memory: no such option; it is a mount option: -o memory=SIZE");
}

TEST(AugurfsOptionsTest, StoreAndMountpointAreBothNeeded) {
  EXPECT_EQ(ErrorOf({"s"}), "MOUNTPOINT is missing; the form is: augurfs [options] STORE MOUNTPOINT");
  EXPECT_EQ(ErrorOf({"s", "m", "x"}), "'x' is one argument too many; the form is: augurfs [options] STORE MOUNTPOINT");
  EXPECT_THAT(ErrorOf({}), HasSubstr("augurfs [options] STORE MOUNTPOINT"));
}

TEST(AugurfsOptionsTest, HelpNeedsNothingElse) {
  const Result<AugurfsOptions> options = Parse({"--help"});
  ASSERT_TRUE(options.ok());
  EXPECT_THAT(options->print, HasSubstr("Usage: augurfs [options] STORE MOUNTPOINT"));
}

}  // namespace
}  // namespace augur
