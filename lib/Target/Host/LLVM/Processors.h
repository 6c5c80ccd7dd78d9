// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processors that host code is made for: by name, with what code for one needs of the processor that runs it.

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
  std::string name;                  ///< as it was asked for: "native", "x86-64-v3", "armv8.2-a"
  llvm::Triple triple;               ///< what its code is for
  std::string cpu;                   ///< as LLVM takes it
  std::string tuning;                ///< the one that code is arranged for; empty: `cpu`
  std::string features;              ///< besides those of `cpu`, as LLVM takes them: "+lse,+rdm"
  std::vector<std::string> required; ///< of what runs the code, by LLVM's names, sorted: "avx2", "fma"
};

/// "native" is the processor that compiles, others are LLVM's names of processors of x86-64 and AArch64 and of versions
/// of these, whichever of them compiles. Emits an error for an unknown one.
mlir::FailureOr<HostProcessor> findProcessor(mlir::Location loc, llvm::StringRef name);

/// Those of several names, all of one architecture, each once, what needs most first; `native` if there are none.
mlir::FailureOr<std::vector<HostProcessor>> findProcessors(mlir::Location loc, llvm::ArrayRef<std::string> names);

/// A machine that generates position-independent code for it; fused multiply-adds are allowed. Null with an error.
std::unique_ptr<llvm::TargetMachine> createMachine(mlir::Location loc, const HostProcessor &processor);

/// The features that code generation uses by itself. Others, such as random numbers, only come of being called by name,
/// which host code does nowhere: code never needs them. Sorted.
llvm::ArrayRef<llvm::StringLiteral> selectedFeatures(const llvm::Triple &triple);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_LLVM_PROCESSORS_H
