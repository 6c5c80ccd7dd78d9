// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzz target: sequences of calls of inlay-c/runtime.h, compared with a model of it. The model knows which arguments
// are right, the results, and how often each owner is released.

#include "../Runtime/PlanBuilder.h"
#include "inlay-c/runtime.h"
#include "inlay/Runtime/Container/Container.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

using namespace inlay::rt;

static void expect(bool holds) {
  if (!holds)
    std::abort();
}

namespace {

constexpr int64_t kMaxRows = 16, kColumns = 4;

/// The file of a program with y = x of [rows x 4], and z = three constants.
class ProgramFile {
public:
  ProgramFile() {
    std::string name = (std::filesystem::temp_directory_path() / "inlay-fuzz-XXXXXX").string();
    expect(mkdtemp(name.data()) != nullptr);
    folder_ = name;
    test::PlanBuilder b;
    b.plan->symbols.push_back({"rows", 0, kMaxRows, 0, 0});
    uint32_t x = b.input("x", {Expr::dim(0, 0), Expr(kColumns)}), y = b.output("y", {Expr::dim(0, 0), Expr(kColumns)});
    b.copy(x, y);
    b.copy(b.constant("c", MemorySpace::Host, {5, 6, 7}), b.output("z", {Expr(3)}));
    expect(writeContainer(path(), *b.plan, {"{}", "{}"}).isOk());
  }
  ~ProgramFile() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/m.inlay"; }

private:
  std::string folder_;
};

/// A tensor in memory of its own, which may have one fault.
struct Argument {
  std::vector<float> data;
  std::vector<int64_t> dims;
  InlayElement element = InlayElementF32;
  bool hasData = true, hasDims = true;
  size_t rank = 0;

  InlayTensor view() { return {hasData ? data.data() : nullptr, element, rank, hasDims ? dims.data() : nullptr}; }
};

class Session {
public:
  Session(FuzzedDataProvider &data, const std::string &path) : data_(data), path_(path) {}
  ~Session() {
    for (InlayProgram *program : programs_)
      inlayProgramClose(program);
    checkResults();
    for (Result &result : results_)
      inlayResultFree(result.handle);
  }

  void step() {
    switch (data_.ConsumeIntegralInRange<int>(0, 9)) {
    case 0:
      return open();
    case 1:
      inlayProgramClose(take(programs_));
      return;
    case 2:
      return describe();
    case 3:
      return outputDims();
    case 4:
    case 5:
      return call();
    case 6:
    case 7:
      return run();
    case 8:
      return freeResult();
    default:
      return names();
    }
  }

private:
  struct Result {
    InlayResult *handle;
    std::vector<float> expected;
  };

  /// Returns an open program, or null.
  InlayProgram *pick() {
    return programs_.empty() || data_.ConsumeIntegralInRange<int>(0, 15) == 0
               ? nullptr
               : programs_[data_.ConsumeIntegralInRange<size_t>(0, programs_.size() - 1)];
  }

  template <typename T>
  T take(std::vector<T> &list) {
    if (list.empty())
      return {};
    auto place = list.begin() + data_.ConsumeIntegralInRange<ptrdiff_t>(0, static_cast<ptrdiff_t>(list.size()) - 1);
    T taken = *place;
    list.erase(place);
    return taken;
  }

  /// Checks the status of a call that is right or wrong.
  static void expectStatus(InlayStatus status, bool isRight) {
    expect((status == InlayStatusOk) == isRight);
    expect(isRight || (status != InlayStatusInternal && *inlayLastError()));
  }

