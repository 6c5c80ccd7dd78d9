// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a list or tuple that is an argument of the function enters an accelerator: what it holds is taken out before all
// segments, crosses the border as tensors and scalars, and is made a list again inside.

#ifndef INLAY_LIB_PARTITION_DECIDE_ARGUMENTUNPACKING_H
#define INLAY_LIB_PARTITION_DECIDE_ARGUMENTUNPACKING_H

#include "Partition/Analysis/Aliases.h"
#include "Targets.h"

#include "mlir/IR/Builders.h"

namespace inlay {

/// The types of what the argument holds. Nothing if `value` is no function's argument; if it isn't known how many it
/// holds, which a tuple's type says, and `inlay.length` of a list; if some can't cross a border; or if that would be
/// too much work: more than 256 for several readers.
std::optional<llvm::SmallVector<mlir::Type>> findUnpackedTypes(mlir::Value value);

/// Which arguments may enter which targets. The answers are kept.
class ArgumentTargets {
public:
  ArgumentTargets(TargetList &targets, const Aliases &aliases) : targets(targets), aliases(aliases) {}

  /// The accelerators that can make `value`, whose type may not cross a border, a list or tuple again; none if somebody
  /// changes it or what it holds.
  TargetSet findEnterableTargets(mlir::Value value);

private:
  TargetList &targets;
  const Aliases &aliases;
  llvm::DenseMap<mlir::Value, TargetSet> entered;
};

/// What the argument holds, for which `findUnpackedTypes` has an answer: results of one op at the start of `block`,
/// which is there already or made. It is in no segment of that block.
mlir::ValueRange unpackArgument(mlir::Value argument, mlir::Block &block);

/// Makes of `elements` what `argument` is; the op is marked as a copy.
mlir::Value repackArgument(mlir::OpBuilder &builder, mlir::Value argument, mlir::ValueRange elements);

/// The op that takes an argument apart, and one that puts it together again.
bool isUnpacking(mlir::Operation *op);
bool isRepacking(mlir::Operation *op);

/// Undoes both in a function without segments.
void removeUnpacking(mlir::Operation *function);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_ARGUMENTUNPACKING_H
