// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processors for which host code is compiled, by name, with the features that the code needs at run time.

#ifndef INLAY_LIB_TARGET_HOST_LLVM_PROCESSORS_H
#define INLAY_LIB_TARGET_HOST_LLVM_PROCESSORS_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/TargetParser/Triple.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace inlay {

struct HostProcessor {
  std::string name;                  ///< Name as requested: "native", "x86-64-v3", "armv8.2-a".
  llvm::Triple triple;               ///< Target triple of the code.
  std::string cpu;                   ///< CPU name for LLVM.
  std::string tuning;                ///< CPU for which the code is tuned; empty for `cpu`.
  std::string features;              ///< Features besides those of `cpu`, in LLVM's syntax: "+lse,+rdm".
  std::vector<std::string> required; ///< Sorted LLVM names of features that the code needs: "avx2", "fma".
};

/// Finds a processor by name. "native" is the processor that runs the compiler. Other names are LLVM's names of
/// processors and architecture versions of x86-64 and AArch64, which any machine can compile for. Emits an error at
/// `loc` if the name is unknown.
mlir::FailureOr<HostProcessor> findProcessor(mlir::Location loc, llvm::StringRef name);

/// Finds several processors, without duplicates, the one with the most features first. All must have the same
/// architecture. No names mean `native`. Emits an error at `loc` on failure.
mlir::FailureOr<std::vector<HostProcessor>> findProcessors(mlir::Location loc, llvm::ArrayRef<std::string> names);

/// Creates a machine that generates position-independent code for `processor`. Fused multiply-adds are allowed. Returns
/// null after an error at `loc` if LLVM has no such machine.
std::unique_ptr<llvm::TargetMachine> createMachine(mlir::Location loc, const HostProcessor &processor);

/// Returns the sorted names of the features that code generation uses on its own. Other features, such as random
/// numbers, need explicit calls, which host code never contains.
llvm::ArrayRef<llvm::StringLiteral> selectedFeatures(const llvm::Triple &triple);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_LLVM_PROCESSORS_H
