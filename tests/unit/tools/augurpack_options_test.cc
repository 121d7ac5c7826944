// SPDX-License-Identifier: Apache-2.0
#include "tools/augurpack_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Result<AugurpackOptions> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "augurpack");
  return ParseAugurpack(static_cast<int>(arguments.size()), arguments.data());
}

// The options of the command that the line asks for; fails the test when it asks for another or is wrong.
template <typename Options>
Options ParseAs(const std::vector<const char*>& arguments) {
  const Result<AugurpackOptions> options = Parse(arguments);
  if (!options.ok()) {
    ADD_FAILURE() << options.status().text();
    return {};
  }
  const auto* command = std::get_if<Options>(&options->command);
  if (command == nullptr) {
    ADD_FAILURE() << "another command";
    return {};
  }
  return *command;
}

std::string ErrorOf(const std::vector<const char*>& arguments) {
  const Result<AugurpackOptions> options = Parse(arguments);
  if (options.ok()) return "no error";
  EXPECT_EQ(options.status().code(), Code::kInvalid);
  return options.status().text();
}

TEST(AugurpackOptionsTest, CreateHasItsDefaults) {
  const auto options = ParseAs<CreateOptions>({"create", "src", "store"});
  EXPECT_EQ(options.source, "src");
  EXPECT_EQ(options.store, "store");
  EXPECT_EQ(options.shard_bytes, 1073741824U);
  EXPECT_THAT(options.include, IsEmpty());
  EXPECT_THAT(options.exclude, IsEmpty());
  EXPECT_FALSE(options.resume);
  EXPECT_EQ(options.on_error, OnError::kStop);
  EXPECT_FALSE(options.quiet);
  EXPECT_FALSE(options.json);
  EXPECT_EQ(options.threads, 0U);
  EXPECT_FALSE(options.force);
}

TEST(AugurpackOptionsTest, CreateTakesSeveralSources) {
  const auto options = ParseAs<CreateOptions>({"create", "a", "b", "--names-from=#", "c", "store", "--db=images"});
  EXPECT_EQ(options.source, "a");
  EXPECT_THAT(options.more_sources, ElementsAre("b", "c"));
  EXPECT_EQ(options.store, "store");
  EXPECT_EQ(options.samples.names_from, "#");
  EXPECT_EQ(options.samples.database, "images");
  EXPECT_EQ(options.samples.folders_from, "");
  EXPECT_THAT(ParseAs<AppendOptions>({"append", "a", "b", "store"}).more_sources, ElementsAre("b"));
}

TEST(AugurpackOptionsTest, CreateReadsEveryOption) {
  const auto options = ParseAs<CreateOptions>({"create", "--shard-size=64M", "--include", "*.jpg", "--include", "[a,b]",
                                               "-", "--exclude=.git", "store", "--resume", "--on-error", "skip", "-q",
                                               "--json", "--threads", "7", "--force"});
  EXPECT_EQ(options.source, "-");
  EXPECT_EQ(options.store, "store");
  EXPECT_EQ(options.shard_bytes, uint64_t{64} << 20);
  EXPECT_THAT(options.include, ElementsAre("*.jpg", "[a,b]"));
  EXPECT_THAT(options.exclude, ElementsAre(".git"));
  EXPECT_TRUE(options.resume);
  EXPECT_EQ(options.on_error, OnError::kSkip);
  EXPECT_TRUE(options.quiet);
  EXPECT_TRUE(options.json);
  EXPECT_EQ(options.threads, 7U);
  EXPECT_TRUE(options.force);
}

