// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graphs whose kernels are compiled: one for each class of kernels.

#ifndef TOOLS_INLAY_BENCH_GPUCOMPILERS_CASES_H
#define TOOLS_INLAY_BENCH_GPUCOMPILERS_CASES_H

#include <cstddef>
#include <string>
#include <vector>

namespace inlay::bench {

struct Case {
  /// A constant that the text names, and its size in bytes.
  struct Constant {
    std::string key;
    size_t size;
  };

  std::string name;
  std::string text; ///< The module.
  std::vector<Constant> constants;
};

/// Returns all cases. Products, convolutions and norms have constant weights.
std::vector<Case> makeCases();

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_GPUCOMPILERS_CASES_H
