// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fixture for tests of library kernels: both libraries, random numbers, comparison.

#ifndef INLAY_UNITTESTS_RUNTIME_HOST_KERNELFIXTURE_H
#define INLAY_UNITTESTS_RUNTIME_HOST_KERNELFIXTURE_H

#include "Runtime/Host/Kernels/HostKernelLibrary.h"
#include "Runtime/Host/Support/ThreadPool.h"
#include "inlay/Runtime/Host/HostKernelLoader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace inlay::rt::host {

/// A spatial dim of a convolution.
struct Window {
  int64_t input, output, kernel, stride, dilation, padding;

  void appendTo(std::vector<int64_t> &sizes) const {
    sizes.insert(sizes.end(), {input, output, kernel, stride, dilation, padding});
  }
};

inline std::unique_ptr<HostKernels> loadKernel(const HostKernel &kernel, SequentialLibrary &library) {
  HostFunction function;
  function.kernels = {kernel};
  auto kernels = makeHostKernels(function, library);
  EXPECT_TRUE(kernels.isOk()) << kernels.status().message();
  return kernels.isOk() ? std::move(*kernels) : nullptr;
}

/// Runs each test with the built-in library and with the plug-in, if it is installed.
class KernelTest : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    if (GetParam() && !hasHostLibrary())
      GTEST_SKIP() << "no library: " << describeHostLibrary();
  }

  SequentialLibrary &library() { return GetParam() ? **hostKernelLibrary() : portableLibrary(); }

  std::unique_ptr<HostKernels> load(const HostKernel &kernel) { return loadKernel(kernel, library()); }

  int64_t pick(int64_t min, int64_t max) { return std::uniform_int_distribution<int64_t>(min, max)(random); }
  bool flip() { return pick(0, 1) == 1; }

  std::vector<float> numbers(int64_t count) {
    std::vector<float> made(static_cast<size_t>(count));
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float &number : made)
      number = uniform(random);
    return made;
  }

  std::mt19937 random{12345};
};

/// Returns success if each value is within `tolerance` of the expected one, absolutely or relatively.
inline testing::AssertionResult isClose(const std::vector<float> &got, const std::vector<double> &wanted,
                                        double tolerance) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    bool isSame = std::isnan(wanted[i]) ? std::isnan(got[i]) : static_cast<double>(got[i]) == wanted[i];
    double error = std::abs(static_cast<double>(got[i]) - wanted[i]);
    if (!isSame && !(error <= tolerance * std::max(1.0, std::abs(wanted[i]))))
      return testing::AssertionFailure() << "expected " << wanted[i] << " at " << i << ", but got " << got[i];
  }
  return testing::AssertionSuccess();
}

/// Evaluates a post-op by its definition.
inline double evaluatePostOp(const PostOp &op, double x, double operand) {
  switch (op.kind) {
  case PostOpKind::Relu:
    return x < 0 ? 0 : x;
  case PostOpKind::Clip:
    return x < op.low ? op.low : x > op.high ? op.high : x;
  case PostOpKind::Gelu:
    return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
  case PostOpKind::GeluTanh:
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
  case PostOpKind::Silu:
    return x / (1 + std::exp(-x));
  case PostOpKind::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case PostOpKind::Tanh:
    return std::tanh(x);
  case PostOpKind::HardSwish:
    return x * std::min(std::max(x + 3, 0.0), 6.0) / 6;
  case PostOpKind::HardSigmoid:
    return std::min(std::max(x + 3, 0.0), 6.0) / 6;
  case PostOpKind::Add:
  case PostOpKind::AddChannels:
    return x + operand;
  case PostOpKind::Mul:
  case PostOpKind::MulChannels:
    return x * operand;
  }
  return x;
}

} // namespace inlay::rt::host

#endif // INLAY_UNITTESTS_RUNTIME_HOST_KERNELFIXTURE_H