TEST(AugurpackOptionsTest, ArchivesMayBeTheWholeViewWithIndexes) {
  const auto plain = ParseAs<CreateOptions>({"create", "--decode=tfrecord", "src", "store"});
  EXPECT_FALSE(plain.whole_view);
  EXPECT_FALSE(plain.indexes);
  const auto both =
      ParseAs<CreateOptions>({"create", "--whole-view", "--indexes", "--decode=tfrecord", "src", "store"});
  EXPECT_TRUE(both.whole_view);
  EXPECT_TRUE(both.indexes);
  EXPECT_THAT(ErrorOf({"create", "--whole-view", "src", "store"}), StartsWith("--whole-view: is for archives"));
  EXPECT_THAT(ErrorOf({"create", "--whole-view", "--decode=npy", "src", "store"}),
              HasSubstr("add --decode with one of the kinds from tar to zarr"));
  EXPECT_THAT(ErrorOf({"create", "--indexes", "src", "store"}), HasSubstr("add --decode tfrecord"));
  EXPECT_THAT(ErrorOf({"create", "--indexes", "--decode=tar", "src", "store"}),
              StartsWith("--indexes: is for TFRecord"));
}

TEST(AugurpackOptionsTest, CreateReadsAView) {
  const auto options = ParseAs<CreateOptions>({"create", "--decode", "crop=224+npy+size=256", "src", "store"});
  if (!options.decode) FAIL();
  EXPECT_EQ(CanonicalSpec(*options.decode), "npy+size=256+crop=224");
  EXPECT_FALSE(ParseAs<CreateOptions>({"create", "src", "store"}).decode);
  const std::string error = ErrorOf({"create", "--decode", "npy+sise=3", "src", "store"});
  EXPECT_THAT(error, HasSubstr("--decode: view 'npy+sise=3'"));
  EXPECT_THAT(error, HasSubstr("layout=hwc|chw"));
  EXPECT_THAT(ErrorOf({"append", "--decode", "npy", "src", "store"}), HasSubstr("--decode: no such option"));
  const auto archives = ParseAs<CreateOptions>({"create", "--decode", "tar+shards=2", "src", "folder"});
  if (!archives.decode) FAIL();
  EXPECT_EQ(CanonicalSpec(*archives.decode), "tar+shards=2");
}

TEST(AugurpackOptionsTest, AppendHasReplaceInsteadOfForce) {
  const auto options = ParseAs<AppendOptions>({"append", "--replace", "src", "store"});
  EXPECT_TRUE(options.replace);
  EXPECT_THAT(ErrorOf({"append", "--force", "src", "store"}), HasSubstr("--force: no such option"));
}

TEST(AugurpackOptionsTest, AdoptTakesManyTarsAndThenTheStore) {
  const auto options = ParseAs<AdoptOptions>(
      {"adopt", "a.tar", "b.tar", "--nested", "c.tar", "store", "--on-duplicate=last", "--absolute"});
  EXPECT_THAT(options.files, ElementsAre("a.tar", "b.tar", "c.tar"));
  EXPECT_EQ(options.store, "store");
  EXPECT_TRUE(options.nested);
  EXPECT_TRUE(options.absolute);
  EXPECT_FALSE(options.force);
  EXPECT_EQ(options.on_duplicate, OnDuplicate::kLast);
  EXPECT_EQ(ParseAs<AdoptOptions>({"adopt", "a.tar", "s"}).on_duplicate, OnDuplicate::kRefuse);
  EXPECT_EQ(ParseAs<AdoptOptions>({"adopt", "a.tar", "s", "--on-duplicate", "first"}).on_duplicate,
            OnDuplicate::kFirst);
  EXPECT_EQ(ErrorOf({"adopt", "store"}), "STORE is missing; the form is: augurpack adopt [options] FILE... STORE");
}

