// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C++17 wrapper of runtime.h: programs that close themselves, vectors, and exceptions for errors.
//
//   inlay::runtime::Program program("model.inlay");
//   std::vector<float> x(program.input(0).count()), y(program.output(0).count());
//   program.call({inlay::runtime::view(x.data(), program.input(0).dims)},
//                {inlay::runtime::view(y.data(), program.output(0).dims)});

#ifndef INLAY_C_RUNTIME_HPP
#define INLAY_C_RUNTIME_HPP

#include "inlay-c/runtime.h"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace inlay::runtime {

class Error : public std::runtime_error {
public:
  Error(InlayStatus status, const std::string &message) : std::runtime_error(message), status_(status) {}
  InlayStatus status() const { return status_; }

private:
  InlayStatus status_;
};

/// An input or a result of a program.
struct TensorInfo {
  std::string name;
  InlayElement element;
  std::vector<int64_t> dims; ///< -1 for a dim that may differ between calls.
  std::string type;          ///< The type with the names of such dims: "float32[batch x 10]".

  /// Returns the number of elements; 0 if it may differ between calls.
  size_t count() const {
    size_t result = 1;
    for (int64_t dim : dims)
      result *= dim < 0 ? 0 : static_cast<size_t>(dim);
    return result;
  }
};

/// Dense row-major elements in memory of the caller or of `owner`.
struct Tensor {
  void *data;
  InlayElement element;
  std::vector<int64_t> dims;
  std::shared_ptr<const void> owner = nullptr;
};

/// Returns the element type for a C++ type: bool, int8_t to int64_t, float, double.
template <typename T>
constexpr InlayElement elementOf() {
  if constexpr (std::is_same_v<T, bool>)
    return InlayElementBool;
  else if constexpr (std::is_same_v<T, int8_t>)
    return InlayElementI8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return InlayElementI16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return InlayElementI32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return InlayElementI64;
  else if constexpr (std::is_same_v<T, float>)
    return InlayElementF32;
  else {
    static_assert(std::is_same_v<T, double>, "expected bool, a signed integer, float or double");
    return InlayElementF64;
  }
}

/// Returns a tensor over the elements at `data`. The elements of an input are only read.
template <typename T>
Tensor view(T *data, std::vector<int64_t> dims, std::shared_ptr<const void> owner = nullptr) {
  return {const_cast<std::remove_const_t<T> *>(data), elementOf<std::remove_const_t<T>>(), std::move(dims),
          std::move(owner)};
}

struct Options {
  std::string device;                              ///< A number or a part of a device name.
  std::string publicKeyFile;                       ///< Path of the key that must verify the file's signature.
  bool recovery = true;                            ///< Runs segments on the host if the device fails.
  std::function<void(const std::string &)> notice; ///< Called with a message for each failure; must not throw.
  std::function<bool()> stop;                      ///< Returns true to stop a call; must not throw.
};

namespace detail {
inline void check(InlayStatus status) {
  if (status != InlayStatusOk)
    throw Error(status, inlayLastError());
}

/// Returns the tensor of a result, which it owns.
inline Tensor own(InlayResult *result) {
  InlayTensor tensor = inlayResultTensor(result);
  return {tensor.data,
          tensor.element,
          {tensor.dims, tensor.dims + tensor.rank},
          std::shared_ptr<InlayResult>(result, inlayResultFree)};
}
} // namespace detail

/// The states of a sequence of calls; movable. It serves one call at a time and may outlive its program.
class Session {
public:
  /// Frees all states. The next call starts with zeros, and its inputs choose the dims.
  void reset() { detail::check(inlaySessionReset(session_.get())); }
  /// Returns a copy of a state.
  Tensor read(size_t number) const {
    InlayResult *state = nullptr;
    detail::check(inlaySessionRead(session_.get(), number, &state));
    return detail::own(state);
  }
  /// Replaces a state.
  void write(size_t number, const Tensor &value) {
    InlayTensor raw = {value.data, value.element, value.dims.size(), value.dims.data()};
    detail::check(inlaySessionWrite(session_.get(), number, &raw));
  }

private:
  friend class Program;
  struct Free {
    void operator()(InlaySession *session) const { inlaySessionFree(session); }
  };
  explicit Session(InlaySession *session) : session_(session) {}

  std::unique_ptr<InlaySession, Free> session_;
};

