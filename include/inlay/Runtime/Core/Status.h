// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Status and StatusOr: how the runtime reports failure. The runtime never throws, aborts or asserts on bad input.

#ifndef INLAY_RUNTIME_CORE_STATUS_H
#define INLAY_RUNTIME_CORE_STATUS_H

#include <optional>
#include <string>
#include <utility>

namespace inlay::rt {

/// The kind of a failure, coarse enough for a caller to act on.
enum class StatusCode {
  Ok,
  InvalidArgument,   ///< The caller's tensor, option or plan is wrong.
  NotFound,          ///< A file, device, symbol or loader is missing.
  ResourceExhausted, ///< Out of host or device memory.
  DeviceLost,        ///< The device stopped answering; its results are invalid.
  Unavailable,       ///< No usable driver or device.
  Stopped,           ///< A loop exceeded its limit, or the caller stopped the call.
  Internal,          ///< A bug in the runtime.
};

/// A result code with a sentence: lower-case, no full stop, naming the thing, its place and what was expected.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status ok() { return Status(); }
  bool isOk() const { return code_ == StatusCode::Ok; }
  StatusCode code() const { return code_; }
  const std::string &message() const { return message_; }

private:
  StatusCode code_ = StatusCode::Ok;
  std::string message_;
};

/// Either a value or the status that says why there is none.
template <typename T>
class [[nodiscard]] StatusOr {
public:
  StatusOr(T value) : value_(std::move(value)) {}
  StatusOr(Status status) : status_(std::move(status)) {}

  bool isOk() const { return value_.has_value(); }
  const Status &status() const { return status_; }
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }

private:
  std::optional<T> value_;
  Status status_;
};

} // namespace inlay::rt

/// Returns from the enclosing function when `expression` yields a status that is not ok.
#define INLAY_RETURN_IF_ERROR(expression)                                                                              \
  do {                                                                                                                 \
    if (::inlay::rt::Status inlayStatus = (expression); !inlayStatus.isOk())                                           \
      return inlayStatus;                                                                                              \
  } while (false)

#endif // INLAY_RUNTIME_CORE_STATUS_H