TEST(AugurpackOptionsTest, ReadersHaveTheirOptions) {
  EXPECT_EQ(ParseAs<GcOptions>({"gc", "store"}).store, "store");
  EXPECT_TRUE(ParseAs<InfoOptions>({"info", "--json", "store"}).json);
  const auto ls = ParseAs<LsOptions>({"ls", "-lR", "store", "a/b"});
  EXPECT_TRUE(ls.long_format);
  EXPECT_TRUE(ls.recursive);
  EXPECT_EQ(ls.path, "a/b");
  EXPECT_EQ(ParseAs<LsOptions>({"ls", "store"}).path, "");
  const auto verify = ParseAs<VerifyOptions>({"verify", "--quiet", "--json", "--threads=2", "store"});
  EXPECT_TRUE(verify.quiet);
  EXPECT_TRUE(verify.json);
  EXPECT_EQ(verify.threads, 2U);
  const auto extract = ParseAs<ExtractOptions>({"extract", "store", "dest", "a", "b", "--force"});
  EXPECT_EQ(extract.destination, "dest");
  EXPECT_THAT(extract.paths, ElementsAre("a", "b"));
  EXPECT_TRUE(extract.force);
  EXPECT_THAT(ParseAs<ExtractOptions>({"extract", "store", "dest"}).paths, IsEmpty());
}

TEST(AugurpackOptionsTest, ANameThatBeginsWithADashFollowsTwoDashes) {
  EXPECT_EQ(ParseAs<CreateOptions>({"create", "--", "-src", "store"}).source, "-src");
  EXPECT_THAT(ErrorOf({"create", "-src", "store"}), HasSubstr("no such option"));
}

TEST(AugurpackOptionsTest, SizesAreCheckedAgainstTheirLimits) {
  EXPECT_EQ(ErrorOf({"create", "--shard-size", "1K", "a", "b"}),
            "--shard-size: '1K' is too small: 4K to 16T, default 1G");
  EXPECT_EQ(ErrorOf({"create", "--shard-size", "17T", "a", "b"}),
            "--shard-size: '17T' is too large: 4K to 16T, default 1G");
  EXPECT_THAT(ErrorOf({"create", "--shard-size", "1.5G", "a", "b"}), HasSubstr("--shard-size: '1.5G' is not a size"));
  EXPECT_THAT(ErrorOf({"create", "--shard-size", "99999999999T", "a", "b"}), HasSubstr("not a size"));
}

TEST(AugurpackOptionsTest, MissingValuesAreNamed) {
  EXPECT_EQ(ErrorOf({"create", "a", "b", "--shard-size"}), "--shard-size: the value is missing");
  EXPECT_EQ(ErrorOf({"create", "--include=", "a", "b"}), "--include: the value is empty");
  EXPECT_EQ(ErrorOf({"create", "--include", "", "a", "b"}), "--include: the value is empty");
  EXPECT_EQ(ErrorOf({"create", "--quiet=yes", "a", "b"}), "--quiet: takes no value");
}

TEST(AugurpackOptionsTest, UnknownOptionsAndCommandsNameTheNearest) {
  EXPECT_EQ(ErrorOf({"create", "--shard-sise", "1G", "a", "b"}),
            "--shard-sise: no such option; did you mean --shard-size? ('augurpack create --help' lists them)");
  EXPECT_EQ(ErrorOf({"crate"}), "'crate': no such command; did you mean create? ('augurpack --help' lists them)");
  EXPECT_EQ(ErrorOf({"frobnicate"}), "'frobnicate': no such command ('augurpack --help' lists them)");
  EXPECT_EQ(ErrorOf({"info", "-z", "s"}), "-z: no such option ('augurpack info --help' lists them)");
}

TEST(AugurpackOptionsTest, WhatCannotBePrintedIsEchoedInHex) {
  EXPECT_THAT(ErrorOf({"gc", "a", "c\n\x1b[2J"}), HasSubstr(R"('c\x0A\x1B[2J' is one argument too many)"));
}

TEST(AugurpackOptionsTest, HelpComesFromTheProgramAndFromEachCommand) {
  EXPECT_THAT(Parse({"--help"})->print, HasSubstr("Usage: augurpack COMMAND"));
  EXPECT_THAT(Parse({"create", "--help"})->print, HasSubstr("Usage: augurpack create [options] SRC... STORE"));
  EXPECT_THAT(Parse({"--version"})->print, StartsWith("augurpack " AUGUR_VERSION "\n"));
  EXPECT_EQ(Parse({"gc", "--version"})->print, Parse({"--version"})->print);
}

}  // namespace
}  // namespace augur
