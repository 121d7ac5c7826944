// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "remote/object_writer.h"

namespace augur {

// The bytes of each part of an object but the last. Parts have one size, which some servers want, and are 10,000 at the
// most. 0: the object is sent whole.
uint64_t UploadPartBytes(uint64_t object_bytes);

// FileUploads sends files to a bucket: small ones whole, and of larger ones 8 parts of 16 MiB at a time, each by a
// thread (augur-upload). That is 128 MiB of memory. One thread calls Add, Drain and Abort. The writer is the caller's
// and must outlive it.
class FileUploads {
 public:
  static constexpr size_t kThreads = 8;
  // Files that were added and are not sent yet. With the one that is being written, three are on the disk.
  static constexpr size_t kFilesMax = 2;

  // Told of each object that is there; its failure is that of the upload. Called by any of the threads.
  using OnObject = std::function<Status(const std::string& name, uint64_t bytes)>;

  // kNoSpace: no threads.
  static Result<std::unique_ptr<FileUploads>> Start(ObjectWriter& writer, OnObject on_object);
  // Ends the requests under way; uploads that are not complete stay on the server without Abort.
  ~FileUploads();
  FileUploads(const FileUploads&) = delete;
  FileUploads& operator=(const FileUploads&) = delete;

  // Takes a file, which becomes the object `name`. Waits until there is room for it. A failure may be that of an
  // earlier file; after one nothing more is sent.
  Status Add(const std::string& name, UniqueFd file, uint64_t bytes) AUGUR_EXCLUDES(mu_);
  // Waits until all files are objects.
  Status Drain() AUGUR_EXCLUDES(mu_);
  // Ends the threads, and the uploads that are not complete, also on the server. Nothing can be added after it.
  Status Abort() AUGUR_EXCLUDES(mu_);

 private:
  struct File {
    std::string name;
    UniqueFd fd;
    uint64_t bytes = 0;
    uint64_t part_bytes = 0;              // of all of it, where it is sent whole
    std::string upload = {};              // empty: it is sent whole
    std::vector<std::string> etags = {};  // by part
    size_t taken_parts = 0;
    size_t sent_parts = 0;
  };
  // A file and the index of a part of it.
  struct Part {
    File* file = nullptr;
    size_t index = 0;
  };

  FileUploads(ObjectWriter& writer, OnObject on_object) : writer_(writer), on_object_(std::move(on_object)) {}
  void Run() AUGUR_EXCLUDES(mu_);
  // The next part to send; waits for one. Nothing: the end.
  Part TakePart() AUGUR_EXCLUDES(mu_);
  Result<std::string> SendPart(const Part& part, std::vector<std::byte>& memory) const;
  void OnSent(const Part& part, Result<std::string> etag) AUGUR_EXCLUDES(mu_);
  void Fail(const Status& status) AUGUR_REQUIRES(mu_);
  // Waits until at most `left` of the files that were added are not sent yet.
  Status WaitForFiles(size_t left) AUGUR_EXCLUDES(mu_);
  void EndThreads() AUGUR_EXCLUDES(mu_);

  ObjectWriter& writer_;
  const OnObject on_object_;
  std::vector<std::thread> threads_;

  Mutex mu_;
  CondVar work_;
  CondVar sent_;
  // kFilesMax at most: Add waits. Of each all but `etags` and the counts is constant.
  std::list<File> files_ AUGUR_GUARDED_BY(mu_);
  Status failure_ AUGUR_GUARDED_BY(mu_);
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
