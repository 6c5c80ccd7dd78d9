// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implementation of inlay-c/runtime.h: checks the caller's arguments, converts them and calls the C++ runtime.

#include "inlay-c/runtime.h"
#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Loader/Loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace inlay::rt;

namespace {
/// An input or a result in the form that callers get.
struct Described {
  std::string name, type;
  InlayElement element = InlayElementF32;
  std::vector<int64_t> dims;
};
} // namespace

struct InlayProgram {
  LoadedProgram opened;
  std::vector<Described> inputs, outputs, states;
};

struct InlaySession {
  std::shared_ptr<Session> session;
};

//===-- Status --------------------------------------------------------------------------------------------------===//

static_assert(int(InlayStatusInvalidArgument) == int(StatusCode::InvalidArgument) &&
                  int(InlayStatusDeviceLost) == int(StatusCode::DeviceLost) &&
                  int(InlayStatusInternal) == int(StatusCode::Internal),
              "the status codes of C must equal those of C++");
static_assert(int(InlayElementBool) == int(ElementType::Bool) && int(InlayElementF16) == int(ElementType::F16) &&
                  int(InlayElementF64) == int(ElementType::F64),
              "the element types of C must equal those of C++");

static thread_local std::string lastError;

/// Notes an error. If there is no memory for its message, the message is short.
static InlayStatus toC(const Status &status) {
  if (status.isOk())
    return InlayStatusOk;
  Status noted = guard([&] {
    lastError = status.message();
    return Status::ok();
  });
  if (!noted.isOk())
    lastError = noted.message();
  return static_cast<InlayStatus>(status.code());
}

/// Returns the status of `work`, which returns an InlayStatus. No exception may reach the caller, who may not be C++.
template <typename Work>
static InlayStatus guardC(Work work) noexcept {
  InlayStatus result = InlayStatusOk;
  Status status = guard([&] {
    result = work();
    return Status::ok();
  });
  return status.isOk() ? result : toC(status);
}

static InlayStatus invalid(std::string message) {
  lastError = std::move(message);
  return InlayStatusInvalidArgument;
}

static InlayStatus noProgram() { return invalid("expected a program, but got null"); }

int inlayRuntimeAbi(void) { return INLAY_RUNTIME_ABI; }
const char *inlayRuntimeVersion(void) { return INLAY_VERSION; }
const char *inlayLastError(void) { return lastError.c_str(); }

static bool isElement(InlayElement element) {
  return element >= InlayElementBool && element <= InlayElementF64; // callers may cast any number
}

const char *inlayElementName(InlayElement element) {
  return isElement(element) ? name(static_cast<ElementType>(element)) : nullptr;
}

size_t inlayElementSize(InlayElement element) {
  return isElement(element) ? byteWidth(static_cast<ElementType>(element)) : 0;
}

//===-- Loading -------------------------------------------------------------------------------------------------===//

static std::vector<Described> describe(const Plan &plan, const std::vector<uint32_t> &numbers) {
  std::vector<Described> result;
  for (uint32_t number : numbers) {
    const Buffer &buffer = plan.buffers[number];
    Described &described = result.emplace_back();
    described.name = buffer.name;
    described.type = toString(buffer.type, plan.symbols);
    described.element = static_cast<InlayElement>(buffer.type.element);
    for (const Expr &dim : buffer.type.dims) {
      int64_t size = -1;
      described.dims.push_back(dim.isConstant(size) ? size : -1);
    }
  }
  return result;
}

InlayOpenOptions inlayOpenOptions(void) {
  InlayOpenOptions options;
  std::memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  return options;
}

static OpenOptions convert(const InlayOpenOptions &raw) {
  OpenOptions options;
  options.device = raw.device ? raw.device : "";
  options.publicKeyFile = raw.publicKeyFile ? raw.publicKeyFile : "";
  options.recovery = !raw.withoutRecovery;
  if (raw.notice)
    options.notify = [raw](const RecoveryNotice &notice) {
      std::string text = notice.failure.isOk() ? notice.action : notice.failure.message() + "; " + notice.action;
      raw.notice(text.c_str(), raw.userData);
    };
  if (raw.stop)
    options.stop = [raw] { return raw.stop(raw.userData); };
  return options;
}

