// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists and tuples that are arguments of the function and that accelerators read. The elements are taken out before all
// segments, cross the border as tensors and scalars, and are repacked in the segment.

#ifndef INLAY_LIB_PARTITION_DECIDE_ARGUMENTUNPACKING_H
#define INLAY_LIB_PARTITION_DECIDE_ARGUMENTUNPACKING_H

#include "Partition/Analysis/Aliases.h"
#include "Targets.h"

#include "mlir/IR/Builders.h"

namespace inlay {

/// Returns the types of the elements of the argument. Returns std::nullopt if `value` is not an argument of a function,
/// if the number of elements is unknown (a tuple's type and a list's `inlay.length` give it), if an element cannot
/// cross a border, or if there are several readers and more than 256 elements, which would take too much work.
std::optional<llvm::SmallVector<mlir::Type>> findUnpackedTypes(mlir::Value value);

/// Finds the targets that an argument may enter. Answers are cached.
class ArgumentTargets {
public:
  ArgumentTargets(TargetList &targets, const Aliases &aliases) : targets(targets), aliases(aliases) {}

  /// Returns the accelerators that can repack `value`, whose type may not cross a border. Returns no target if an op
  /// changes the value or its elements.
  TargetSet findEnterableTargets(mlir::Value value);

private:
  TargetList &targets;
  const Aliases &aliases;
  llvm::DenseMap<mlir::Value, TargetSet> entered;
};

/// Returns the elements of the argument, for which `findUnpackedTypes` must have an answer. They are results of one op
/// at the start of `block`, which is created if needed. This op is in no segment of the block.
mlir::ValueRange unpackArgument(mlir::Value argument, mlir::Block &block);

/// Repacks `elements` into a value like `argument`. The op is marked as a clone.
mlir::Value repackArgument(mlir::OpBuilder &builder, mlir::Value argument, mlir::ValueRange elements);

/// Returns true if the op unpacks an argument, or repacks one.
bool isUnpacking(mlir::Operation *op);
bool isRepacking(mlir::Operation *op);

/// Removes unpacking and repacking ops from a function without segments.
void removeUnpacking(mlir::Operation *function);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_ARGUMENTUNPACKING_H
