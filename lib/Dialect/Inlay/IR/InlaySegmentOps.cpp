// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifies the ops that are no graph ops: constants, framework calls (`inlay.opaque`) with their effects, plugin ops
// and segments.

#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/IR/Builders.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace inlay;

MLIR_DEFINE_EXPLICIT_TYPE_ID(inlay::FrameworkState)

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===-- OpaqueOp ------------------------------------------------------------------------------------------------===//

static LogicalResult verifyOperandNumbers(OpaqueOp op, StringRef what, std::optional<ArrayRef<int64_t>> numbers) {
  llvm::SmallSet<int64_t, 4> seen;
  for (int64_t number : numbers.value_or(ArrayRef<int64_t>())) {
    if (number < 0 || number >= static_cast<int64_t>(op.getInputs().size()))
      return op.emitOpError("expected '")
             << what << "' to contain numbers of its " << op.getInputs().size() << " operands, but got " << number;
    if (!seen.insert(number).second)
      return op.emitOpError("expected '") << what << "' to name each operand once, but got " << number << " twice";
  }
  return success();
}

LogicalResult OpaqueOp::verify() {
  if (getName().empty())
    return emitOpError("expected the full name of a framework op, but got an empty string");
  if (failed(verifyOperandNumbers(*this, "writes", getWrites())) ||
      failed(verifyOperandNumbers(*this, "aliases", getAliases())))
    return failure();
  // Attributes without a dialect are errors, because a misspelled `writes` would lose an effect.
  for (NamedAttribute attribute : (*this)->getDiscardableAttrs())
    if (!attribute.getNameDialect())
      return emitOpError(
                 "expected attributes 'name', 'writes', 'aliases', 'call', 'in_order' or ones of a dialect, but got '")
             << attribute.getName().getValue() << "'";
  return success();
}

/// The op reads all operands. Allocating the results prevents CSE from merging two equal calls, such as two random
/// numbers.
void OpaqueOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &input : getInputsMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &input);
  for (OpResult output : getOutputs())
    effects.emplace_back(MemoryEffects::Allocate::get(), output);
  for (int64_t number : getWrites().value_or(ArrayRef<int64_t>()))
    effects.emplace_back(MemoryEffects::Write::get(), &getInputsMutable()[number]);
  if (getInOrder())
    effects.emplace_back(MemoryEffects::Write::get(), FrameworkState::get());
}

//===-- PluginOp ------------------------------------------------------------------------------------------------===//

LogicalResult PluginOp::verify() {
  if (getName().empty())
    return emitOpError("expected the name of a kernel, but got an empty string");
  return success();
}

//===-- SegmentOp -----------------------------------------------------------------------------------------------===//

LogicalResult SegmentOp::verify() {
  if (!isa<TargetAttrInterface>(getTarget()))
    return emitOpError("expected a target, but got ") << getTarget();
  Block &block = getBody().front();
  if (!llvm::equal(block.getArgumentTypes(), getInputs().getTypes()))
    return emitOpError("expected block arguments of the types of its inputs (")
           << getInputs().getTypes() << "), but got (" << block.getArgumentTypes() << ")";
  return success();
}

LogicalResult SegmentOp::verifyRegions() {
  Operation *yield = getBody().front().getTerminator();
  if (yield->getOperandTypes() != (*this)->getResultTypes()) {
    InFlightDiagnostic diag = emitOpError("expected to yield (")
                              << (*this)->getResultTypes() << "), but got (" << yield->getOperandTypes() << ")";
    diag.attachNote(yield->getLoc()) << "yielded here";
    return diag;
  }
  return success();
}

bool SegmentOp::isClosed() {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(getBody(), captured);
  return captured.empty();
}