InlayStatus inlayProgramOpen(const char *path, const InlayOpenOptions *options, InlayProgram **program) {
  return guardC([&]() -> InlayStatus {
    if (!program)
      return invalid("expected a pointer for the program, but got null");
    *program = nullptr;
    if (!path)
      return invalid("expected a path, but got null");
    // Options that an older caller does not have keep their defaults. Options of a newer caller are refused.
    InlayOpenOptions known = inlayOpenOptions();
    // A size that ends inside a member would copy a part of a pointer.
    if (options && (options->size < sizeof(size_t) || options->size > sizeof(known) || options->size % sizeof(void *)))
      return invalid(fmt::format("expected options of {} to {} bytes, a multiple of {}, but got {}: start from "
                                 "inlayOpenOptions()",
                                 sizeof(size_t), sizeof(known), sizeof(void *), options->size));
    if (options)
      std::memcpy(&known, options, options->size);
    if (known.publicKeyFile && !*known.publicKeyFile)
      return invalid("expected publicKeyFile to name a file, but it is empty");
    StatusOr<LoadedProgram> opened = openProgram(path, convert(known));
    if (!opened.isOk())
      return toC(opened.status());
    auto result = std::make_unique<InlayProgram>();
    result->opened = std::move(*opened);
    const Plan &plan = *result->opened.plan;
    result->inputs = describe(plan, plan.inputs);
    result->outputs = describe(plan, plan.outputs);
    result->states = describe(plan, plan.states);
    *program = result.release();
    return InlayStatusOk;
  });
}

InlayStatus inlayProgramWait(InlayProgram *program) {
  return guardC([&]() -> InlayStatus { return program ? toC(program->opened.program->wait()) : noProgram(); });
}

void inlayProgramClose(InlayProgram *program) { delete program; }

//===-- Inputs, results and properties of a program -------------------------------------------------------------===//

size_t inlayProgramInputCount(const InlayProgram *program) { return program ? program->inputs.size() : 0; }
size_t inlayProgramOutputCount(const InlayProgram *program) { return program ? program->outputs.size() : 0; }
size_t inlayProgramStateCount(const InlayProgram *program) { return program ? program->states.size() : 0; }

static InlayStatus find(const std::vector<Described> &list, const char *what, size_t number, InlayTensorInfo *info) {
  if (!info)
    return invalid("expected a pointer for the tensor info, but got null");
  if (number >= list.size())
    return invalid(fmt::format("expected one of {} {}s, but got {}", list.size(), what, number));
  const Described &described = list[number];
  *info = {described.name.c_str(), described.element, described.dims.size(), described.dims.data(),
           described.type.c_str()};
  return InlayStatusOk;
}

InlayStatus inlayProgramInput(const InlayProgram *program, size_t number, InlayTensorInfo *info) {
  return guardC([&]() -> InlayStatus { return program ? find(program->inputs, "input", number, info) : noProgram(); });
}

InlayStatus inlayProgramOutput(const InlayProgram *program, size_t number, InlayTensorInfo *info) {
  return guardC(
      [&]() -> InlayStatus { return program ? find(program->outputs, "result", number, info) : noProgram(); });
}

InlayStatus inlayProgramState(const InlayProgram *program, size_t number, InlayTensorInfo *info) {
  return guardC([&]() -> InlayStatus { return program ? find(program->states, "state", number, info) : noProgram(); });
}

const char *inlayProgramDevice(const InlayProgram *program) {
  return program && program->opened.device ? program->opened.device->deviceName().c_str() : "";
}

const char *inlayProgramReport(const InlayProgram *program) {
  return program ? program->opened.info.report.c_str() : "";
}
const char *inlayProgramMetadata(const InlayProgram *program) {
  return program ? program->opened.info.metadata.c_str() : "";
}

//===-- Calls ---------------------------------------------------------------------------------------------------===//

static Status convert(const InlayTensor *tensors, size_t count, const char *what, std::vector<TensorView> &views) {
  constexpr size_t kMaxDims = 64;
  if (count && !tensors)
    return {StatusCode::InvalidArgument, fmt::format("expected {} {}s, but got null", count, what)};
  for (size_t i = 0; i < count; ++i) {
    const InlayTensor &tensor = tensors[i];
    if (!isElement(tensor.element))
      return {StatusCode::InvalidArgument,
              fmt::format("{} {}: expected an element type, but got {}", what, i, static_cast<int>(tensor.element))};
    if (tensor.rank > kMaxDims || (tensor.rank && !tensor.dims))
      return {StatusCode::InvalidArgument, fmt::format("{} {}: expected at most {} dims, but got {}{}", what, i,
                                                       kMaxDims, tensor.rank, tensor.dims ? "" : " at null")};
    std::vector<int64_t> dims;
    for (size_t dim = 0; dim < tensor.rank; ++dim)
      dims.push_back(tensor.dims[dim]);
    views.push_back({tensor.data, static_cast<ElementType>(tensor.element), std::move(dims)});
  }
  return Status::ok();
}

