// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/pack_session.h"

#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "tools/output.h"

namespace augur {
namespace {

constexpr std::string_view kLinePrefix = "augurpack: ";
// Texts kept for --json; the counts are always whole.
constexpr size_t kListedMax = 1000;

std::string Plural(uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace

PackSession::PackSession(std::string_view verb, bool quiet, bool json, OnError on_error)
    : quiet_(quiet), json_(json), on_error_(on_error), start_(std::chrono::steady_clock::now()) {
  BeginPass(verb);
}

void PackSession::BeginPass(std::string_view verb) {
  progress_.reset();  // clears its line
  progress_ = std::make_unique<ProgressBar>(verb, ProgressBar::Choose(quiet_));
}

void PackSession::Remember(std::vector<std::string>* list, const std::string& text) const {
  if (json_ && list->size() < kListedMax) list->push_back(text);
}

void PackSession::OnLeftOut(const std::string& text) {
  ++left_out_count_;
  Remember(&left_out_, text);
  progress_->Print(std::string(kLinePrefix) + text);
}

// They may be most files of the source, and nothing is wrong with them: not a line each.
void PackSession::OnNotShown(const std::string& text) {
  if (not_shown_count_++ == 0) first_not_shown_ = text;
  Remember(&left_out_, text);
}

Status PackSession::OnProblem(const Status& problem) {
  if (on_error_ == OnError::kStop) {
    if (problem.code() != Code::kPermission) return problem;
    return {problem.code(), problem.text() + ": --on-error=skip leaves such files out"};
  }
  ++problem_count_;
  Remember(&problems_, problem.text());
  progress_->Print(std::string(kLinePrefix) + problem.text() + ": left out");
  return {};
}

int PackSession::Fail(const Status& status, std::string_view cure) {
  progress_->Finish();
  if (status.code() == Code::kStopped) return FailStopped(kAugurpack, cure);
  if (!IsDiskFull(status)) return augur::Fail(kAugurpack, status);
  return augur::Fail(kAugurpack, Status(status.code(), status.text() + std::string(kMakeRoom) + std::string(cure)));
}

int PackSession::Finish(const std::string& store, const WriterSummary& summary) {
  progress_->Finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const auto rate = static_cast<uint64_t>(seconds > 0 ? static_cast<double>(summary.tree_bytes) / seconds : 0);
  std::string text;
  if (json_) {
    const nlohmann::ordered_json json = {
        {"store", Printable(store)},
        {"generation", summary.generation},
        {"files", summary.file_count},
        {"directories", summary.directory_count},
        {"symlinks", summary.symlink_count},
        {"images", summary.image_count},
        {"bytes", summary.tree_bytes},
        {"stored_bytes", summary.stored_bytes},
        {"duplicates", summary.duplicate_count},
        {"resumed", summary.resumed_count},
        {"left_out", left_out_count_ + not_shown_count_},
        {"left_out_names", left_out_},
        {"errors", problem_count_},
        {"error_texts", problems_},
        {"seconds", seconds},
        {"bytes_per_second", rate},
    };
    text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  } else if (!quiet_) {
    text = Printable(store) + ": generation " + std::to_string(summary.generation) + ": " +
           Plural(summary.file_count, "file", "files") + " (" + Plural(summary.image_count, "image", "images") + "), " +
           Plural(summary.directory_count, "folder", "folders") + ", " +
           Plural(summary.symlink_count, "link", "links") + ", " + FormatSize(summary.tree_bytes) + "\n";
    text += "stored " + FormatSize(summary.stored_bytes);
    if (summary.duplicate_count > 0) {
      text += "; " + Plural(summary.duplicate_count, "file was", "files were") + " there already, byte for byte";
    }
    if (summary.resumed_count > 0)
      text += "; " + Plural(summary.resumed_count, "file", "files") + " from the killed run";
    std::array<char, 32> clock = {};
    std::snprintf(clock.data(), clock.size(), "%.1f s", seconds);
    text += "; " + std::string(clock.data()) + ", " + FormatSize(rate) + "/s\n";
    if (left_out_count_ > 0)
      text += "left out: " + Plural(left_out_count_, "thing that is no file", "things that are no files") + "\n";
    if (not_shown_count_ > 0) {
      text += "left out: " + Plural(not_shown_count_, "item that is", "items that are") + " not shown" +
              (not_shown_count_ > 1 ? ", the first: " : ": ") + first_not_shown_ + "\n";
    }
    if (problem_count_ > 0) text += "left out by --on-error=skip: " + std::to_string(problem_count_) + "\n";
  }
  if (const Status written = WriteOut(text); !written.ok()) return augur::Fail(kAugurpack, written);
  if (summary.file_count + summary.symlink_count == 0) {
    spdlog::warn("{}: the store has no file: was that the right source, and is the disk that it is on mounted?",
                 Printable(store));
  }
  return problem_count_ > 0 ? kExitNo : kExitDone;
}

}  // namespace augur
