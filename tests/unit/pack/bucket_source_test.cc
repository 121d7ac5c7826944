// SPDX-License-Identifier: Apache-2.0
#include "pack/bucket_source.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "pack/walk.h"
#include "s3/uri_encoding.h"
#include "unit/http/fault_server.h"
#include "unit/pack/scratch.h"

namespace augur {
namespace {

// A bucket of objects under any keys, which real servers of the tests do not take. Pages of a list have two keys.
class Bucket {
 public:
  using Objects = std::map<std::string, std::string>;
  explicit Bucket(Objects objects)
      : objects_(std::move(objects)),
        server_([this](const FaultServer::Request& request) { return Answer(request); }) {}

  Result<std::unique_ptr<BucketSource>> Open(const std::string& folder) const {
    Result<ObjectUrl> url = ObjectUrl::Parse("s3://bucket/" + folder);
    EXPECT_TRUE(url.ok());
    ObjectClientOptions options;
    options.s3.endpoint_url = server_.Url("");
    options.s3.region = "us-east-1";
    options.s3.no_sign_request = true;
    return BucketSource::Open(std::make_shared<ObjectClient>(*std::move(url), options), [] { return false; });
  }
  std::string etag = "\"1\"";

 private:
  // The value of a parameter of the query.
  static std::string Parameter(const std::string& target, const std::string& name) {
    const size_t at = target.find(name + "=");
    if (at == std::string::npos) return {};
    const size_t begin = at + name.size() + 1;
    return FormDecode(target.substr(begin, target.find('&', begin) - begin)).value_or("");
  }

  FaultServer::Answer Answer(const FaultServer::Request& request) {
    if (request.target.find("list-type=2") != std::string::npos) return List(request.target);
    const std::string key = FormDecode(request.target.substr(std::string("/bucket/").size())).value_or("");
    const auto match = request.headers.find("if-match");
    if (match == request.headers.end() || match->second != etag) return FaultServer::Code(412);
    FaultServer::Answer answer = FaultServer::Range(request, objects_.at(key));
    answer.headers += "ETag: " + etag + "\r\n";
    return answer;
  }

  FaultServer::Answer List(const std::string& target) {
    const std::string prefix = Parameter(target, "prefix");
    const std::string after = Parameter(target, "continuation-token");
    std::string text;
    std::string last;
    int count = 0;
    bool truncated = false;
    for (const auto& [key, bytes] : objects_) {
      if (!key.starts_with(prefix) || key <= after) continue;
      const size_t slash = key.find('/', prefix.size());
      const std::string folder = slash == std::string::npos ? "" : key.substr(0, slash + 1);
      // Of a folder that was told all keys are behind us.
      if (!folder.empty() && (after.starts_with(folder) || last.starts_with(folder))) {
        last = key;
        continue;
      }
      truncated = ++count > 2;
      if (truncated) break;
      last = key;
      const std::string shown = UriEncode(folder.empty() ? key : folder, Slashes::kEncode);
      text += folder.empty() ? "<Contents><Key>" + shown + "</Key><Size>" + std::to_string(bytes.size()) +
                                   "</Size><ETag>&quot;1&quot;</ETag><LastModified>2020-01-02T03:04:05.000Z"
                                   "</LastModified></Contents>"
                             : "<CommonPrefixes><Prefix>" + shown + "</Prefix></CommonPrefixes>";
    }
    text += truncated ? "<IsTruncated>true</IsTruncated><NextContinuationToken>" + UriEncode(last, Slashes::kKeep) +
                            "</NextContinuationToken>"
                      : "<IsTruncated>false</IsTruncated>";
    return FaultServer::Code(200, "<ListBucketResult><EncodingType>url</EncodingType>" + text + "</ListBucketResult>");
  }