InlayStatus inlayProgramOutputDims(const InlayProgram *program, const InlayTensor *inputs, size_t inputCount,
                                   size_t number, int64_t *dims, size_t capacity, size_t *rank) {
  return guardC([&]() -> InlayStatus {
    if (!program)
      return noProgram();
    if (!rank || (capacity && !dims))
      return invalid("expected pointers for the rank and the dims, but got null");
    if (number >= program->outputs.size())
      return invalid(fmt::format("expected one of {} results, but got {}", program->outputs.size(), number));
    std::vector<TensorView> views;
    if (Status status = convert(inputs, inputCount, "input", views); !status.isOk())
      return toC(status);
    InputDims inputDims;
    for (TensorView &view : views)
      inputDims.push_back(std::move(view.dims));
    StatusOr<std::vector<std::vector<int64_t>>> all = program->opened.program->outputDims(inputDims);
    if (!all.isOk())
      return toC(all.status());
    const std::vector<int64_t> &resultDims = (*all)[number];
    *rank = resultDims.size();
    for (size_t i = 0; i < resultDims.size() && i < capacity; ++i)
      dims[i] = resultDims[i];
    return InlayStatusOk;
  });
}

InlayStatus inlayProgramCall(InlayProgram *program, const InlayTensor *inputs, size_t inputCount,
                             const InlayTensor *outputs, size_t outputCount) {
  return guardC([&]() -> InlayStatus {
    if (!program)
      return noProgram();
    std::vector<TensorView> in, out;
    Status status = convert(inputs, inputCount, "input", in);
    if (status.isOk())
      status = convert(outputs, outputCount, "result", out);
    return toC(status.isOk() ? program->opened.program->call(in, out) : status);
  });
}

//===-- Calls without copies ------------------------------------------------------------------------------------===//

struct InlayResult {
  TensorView view;
};

void inlayMarkReleased(void *object) { *static_cast<bool *>(object) = true; }

namespace {
/// The owners of a call's inputs. Each is released once, on every path.
class Owners {
public:
  Owners(const InlayOwner *owners, size_t count) : owners_(owners), count_(count) {}
  ~Owners() {
    for (; shared_ < count_; ++shared_)
      if (owners_[shared_].release)
        owners_[shared_].release(owners_[shared_].object);
  }
  Owners(const Owners &) = delete;
  Owners &operator=(const Owners &) = delete;

  /// Passes the owners on.
  std::vector<std::shared_ptr<const void>> share() {
    std::vector<std::shared_ptr<const void>> all;
    all.reserve(count_);
    while (shared_ < count_) {
      const InlayOwner &owner = owners_[shared_];
      if (!owner.release) {
        all.push_back(nullptr);
        ++shared_;
        continue;
      }
      // The result must not be null even if the object is: it says that the input has an owner.
      auto holder = std::make_unique<Holder>();
      std::shared_ptr<const void> kept(std::move(holder));
      auto *held = static_cast<Holder *>(const_cast<void *>(kept.get()));
      held->owner = owner; // from here on the holder releases it
      ++shared_;
      all.push_back(std::move(kept));
    }
    return all;
  }

private:
  struct Holder {
    InlayOwner owner = {nullptr, nullptr};
    ~Holder() {
      if (owner.release)
        owner.release(owner.object);
    }
  };

  const InlayOwner *owners_;
  size_t count_;
  size_t shared_ = 0; ///< Number of owners that were passed on.
};
} // namespace

/// Runs the program with a session, which may be null. Holds the owners until it returns.
static Status run(InlayProgram *program, Session *session, const InlayTensor *inputs,
                  std::vector<std::shared_ptr<const void>> owners, size_t inputCount,
                  std::vector<TensorView> &results) {
  std::vector<TensorView> in;
  INLAY_RETURN_IF_ERROR(convert(inputs, inputCount, "input", in));
  for (size_t i = 0; i < owners.size(); ++i)
    in[i].owner = std::move(owners[i]);
  StatusOr<std::vector<TensorView>> made = program->opened.program->callForResults(in, session);
  if (made.isOk())
    results = std::move(*made);
  return made.status();
}

