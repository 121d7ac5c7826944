// SPDX-License-Identifier: Apache-2.0
#include "remote/file_uploads.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/thread.h"
#include "store/file_io.h"

namespace augur {
namespace {

constexpr uint64_t kPartBytes = 16 << 20;
constexpr uint64_t kPartsMax = 10'000;

}  // namespace

uint64_t UploadPartBytes(uint64_t object_bytes) {
  if (object_bytes <= kPartBytes) return 0;
  const uint64_t parts_of = (object_bytes + kPartsMax - 1) / kPartsMax;
  return std::max(kPartBytes, (parts_of + (1 << 20) - 1) >> 20 << 20);
}

Result<std::unique_ptr<FileUploads>> FileUploads::Start(ObjectWriter& writer, OnObject on_object) {
  std::unique_ptr<FileUploads> uploads(new FileUploads(writer, std::move(on_object)));
  for (size_t index = 0; index < kThreads; ++index) {
    AUGUR_TRY_ASSIGN(thread, StartThread("augur-upload", [raw = uploads.get()] { raw->Run(); }));
    uploads->threads_.push_back(std::move(thread));
  }
  return uploads;
}

FileUploads::~FileUploads() { EndThreads(); }

void FileUploads::EndThreads() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
    if (!files_.empty()) writer_.GiveUp();
  }
  work_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

Status FileUploads::Add(const std::string& name, UniqueFd file, uint64_t bytes) {
  AUGUR_TRY(WaitForFiles(kFilesMax - 1));
  File added{.name = name, .fd = std::move(file), .bytes = bytes, .part_bytes = UploadPartBytes(bytes)};
  if (added.part_bytes == 0) {
    added.part_bytes = bytes;
    added.etags.resize(1);
  } else {
    AUGUR_TRY_ASSIGN(upload, writer_.StartUpload(name));
    added.upload = std::move(upload);
    added.etags.resize((bytes + added.part_bytes - 1) / added.part_bytes);
  }
  {
    const MutexLock lock(mu_);
    files_.push_back(std::move(added));
  }
  work_.NotifyAll();
  return Status::Ok();
}

Status FileUploads::WaitForFiles(size_t left) {
  while (true) {
    const bool stopped = writer_.stopped();
    const MutexLock lock(mu_);
    if (!failure_.ok() || files_.size() <= left) return failure_;
    if (stopped) {
      Fail({Code::kStopped, "stopped"});
    } else {
      sent_.WaitFor(mu_, BucketClient::kStopInterval);
    }
  }
}

Status FileUploads::Drain() { return WaitForFiles(0); }

Status FileUploads::Abort() {
  EndThreads();
  writer_.IgnoreStop();
  std::list<File> files;
  {
    const MutexLock lock(mu_);
    files.swap(files_);
  }
  Status aborted;
  for (const File& file : files) {
    if (file.upload.empty()) continue;
    const Status status = writer_.AbortUpload(file.name, file.upload);
    if (aborted.ok()) aborted = status;
  }
  return aborted;
}

void FileUploads::Run() {
  std::vector<std::byte> memory;
  while (true) {
    const Part part = TakePart();
    if (part.file == nullptr) return;
    OnSent(part, SendPart(part, memory));
  }
}

FileUploads::Part FileUploads::TakePart() {
  const MutexLock lock(mu_);
  while (true) {
    if (stop_ || !failure_.ok()) return {};
    for (File& file : files_) {
      if (file.taken_parts < file.etags.size()) return {.file = &file, .index = file.taken_parts++};
    }
    work_.Wait(mu_);
  }
}

Result<std::string> FileUploads::SendPart(const Part& part, std::vector<std::byte>& memory) const {
  const File& file = *part.file;
  const uint64_t begin = part.index * file.part_bytes;
  memory.resize(std::min(file.part_bytes, file.bytes - begin));
  AUGUR_TRY(ReadAt(file.fd.get(), file.name, memory, begin));
  if (!file.upload.empty()) return writer_.PutPart(file.name, file.upload, part.index + 1, memory);
  AUGUR_TRY(writer_.Put(file.name, memory, PutCondition::Always()));
  return std::string();
}

void FileUploads::OnSent(const Part& part, Result<std::string> etag) {
  File& file = *part.file;
  {
    const MutexLock lock(mu_);
    if (!etag.ok()) return Fail(etag.status());
    file.etags[part.index] = *std::move(etag);
    if (++file.sent_parts < file.etags.size()) return;
  }
  // The last part: this thread alone has the file now.
  Status status =
      file.upload.empty() ? Status::Ok() : writer_.CompleteUpload(file.name, file.upload, file.etags, file.bytes);
  if (status.ok()) status = on_object_(file.name, file.bytes);
  const MutexLock lock(mu_);
  if (!status.ok()) return Fail(status);
  files_.remove_if([&file](const File& one) { return &one == &file; });
  sent_.NotifyAll();
}

void FileUploads::Fail(const Status& status) {
  if (failure_.ok()) failure_ = status;
  writer_.GiveUp();
  work_.NotifyAll();
  sent_.NotifyAll();
}

}  // namespace augur