  void open() {
    InlayOpenOptions options = inlayOpenOptions();
    std::string device = data_.PickValueInArray<const char *>({"", "none", "0"});
    options.device = device.c_str();
    options.withoutRecovery = data_.ConsumeBool();
    bool isRight = true;
    if (data_.ConsumeIntegralInRange<int>(0, 7) == 0) {
      options.size = data_.ConsumeIntegralInRange<size_t>(0, 2 * sizeof(options));
      isRight = options.size >= sizeof(size_t) && options.size <= sizeof(options) && options.size % sizeof(void *) == 0;
    }
    const char *path = path_.c_str();
    if (int fault = data_.ConsumeIntegralInRange<int>(0, 9); fault < 3) {
      path = std::array<const char *, 3>{nullptr, "", "/nowhere/m.inlay"}[static_cast<size_t>(fault)];
      isRight = false;
    }
    bool hasPlace = data_.ConsumeIntegralInRange<int>(0, 15) != 0, hasOptions = data_.ConsumeBool();
    if (!hasOptions)
      isRight = path == path_.c_str();
    InlayProgram *program = nullptr;
    expectStatus(inlayProgramOpen(path, hasOptions ? &options : nullptr, hasPlace ? &program : nullptr),
                 isRight && hasPlace);
    expect((program != nullptr) == (isRight && hasPlace));
    if (program)
      programs_.push_back(program);
  }

  void describe() {
    InlayProgram *program = pick();
    size_t number = data_.ConsumeIntegralInRange<size_t>(0, 3);
    InlayTensorInfo info{};
    bool hasInfo = data_.ConsumeBool();
    expect(inlayProgramInputCount(program) == (program ? 1u : 0u));
    expect(inlayProgramOutputCount(program) == (program ? 2u : 0u));
    expectStatus(inlayProgramInput(program, number, hasInfo ? &info : nullptr), program && hasInfo && number < 1);
    bool isRight = program && hasInfo && number < 2;
    expectStatus(inlayProgramOutput(program, number, hasInfo ? &info : nullptr), isRight);
    if (isRight)
      expect(std::string(info.name) == (number ? "z" : "y") && info.rank == (number ? 1 : 2) &&
             info.dims[0] == (number ? 3 : -1) && info.element == InlayElementF32);
    expect(std::string(inlayProgramReport(program)) == (program ? "{}" : ""));
    expect(std::string(inlayProgramMetadata(program)) == (program ? "{}" : ""));
    expect(!*inlayProgramDevice(program));
    if (data_.ConsumeBool())
      expectStatus(inlayProgramWait(program), program != nullptr);
  }

  /// Returns a tensor of these dims. Adds a fault to it at times, and then sets `isRight` to false.
  Argument makeArgument(std::vector<int64_t> dims, bool &isRight) {
    Argument argument;
    size_t count = 1;
    for (int64_t dim : dims)
      count *= static_cast<size_t>(dim);
    argument.data.resize(std::max<size_t>(count, 1));
    for (float &number : argument.data)
      number = static_cast<float>(next_++);
    argument.dims = std::move(dims);
    argument.rank = argument.dims.size();
    if (data_.ConsumeIntegralInRange<int>(0, 7) != 0)
      return argument;
    switch (data_.ConsumeIntegralInRange<int>(0, 4)) {
    case 0:
      argument.element = static_cast<InlayElement>(data_.ConsumeIntegral<int>());
      isRight = isRight && argument.element == InlayElementF32;
      break;
    case 1:
      argument.hasData = false;
      isRight = isRight && count == 0;
      break;
    case 2:
      argument.hasDims = false;
      isRight = false;
      break;
    case 3:
      argument.rank = data_.ConsumeBool() ? 0 : SIZE_MAX;
      isRight = false;
      break;
    default:
      argument.dims[0] = data_.ConsumeBool() ? -1 : kMaxRows + 1 + data_.ConsumeIntegralInRange<int64_t>(0, 9);
      isRight = false;
    }
    return argument;
  }

  /// Makes the input of a call. Its count may be wrong.
  Argument makeInput(bool &isRight, size_t &count) {
    rows_ = data_.ConsumeIntegralInRange<int64_t>(0, kMaxRows);
    count = data_.ConsumeIntegralInRange<int>(0, 15) == 0 ? 0 : 1;
    isRight = isRight && count == 1;
    return makeArgument({rows_, kColumns}, isRight);
  }

