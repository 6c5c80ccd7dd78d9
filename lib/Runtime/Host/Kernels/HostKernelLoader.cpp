// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the kernels of a host function over a library and runs loops on the thread pool. It also has the
// deterministic mode (`INLAY_DETERMINISTIC`). HostKernelLibrary.cpp chooses the library.

#include "inlay/Runtime/Host/HostKernelLoader.h"
#include "HostKernelLibrary.h"
#include "LibraryKernel.h"
#include "Runtime/Host/Portable/PortableConvolution.h"
#include "Runtime/Host/Portable/PortableGemm.h"
#include "Runtime/Host/Portable/PostOps.h"
#include "Runtime/Host/Support/ThreadPool.h"
#include "TaskSizes.h"
#include "inlay/Runtime/Core/LazyStatic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace inlay::rt::host {

/// Number of elements below which other threads would join a loop too late to help, and number of elements per chunk.
static constexpr int64_t kMinElements = 32768, kChunkElements = 8192;
static constexpr int64_t kChunksPerThread = 4;

/// Returns the value of INLAY_DETERMINISTIC. It is read once.
static const StatusOr<bool> &environmentSaysDeterministic() {
  static LazyStatic<StatusOr<bool>> says;
  return says.get([]() -> StatusOr<bool> {
    const char *text = std::getenv("INLAY_DETERMINISTIC");
    std::string_view value = text ? text : "";
    if (value.empty() || value == "0" || value == "1")
      return value == "1";
    return Status(StatusCode::InvalidArgument,
                  fmt::format("expected INLAY_DETERMINISTIC to be 0 or 1, but got '{}'", value));
  });
}

static std::atomic<bool> &deterministicFlag() {
  static LazyStatic<std::atomic<bool>> flag;
  return flag.get([] { return environmentSaysDeterministic().isOk() && *environmentSaysDeterministic(); });
}

void setDeterministic(bool isDeterministic) { deterministicFlag() = isDeterministic; }
bool isDeterministic() { return deterministicFlag(); }

int64_t threadsToPlanFor() {
  constexpr int64_t kFixed = 8;
  return isDeterministic() ? kFixed : ThreadPool::get().threads();
}

int64_t chooseChunk(int64_t tasks, double work) {
  auto least = static_cast<int64_t>(kMinWork / std::max(work, 1.0)) + 1;
  return std::max(tasks / (threadsToPlanFor() * kTasksPerThread), least);
}

Status checkProduct(const HostKernel &kernel, std::string_view what, size_t least, size_t most) {
  size_t operands = countOperands(kernel);
  if (kernel.buffers < least + operands || kernel.buffers > most + operands || operands > kMaxPostOperands)
    return {StatusCode::InvalidArgument,
            fmt::format("kernel '{}': expected {} of {} to {} buffers, with at most {} for post-ops, but got {}",
                        kernel.name, what, least + operands, most + operands, kMaxPostOperands, kernel.buffers)};
  for (const PostOp &op : kernel.postOps)
    if (isPerChannel(op.kind))
      return {StatusCode::InvalidArgument,
              fmt::format("kernel '{}': {} has no post-op '{}'", kernel.name, what, name(op.kind))};
  return Status::ok();
}

StatusOr<std::shared_ptr<Gemm>> makeGemm(SequentialLibrary &library, const GemmShape &shape) {
  StatusOr<std::shared_ptr<Gemm>> made = library.makeGemm(shape);
  if (!made.isOk() || *made)
    return made;
  return makePortableGemm(shape);
}

StatusOr<std::shared_ptr<ConvolutionPrimitive>> makeConvolutionPrimitive(SequentialLibrary &library,
                                                                         const ConvolutionShape &shape) {
  StatusOr<std::shared_ptr<ConvolutionPrimitive>> made = library.makeConvolution(shape);
  if (!made.isOk() || *made)
    return made;
  return makePortableConvolution(shape);
}

bool isConstant(const HostKernel &kernel, uint32_t buffer) {
  return std::find(kernel.constants.begin(), kernel.constants.end(), buffer) != kernel.constants.end();
}

namespace {
class Kernels : public HostKernels {
public:
  explicit Kernels(const HostFunction &function) : description(function.kernels), kernels(function.kernels.size()) {}

  Status run(uint32_t kernel, InlayHostBody body, void *const *buffers, int64_t count, int64_t cost) override;
  Status call(uint32_t kernel, void *const *buffers, const int64_t *sizes) override;
  void forgetConstants() override;