/// A loaded program; movable. May be called from several threads at a time.
class Program {
public:
  explicit Program(const std::string &path, Options options = {}) : options_(new Options(std::move(options))) {
    InlayOpenOptions raw = inlayOpenOptions();
    raw.device = options_->device.empty() ? nullptr : options_->device.c_str();
    raw.publicKeyFile = options_->publicKeyFile.empty() ? nullptr : options_->publicKeyFile.c_str();
    raw.withoutRecovery = !options_->recovery;
    raw.userData = options_.get();
    if (options_->notice)
      raw.notice = [](const char *text, void *user) { static_cast<Options *>(user)->notice(text); };
    if (options_->stop)
      raw.stop = [](void *user) { return static_cast<Options *>(user)->stop(); };
    InlayProgram *program = nullptr;
    check(inlayProgramOpen(path.c_str(), &raw, &program));
    program_.reset(program);
  }

  size_t inputCount() const { return inlayProgramInputCount(program_.get()); }
  size_t outputCount() const { return inlayProgramOutputCount(program_.get()); }
  TensorInfo input(size_t number) const { return describe(inlayProgramInput, number); }
  TensorInfo output(size_t number) const { return describe(inlayProgramOutput, number); }
  std::string device() const { return inlayProgramDevice(program_.get()); }
  std::string report() const { return inlayProgramReport(program_.get()); }
  std::string metadata() const { return inlayProgramMetadata(program_.get()); }

  /// Returns the dims of result `number` for inputs of these dims.
  std::vector<int64_t> outputDims(const std::vector<Tensor> &inputs, size_t number) const {
    std::vector<InlayTensor> raw = convert(inputs);
    size_t rank = 0;
    check(inlayProgramOutputDims(program_.get(), raw.data(), raw.size(), number, nullptr, 0, &rank));
    std::vector<int64_t> dims(rank);
    check(inlayProgramOutputDims(program_.get(), raw.data(), raw.size(), number, dims.data(), rank, &rank));
    return dims;
  }

  /// Waits for the work that opening left to other threads. Otherwise the first call waits.
  void wait() { check(inlayProgramWait(program_.get())); }

  /// Runs the program and writes the results to memory of the caller. Owners are ignored.
  void call(const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs) {
    std::vector<InlayTensor> in = convert(inputs), out = convert(outputs);
    check(inlayProgramCall(program_.get(), in.data(), in.size(), out.data(), out.size()));
  }

  /// Runs the program and returns the results. Their owners keep their memory, which may outlive the program. A device
  /// that shares memory with the host reads large inputs that have an owner in place; see `InlayOwner`.
  std::vector<Tensor> call(const std::vector<Tensor> &inputs) { return run(inputs, nullptr); }
  /// Does the same with the states of a session.
  std::vector<Tensor> call(const std::vector<Tensor> &inputs, Session &session) {
    return run(inputs, session.session_.get());
  }

  size_t stateCount() const { return inlayProgramStateCount(program_.get()); }
  TensorInfo state(size_t number) const { return describe(inlayProgramState, number); }

  /// Makes a session, which calls of a program with states need.
  Session makeSession() {
    InlaySession *session = nullptr;
    check(inlaySessionMake(program_.get(), &session));
    return Session(session);
  }

private:
  std::vector<Tensor> run(const std::vector<Tensor> &inputs, InlaySession *session) {
    using Owner = std::shared_ptr<const void>;
    std::vector<InlayTensor> in = convert(inputs);
    std::vector<InlayOwner> owners;
    owners.reserve(inputs.size());
    for (const Tensor &input : inputs)
      owners.push_back(
          {input.owner ? new Owner(input.owner) : nullptr, [](void *owner) { delete static_cast<Owner *>(owner); }});
    std::vector<InlayResult *> made(outputCount());
    check(inlaySessionRun(session, program_.get(), in.data(), owners.data(), in.size(), made.data(), made.size()));
    std::vector<Tensor> results;
    for (InlayResult *result : made)
      results.push_back(detail::own(result));
    return results;
  }

  struct Close {
    void operator()(InlayProgram *program) const { inlayProgramClose(program); }
  };

  static void check(InlayStatus status) { detail::check(status); }

  static std::vector<InlayTensor> convert(const std::vector<Tensor> &tensors) {
    std::vector<InlayTensor> result;
    for (const Tensor &tensor : tensors)
      result.push_back({tensor.data, tensor.element, tensor.dims.size(), tensor.dims.data()});
    return result;
  }

  TensorInfo describe(InlayStatus (*get)(const InlayProgram *, size_t, InlayTensorInfo *), size_t number) const {
    InlayTensorInfo info;
    check(get(program_.get(), number, &info));
    return {info.name, info.element, {info.dims, info.dims + info.rank}, info.type};
  }

  std::unique_ptr<Options> options_; ///< Outlives the program, which calls it.
  std::unique_ptr<InlayProgram, Close> program_;
};

} // namespace inlay::runtime

#endif // INLAY_C_RUNTIME_HPP
