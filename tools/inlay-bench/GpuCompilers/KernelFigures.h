// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The figures of a kernel on a chip, and their comparison with a baseline. One table lists the figures, with their
// names and the direction in which they improve.

#ifndef TOOLS_INLAY_BENCH_GPUCOMPILERS_KERNELFIGURES_H
#define TOOLS_INLAY_BENCH_GPUCOMPILERS_KERNELFIGURES_H

#include "Isa.h"

#include "inlay/Runtime/Core/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace inlay::bench {

struct KernelFigures {
  std::string chip;
  std::string kernel; ///< Name of the case, and the number of the dispatch in its program.

  int64_t workgroups = 0, invocations = 0; ///< Size of the dispatch, and of a workgroup.
  int64_t subgroup = 0;                    ///< Lanes of a subgroup.
  int64_t vectorRegisters = 0, scalarRegisters = 0;
  int64_t spills = 0;       ///< Registers that do not fit, vector and scalar ones.
  int64_t scratchBytes = 0; ///< Private memory of an invocation.
  int64_t sharedBytes = 0;  ///< Workgroup memory.
  int64_t subgroupsPerSimd = 0;
  IsaCounts loop;

  /// Returns the part of the loop's vector instructions that are fused multiply-adds.
  double fmaShare() const;
  /// Returns the bytes that the loop loads per float operation.
  double bytesPerMath() const;
};

/// Returns the names of all figures in the order of a table.
std::vector<std::string> listFigureNames();

llvm::json::Object toJson(const KernelFigures &figures);

/// Reads what `toJson` wrote. Missing figures are an error that names the kernel and the figure.
rt::StatusOr<KernelFigures> readFigures(const llvm::json::Object &object);

/// Returns a sentence for each figure of `found` that is worse than in `baseline`, and for each kernel that only one of
/// them has. Only chips that `found` has are compared.
std::vector<std::string> findRegressions(llvm::ArrayRef<KernelFigures> baseline, llvm::ArrayRef<KernelFigures> found);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_GPUCOMPILERS_KERNELFIGURES_H
