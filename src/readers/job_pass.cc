// SPDX-License-Identifier: Apache-2.0
#include "readers/job_pass.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace augur {

JobPass::~JobPass() {
  for (const auto& [id, stream] : streams) first_reads_left += stream.reads.size();
}

bool JobPass::Add(StreamId id, const std::shared_ptr<const Process>& process, FirstRead read, size_t first_reads_max) {
  Stream& stream = streams[id];
  if (!stream.process) stream.process = process;
  if (stream.reads.size() == stream.read_count && stream.reads.size() < first_reads_max && first_reads_left > 0) {
    stream.reads.push_back(read);
    first_reads_left--;
  }
  stream.read_count++;
  read_count++;
  return files.Add(read.file) == FileSet::Added::kNew;
}

void JobPass::TakeBack(StreamId id, std::vector<FirstRead>* last) {
  Stream& stream = streams[id];
  for (size_t i = last->size(); i-- > 0 && stream.read_count > 0; stream.read_count--, read_count--) {
    if (stream.reads.size() != stream.read_count) continue;  // it is not one of the first reads
    (*last)[i] = stream.reads.back();
    stream.reads.pop_back();
    first_reads_left++;
  }
}

void JobPass::Open(const StreamOpen& open) {
  const auto stream = streams.find(open.stream);
  if (stream == streams.end()) return;
  std::vector<FirstRead>& reads = stream->second.reads;
  // The open is told a few milliseconds after the read.
  const size_t look_max = std::min<size_t>(reads.size(), 256);
  for (size_t i = 0; i < look_max; i++) {
    FirstRead& read = reads[reads.size() - 1 - i];
    if (read.file != open.file || read.unattributed_before != FirstRead::kUnknown) continue;
    read.unattributed_before = static_cast<uint32_t>(open.unattributed);
    return;
  }
}

void JobPass::Withdraw(EntryNumber file, bool added) {
  Stream& stream = streams[0];
  const auto read = std::find_if(stream.reads.rbegin(), stream.reads.rend(),
                                 [file](const FirstRead& first) { return first.file == file; });
  if (stream.reads.size() == stream.read_count && read != stream.reads.rend()) {
    stream.reads.erase(std::next(read).base());
    first_reads_left++;
  }
  if (stream.read_count > stream.reads.size()) stream.read_count--;
  if (read_count > 0) read_count--;
  if (added) files.Remove(file);
}

bool JobPass::OfRanks() const {
  return std::any_of(streams.begin(), streams.end(), [](const auto& item) {
    return item.second.process && item.second.process->Script().launch.launch != 0;
  });
}

uint64_t JobPass::FirstReads() const {
  uint64_t reads = 0;
  for (const auto& [id, stream] : streams) {
    if (stream.read_count > 0) reads += stream.reads.size();
  }
  return reads;
}

EpochStart JobPass::Describe(JobId job, uint64_t dataset_files) const {
  EpochStart described{.job = job,
                       .pass = number,
                       .dataset = dataset,
                       .epoch = epoch,
                       .new_processes = new_processes,
                       .files = files.count(),
                       .dataset_files = dataset_files,
                       .streams = {}};
  for (const auto& [id, from_stream] : streams) {
    if (from_stream.read_count == 0) continue;
    EpochStream stream{.id = id,
                       .launch = {},
                       .multithreaded = from_stream.multithreaded,
                       .reads = from_stream.reads,
                       .read_count = from_stream.read_count};
    if (from_stream.process) {
      stream.pid = from_stream.process->facts.pid;
      stream.start_us = from_stream.process->facts.start_us;
      stream.script_pid = from_stream.process->Script().facts.pid;
      stream.launch = from_stream.process->Script().launch;
    }
    for (FirstRead& read : stream.reads) {
      if (read.unattributed_before != FirstRead::kUnknown) {
        read.unattributed_before -= static_cast<uint32_t>(unattributed);
      }
    }
    stream.starts_at_first_read =
        from_stream.exact_start && !stream.reads.empty() && stream.reads.front().unattributed_before == 0;
    described.streams.push_back(std::move(stream));
  }
  const auto place = [](const EpochStream& stream) {
    return std::tuple(stream.id == 0, stream.launch.rank, stream.start_us, stream.pid, stream.id);
  };
  std::sort(described.streams.begin(), described.streams.end(),
            [&](const EpochStream& a, const EpochStream& b) { return place(a) < place(b); });
  return described;
}

}  // namespace augur