  const std::map<std::string, std::string> objects_;
  FaultServer server_;
};

// "d path", "f path size", "2 path", "S path", "! problem".
std::vector<std::string> WalkAll(const TreeSource& source, const PathFilter& filter = {}) {
  const Scratch scratch;
  auto walk = Walk::Start(source, filter, {.threads = 3, .scratch_folder = scratch.path()});
  EXPECT_TRUE(walk.ok());
  std::vector<std::string> all;
  for (;;) {
    Found found;
    const Result<Walk::Step> step = (*walk)->Next(true, &found);
    if (!step.ok()) all.push_back("failed: " + step.status().text());
    if (!step.ok() || *step == Walk::Step::kEnd) return all;
    switch (found.kind) {
      case FoundKind::kFolder: all.push_back("d " + found.path); break;
      case FoundKind::kFile: all.push_back("f " + found.path + " " + std::to_string(found.size)); break;
      case FoundKind::kTwice: all.push_back("2 " + found.path); break;
      case FoundKind::kStore: all.push_back("S " + found.path); break;
      case FoundKind::kProblem: all.push_back("! " + found.problem.text()); break;
      default: ADD_FAILURE();
    }
  }
}

TEST(BucketSource, IsWalkedInPathOrder) {
  const Bucket bucket(Bucket::Objects{{"p/b/x", "12"},
                                      {"p/b/y/z", "3"},
                                      {"p/b-/y", "123"},  // before "p/b/" as bytes, and yet behind it as a path
                                      {"p/a", "1"},
                                      {"p/marked/", ""},
                                      {"p/store/manifest", "1"},
                                      {"p/\n+ %", ""},
                                      {"q", "1"}});
  const auto source = bucket.Open("p/");
  ASSERT_TRUE(source.ok()) << source.status().text();
  const Result<ObjectUrl> store = ObjectUrl::Parse("s3://bucket/p/store");
  ASSERT_TRUE((*source)->LeaveOut(*store).ok());
  EXPECT_EQ(WalkAll(**source), (std::vector<std::string>{"f \n+ % 0", "f a 1", "d b", "f b/x 2", "d b/y", "f b/y/z 1",
                                                         "d b-", "f b-/y 3", "d marked", "S store"}));
  const Result<ObjectUrl> same = ObjectUrl::Parse("s3://bucket/p");
  EXPECT_EQ((*source)->LeaveOut(*same).code(), Code::kInvalid);
}

TEST(BucketSource, TheWholeBucketIsASource) {
  const Bucket bucket(Bucket::Objects{{"a", "1"}, {"b/c", "1"}});
  const auto source = bucket.Open("");
  ASSERT_TRUE(source.ok()) << source.status().text();
  EXPECT_EQ(WalkAll(**source), (std::vector<std::string>{"f a 1", "d b", "f b/c 1"}));
}

TEST(BucketSource, KeysThatAreNoPathsAreProblems) {
  const Bucket bucket(Bucket::Objects{{"p/a", "1"},
                                      {"p/a/b", "1"},
                                      {"p//c", "1"},
                                      {"p/x/../d", "1"},
                                      {"p/x/.", "1"},
                                      {"p/x/full/", "bytes"},
                                      {std::string("p/x/n\0l", 7), "1"},
                                      {"p/x/" + std::string(256, 'l'), "1"}});
  const auto source = bucket.Open("p");
  ASSERT_TRUE(source.ok()) << source.status().text();
  EXPECT_EQ(WalkAll(**source),
            (std::vector<std::string>{"! s3://bucket/p//: a key with two '/' in a row is no path", "f a 1", "2 a",
                                      "d x", "! s3://bucket/p/x/.: a key with a part '.' or '..' is no path",
                                      "! s3://bucket/p/x/../: a key with a part '.' or '..' is no path", "d x/full",
                                      "! s3://bucket/p/x/full/: an object that is not empty has this key, and no "
                                      "file's name ends in '/'",
                                      "! s3://bucket/p/x/" + std::string(256, 'l') + ": the name is over 255 bytes",
                                      "! s3://bucket/p/x/n\\x00l: a key with a NUL is no path"}));
}

TEST(BucketSource, AnObjectIsReadAsItWasListed) {
  Bucket bucket(Bucket::Objects{{"p/a", "0123456789"}});
  const auto source = bucket.Open("p");
  ASSERT_TRUE(source.ok()) << source.status().text();
  Found found;
  found.path = "a";
  found.size = 10;
  found.text = "\"1\"";
  const auto file = (*source)->OpenFile(found);
  ASSERT_TRUE(file.ok());
  std::string out(20, ' ');
  EXPECT_EQ(*(*file)->ReadAt(std::as_writable_bytes(std::span(out)), 3), 7U);
  EXPECT_EQ(out.substr(0, 7), "3456789");
  EXPECT_EQ(*(*file)->ReadAt(std::as_writable_bytes(std::span(out)), 10), 0U);
  bucket.etag = "\"2\"";
  const Status changed = (*file)->ReadAt(std::as_writable_bytes(std::span(out)), 0).status();
  EXPECT_EQ(changed.code(), Code::kChanged);
  EXPECT_TRUE(changed.text().starts_with("s3://bucket/p/a: changed while it was read")) << changed.text();
  EXPECT_FALSE((*source)->IsFailureOfAll(changed));
  EXPECT_TRUE((*source)->IsFailureOfAll({Code::kIo, ""}));
  // Another size than that of the list.
  bucket.etag = "\"1\"";
  found.size = 9;
  const auto shorter = (*source)->OpenFile(found);
  EXPECT_EQ((*shorter)->ReadAt(std::as_writable_bytes(std::span(out)), 0).status().code(), Code::kChanged);
}

TEST(BucketSource, WhatIsNoFolderIsTold) {
  const Bucket bucket(Bucket::Objects{{"p/a.tar", "1"}});
  EXPECT_EQ(bucket.Open("p/a.tar").status().code(), Code::kInvalid);
  EXPECT_EQ(bucket.Open("p/a").status().code(), Code::kNotFound);
  EXPECT_EQ(bucket.Open("q").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace augur