  void outputDims() {
    InlayProgram *program = pick();
    bool ignored = true;
    size_t count = 0, rank = 0, number = data_.ConsumeIntegralInRange<size_t>(0, 2);
    Argument input = makeInput(ignored, count); // its data isn't read, and its element type isn't compared
    bool isRight = program && number < 2 && count == 1 && inlayElementSize(input.element) != 0 && input.hasDims &&
                   input.rank == 2 && input.dims[0] == rows_;
    int64_t dims[2] = {-7, -7};
    size_t capacity = data_.ConsumeIntegralInRange<size_t>(0, 2);
    InlayTensor view = input.view();
    expectStatus(inlayProgramOutputDims(program, &view, count, number, dims, capacity, &rank), isRight);
    if (!isRight)
      return;
    expect(rank == (number ? 1 : 2));
    expect(capacity < 1 ? dims[0] == -7 : dims[0] == (number ? 3 : rows_));
    expect(capacity < 2 || number ? dims[1] == -7 : dims[1] == kColumns);
  }

  void call() {
    InlayProgram *program = pick();
    bool isRight = program != nullptr;
    size_t count = 0;
    Argument input = makeInput(isRight, count);
    Argument y = makeArgument({rows_, kColumns}, isRight), z = makeArgument({3}, isRight);
    InlayTensor in = input.view(), out[] = {y.view(), z.view()};
    size_t results = data_.ConsumeIntegralInRange<int>(0, 15) == 0 ? 1 : 2;
    isRight = isRight && results == 2;
    std::vector<float> before = y.data;
    expectStatus(inlayProgramCall(program, &in, count, out, results), isRight);
    expect(y.data == (isRight && rows_ > 0 ? input.data : before));
    if (isRight)
      expect(z.data == kConstant);
  }

  void run() {
    InlayProgram *program = pick();
    bool isRight = program != nullptr, hasOwners = data_.ConsumeBool(), hasOwner = data_.ConsumeBool();
    size_t count = 0;
    Argument input = makeInput(isRight, count);
    InlayTensor in = input.view();
    int released = 0;
    InlayOwner owner{&released, nullptr};
    if (hasOwner)
      owner.release = [](void *object) { ++*static_cast<int *>(object); };
    InlayResult *results[3] = {nullptr, nullptr, nullptr};
    std::fill_n(results, 2, reinterpret_cast<InlayResult *>(this)); // any pointer
    size_t room = data_.ConsumeIntegralInRange<int>(0, 15) == 0 ? data_.ConsumeIntegralInRange<size_t>(0, 2) : 2;
    isRight = isRight && room == 2;
    expectStatus(inlayProgramRun(program, &in, hasOwners ? &owner : nullptr, count, results, room), isRight);
    expect(released == (hasOwners && hasOwner && count == 1 ? 1 : 0));
    for (size_t i = 0; i < room; ++i)
      expect((results[i] != nullptr) == isRight);
    if (!isRight)
      return;
    input.data.resize(static_cast<size_t>(rows_ * kColumns));
    results_.push_back({results[0], input.data});
    results_.push_back({results[1], kConstant});
  }

  void checkResults() const {
    for (const Result &result : results_) {
      InlayTensor tensor = inlayResultTensor(result.handle);
      int64_t count = 1;
      for (size_t i = 0; i < tensor.rank; ++i)
        count *= tensor.dims[i];
      expect(count == static_cast<int64_t>(result.expected.size()));
      expect(std::equal(result.expected.begin(), result.expected.end(), static_cast<const float *>(tensor.data)));
    }
  }

  void freeResult() {
    checkResults();
    inlayResultFree(take(results_).handle);
  }

  void names() {
    auto element = static_cast<InlayElement>(data_.ConsumeIntegralInRange<int>(-3, 12));
    bool isRight = element >= InlayElementBool && element <= InlayElementF64;
    expect((inlayElementName(element) != nullptr) == isRight && (inlayElementSize(element) != 0) == isRight);
    expect(inlayRuntimeAbi() == INLAY_RUNTIME_ABI && inlayResultTensor(nullptr).data == nullptr);
  }

  const std::vector<float> kConstant = {5, 6, 7};
  FuzzedDataProvider &data_;
  const std::string &path_;
  std::vector<InlayProgram *> programs_;
  std::vector<Result> results_;
  int64_t rows_ = 0;
  int next_ = 100;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static ProgramFile file;
  static const std::string path = file.path();
  FuzzedDataProvider data(bytes, size);
  Session session(data, path);
  while (data.remaining_bytes() > 0)
    session.step();
  return 0;
}