  std::vector<HostKernel> description;
  std::vector<std::unique_ptr<LibraryKernel>> kernels; ///< Null for loops.
};

class Loader : public HostKernelLoader {
public:
  StatusOr<std::unique_ptr<HostKernels>> load(const HostFunction &function) override {
    INLAY_RETURN_IF_ERROR(ThreadPool::get().status());
    INLAY_RETURN_IF_ERROR(environmentSaysDeterministic().status());
    StatusOr<SequentialLibrary *> library = hostKernelLibrary();
    if (!library.isOk())
      return library.status();
    return makeHostKernels(function, **library);
  }
};
} // namespace

Status Kernels::run(uint32_t, InlayHostBody body, void *const *buffers, int64_t count, int64_t cost) {
  cost = std::max<int64_t>(cost, 1);
  int64_t threads = ThreadPool::get().threads();
  if (threads == 1 || count <= 1 || count < kMinElements / cost) {
    if (count > 0)
      body(buffers, 0, count);
    return Status::ok();
  }
  int64_t chunk = std::max(count / (threads * kChunksPerThread), kChunkElements / cost);
  return ThreadPool::get().run(count, chunk, [&](int64_t begin, int64_t end) { body(buffers, begin, end); });
}

Status Kernels::call(uint32_t kernel, void *const *buffers, const int64_t *sizes) {
  if (kernel >= kernels.size() || !kernels[kernel])
    return {StatusCode::InvalidArgument,
            fmt::format("expected the number of a library kernel, below {}, but got {}", kernels.size(), kernel)};
  Status status = kernels[kernel]->call(buffers, sizes);
  if (status.isOk())
    return status;
  std::string prefix = fmt::format("kernel '{}': ", description[kernel].name);
  if (status.message().compare(0, prefix.size(), prefix) == 0)
    return status;
  return {status.code(), prefix + status.message()};
}

void Kernels::forgetConstants() {
  for (const std::unique_ptr<LibraryKernel> &kernel : kernels)
    if (kernel)
      kernel->forgetConstants();
}

static StatusOr<std::unique_ptr<LibraryKernel>> makeKernel(const HostKernel &kernel, SequentialLibrary &library) {
  switch (kernel.kind) {
  case HostKernelKind::Loops:
    return std::unique_ptr<LibraryKernel>();
  case HostKernelKind::Contraction:
    return makeContraction(kernel, library);
  case HostKernelKind::Convolution:
    return makeConvolution(kernel, library);
  case HostKernelKind::Attention:
    return makeAttention(kernel, library);
  case HostKernelKind::QuantizedProduct:
    return makeQuantizedProduct(kernel, library);
  case HostKernelKind::IntegerProduct:
    return makeIntegerProduct(kernel);
  }
  return Status(StatusCode::InvalidArgument, fmt::format("kernel '{}' has a kind that is not known", kernel.name));
}

StatusOr<std::unique_ptr<HostKernels>> makeHostKernels(const HostFunction &function, SequentialLibrary &library) {
  auto kernels = std::make_unique<Kernels>(function);
  for (size_t i = 0; i < function.kernels.size(); ++i) {
    for (uint32_t constant : function.kernels[i].constants)
      if (constant >= function.kernels[i].buffers)
        return Status(StatusCode::InvalidArgument,
                      fmt::format("kernel '{}': expected constants to be numbers of its {} buffers, but got {}",
                                  function.kernels[i].name, function.kernels[i].buffers, constant));
    StatusOr<std::unique_ptr<LibraryKernel>> made = makeKernel(function.kernels[i], library);
    if (!made.isOk())
      return made.status();
    kernels->kernels[i] = std::move(*made);
  }
  return std::unique_ptr<HostKernels>(std::move(kernels));
}

std::shared_ptr<HostKernelLoader> getHostKernelLoader() {
  static LazyStatic<std::shared_ptr<HostKernelLoader>> loader;
  return loader.get([] { return std::make_shared<Loader>(); });
}

bool hasHostLibrary() {
  StatusOr<SequentialLibrary *> library = hostKernelLibrary();
  return library.isOk() && *library != &portableLibrary();
}

std::string describeHostLibrary() {
  StatusOr<SequentialLibrary *> library = hostKernelLibrary();
  return library.isOk() ? (*library)->describe() : library.status().message();
}

} // namespace inlay::rt::host
