// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles kernels with the driver of a GPU that the machine lacks: Mesa's RADV with a null device, behind the layer in
// tools/gpu-layer.

#ifndef TOOLS_INLAY_BENCH_GPUCOMPILERS_COMPILER_H
#define TOOLS_INLAY_BENCH_GPUCOMPILERS_COMPILER_H

#include "Cases.h"
#include "KernelFigures.h"

namespace inlay::bench {

/// A chip that a null device of RADV can stand for.
struct Chip {
  const char *name;      ///< Mesa's name.
  const char *olderName; ///< The name in Mesa before 23, or null if it is the same.
};

/// Returns the chips, oldest first.
llvm::ArrayRef<Chip> listChips();

struct GpuCompiler {
  std::string driver; ///< RADV's manifest.
  std::string layer;  ///< Folder of the layer and its manifest.
};

/// Returns the name by which the driver knows `chip`. The status is Unavailable if it does not know the chip.
rt::StatusOr<std::string> findFamily(const Chip &chip, const GpuCompiler &compiler);

/// The kernels of all cases on one chip, in the order of the cases and of their dispatches.
struct ChipFigures {
  std::string driver; ///< Name and version of the driver.
  std::vector<KernelFigures> kernels;
};

/// Compiles the kernels of `cases` for `chip`, which the driver knows as `family`, in a child process. Cases that the
/// device cannot run have no kernels. If `assemblies` is not empty, the assembly of each kernel is written to a file in
/// that folder.
rt::StatusOr<ChipFigures> compileFor(const Chip &chip, const std::string &family, llvm::ArrayRef<Case> cases,
                                     const GpuCompiler &compiler, llvm::StringRef assemblies);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_GPUCOMPILERS_COMPILER_H
