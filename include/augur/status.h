// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace augur {

// Why an operation failed. src/fs/errno_table.h turns codes into errno; the tools turn them into exit status 2.
enum class Code {
  kOk = 0,
  kNotFound,     // the named thing does not exist
  kExists,       // the named thing exists and must not
  kInvalid,      // the caller's input is wrong: an option, a path, a name
  kCorrupt,      // bytes on disk break a rule of FORMAT.md or do not match their checksum
  kIo,           // the operating system failed to read or write
  kUnsupported,  // a newer format, or something that this machine cannot do
  kBusy,         // someone else holds it
  kNoSpace,      // disk, memory budget or quota is used up
  kPermission,   // the operating system refuses
  kChanged,      // a source file changed while it was read
  kStopped,      // the operation was cancelled
};

// Name of the code in words ("not found"), for logs and --json.
std::string_view CodeName(Code code);

// The outcome of an operation that the world can make fail: a code and a text "context: cause".
// A bug of ours is an assertion instead (AUGUR_CHECK in base/check.h). A value type, safe to copy.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string text) : code_(code), text_(std::move(text)) {}
  static Status Ok() { return {}; }

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& text() const { return text_; }

  // The same failure seen from one level up: "context: text". An OK status stays OK.
  Status In(std::string_view context) const;

 private:
  Code code_ = Code::kOk;
  std::string text_;
};

// Status of errno value `error` met while doing `context`: "context: No such file or directory".
Status ErrnoStatus(int error, std::string_view context);

// A value, or the reason why there is none. REQUIRES: value() is only called when ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!status_.ok());
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & { return *value_; }                   // NOLINT(bugprone-unchecked-optional-access)
  const T& value() const& { return *value_; }        // NOLINT(bugprone-unchecked-optional-access)
  T&& value() && { return *std::move(value_); }      // NOLINT(bugprone-unchecked-optional-access)
  T& operator*() & { return *value_; }               // NOLINT(bugprone-unchecked-optional-access)
  const T& operator*() const& { return *value_; }    // NOLINT(bugprone-unchecked-optional-access)
  T&& operator*() && { return *std::move(value_); }  // NOLINT(bugprone-unchecked-optional-access)
  T* operator->() { return &*value_; }               // NOLINT(bugprone-unchecked-optional-access)
  const T* operator->() const { return &*value_; }   // NOLINT(bugprone-unchecked-optional-access)

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace augur

// Returns the failure of `expr` (a Status) from the enclosing function.
#define AUGUR_TRY(expr)                                                           \
  do {                                                                            \
    if (::augur::Status augur_try_ = (expr); !augur_try_.ok()) return augur_try_; \
  } while (0)

// Declares `var` with the value of `expr` (a Result), or returns its failure. NOLINTBEGIN(bugprone-macro-parentheses)
#define AUGUR_TRY_ASSIGN(var, expr) AUGUR_TRY_ASSIGN_(var, expr, AUGUR_CONCAT_(augur_result_, __LINE__))
#define AUGUR_TRY_ASSIGN_(var, expr, tmp) \
  auto tmp = (expr);                      \
  if (!tmp.ok()) return tmp.status();     \
  auto var = std::move(tmp).value()
#define AUGUR_CONCAT_(a, b) AUGUR_CONCAT2_(a, b)
#define AUGUR_CONCAT2_(a, b) a##b  // NOLINTEND(bugprone-macro-parentheses)