static InlayStatus run(InlayProgram *program, Session *session, const InlayTensor *inputs, const InlayOwner *owners,
                       size_t inputCount, InlayResult **results, size_t resultCount) {
  return guardC([&]() -> InlayStatus {
    Owners kept(owners, owners ? inputCount : 0);
    if (resultCount && !results)
      return invalid("expected a pointer for the results, but got null");
    std::fill_n(results, resultCount, nullptr);
    if (!program)
      return noProgram();
    if (resultCount != program->outputs.size())
      return invalid(fmt::format("expected place for {} results, but got {}", program->outputs.size(), resultCount));
    std::vector<std::unique_ptr<InlayResult>> all(resultCount);
    for (std::unique_ptr<InlayResult> &result : all) // before the run, which changes states
      result = std::make_unique<InlayResult>();
    std::vector<TensorView> made;
    if (Status status = run(program, session, inputs, kept.share(), inputCount, made); !status.isOk())
      return toC(status);
    for (size_t i = 0; i < resultCount; ++i) {
      all[i]->view = std::move(made[i]);
      results[i] = all[i].release();
    }
    return InlayStatusOk;
  });
}

InlayStatus inlayProgramRun(InlayProgram *program, const InlayTensor *inputs, const InlayOwner *owners,
                            size_t inputCount, InlayResult **results, size_t resultCount) {
  return run(program, nullptr, inputs, owners, inputCount, results, resultCount);
}

InlayTensor inlayResultTensor(const InlayResult *result) {
  if (!result)
    return {nullptr, InlayElementBool, 0, nullptr};
  const TensorView &view = result->view;
  return {view.data, static_cast<InlayElement>(view.element), view.dims.size(), view.dims.data()};
}

void inlayResultFree(InlayResult *result) { delete result; }

//===-- State ---------------------------------------------------------------------------------------------------===//

static InlayStatus noSession() { return invalid("expected a session, but got null"); }

InlayStatus inlaySessionMake(InlayProgram *program, InlaySession **session) {
  return guardC([&]() -> InlayStatus {
    if (!session)
      return invalid("expected a pointer for the session, but got null");
    *session = nullptr;
    if (!program)
      return noProgram();
    StatusOr<std::shared_ptr<Session>> made = program->opened.program->makeSession();
    if (!made.isOk())
      return toC(made.status());
    *session = new InlaySession{std::move(*made)};
    return InlayStatusOk;
  });
}

void inlaySessionFree(InlaySession *session) { delete session; }

InlayStatus inlaySessionReset(InlaySession *session) {
  return guardC([&]() -> InlayStatus { return session ? toC(session->session->reset()) : noSession(); });
}

/// Returns the number of a state. Numbers that don't fit stay out of range.
static uint32_t stateNumber(size_t number) { return static_cast<uint32_t>(std::min<size_t>(number, UINT32_MAX)); }

InlayStatus inlaySessionRead(const InlaySession *session, size_t number, InlayResult **state) {
  return guardC([&]() -> InlayStatus {
    if (!state)
      return invalid("expected a pointer for the state, but got null");
    *state = nullptr;
    if (!session)
      return noSession();
    StatusOr<TensorView> value = session->session->read(stateNumber(number));
    if (!value.isOk())
      return toC(value.status());
    *state = new InlayResult{std::move(*value)};
    return InlayStatusOk;
  });
}

InlayStatus inlaySessionWrite(InlaySession *session, size_t number, const InlayTensor *value) {
  return guardC([&]() -> InlayStatus {
    if (!session)
      return noSession();
    std::vector<TensorView> views;
    if (Status status = convert(value, 1, "value", views); !status.isOk())
      return toC(status);
    return toC(session->session->write(stateNumber(number), views[0]));
  });
}

InlayStatus inlaySessionRun(InlaySession *session, InlayProgram *program, const InlayTensor *inputs,
                            const InlayOwner *owners, size_t inputCount, InlayResult **results, size_t resultCount) {
  return run(program, session ? session->session.get() : nullptr, inputs, owners, inputCount, results, resultCount);
}
