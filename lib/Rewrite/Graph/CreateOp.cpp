// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates ops with inferred types and moves uses to values of other types, with new types for the users.
// InferTypes.cpp infers, and PDL/Replacement.cpp decides what is created.

#include "inlay/Rewrite/CreateOp.h"
#include "InferTypes.h"
#include "inlay/Support/ToText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace inlay;

/// Runs `function` and stores the first diagnostic that this thread emits in `why`.
static LogicalResult withReason(MLIRContext *context, std::string &why, function_ref<LogicalResult()> function) {
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) -> LogicalResult {
    if (llvm::get_threadid() != thread)
      return failure();
    if (why.empty())
      why = diagnostic.str();
    return success();
  });
  return function();
}

/// Verifies `op` and the symbols that it uses, but not the ops in its regions.
static LogicalResult verifyAlone(Operation *op) {
  if (failed(verify(op, /*verifyRecursively=*/false)))
    return failure();
  SymbolTableCollection symbols;
  auto user = dyn_cast<SymbolUserOpInterface>(op);
  return user ? user.verifySymbolUses(symbols) : success();
}

Operation *inlay::createOp(RewriterBase &rewriter, OperationState &state, std::string &why) {
  Operation *op = nullptr;
  LogicalResult result = withReason(rewriter.getContext(), why, [&]() -> LogicalResult {
    if (auto info = state.name.getRegisteredInfo()) {
      auto emit = [&] { return mlir::emitError(state.location); };
      if (failed(info->verifyInherentAttrs(state.attributes, emit)))
        return failure();
    }
    if (state.types.empty() && failed(inferTypes(state, state.location)))
      return failure();
    op = rewriter.create(state);
    return verifyAlone(op);
  });
  if (succeeded(result))
    return op;
  if (op)
    rewriter.eraseOp(op);
  if (why.empty())
    why = "its definition refuses it";
  return nullptr;
}

/// Sets the result types of the enclosing function to the operand types of `terminator`.
static LogicalResult updateFunction(GraphRewriter &rewriter, func::ReturnOp terminator) {
  auto function = terminator->getParentOfType<func::FuncOp>();
  Operation *module = function ? function->getParentOp() : nullptr;
  if (!module || !llvm::hasSingleElement(function.getBody()))
    return failure();
  auto uses = SymbolTable::getSymbolUses(function.getSymNameAttr(), module);
  if (!uses || !uses->empty())
    return failure();
  rewriter.modifyOpInPlace(function, [&] {
    function.setFunctionType(
        FunctionType::get(function.getContext(), function.getArgumentTypes(), terminator.getOperandTypes()));
  });
  return success();
}

/// Infers the result types of `op` from its current operands. Sets `changed` to true if they differ from its old types.
/// Fails if the types cannot be inferred or `op` is then invalid.
static LogicalResult retype(GraphRewriter &rewriter, Operation *op, bool &changed) {
  if (auto terminator = dyn_cast<func::ReturnOp>(op))
    return updateFunction(rewriter, terminator);
  auto inference = dyn_cast<InferTypeOpInterface>(op);
  if (!inference)
    return verifyAlone(op);
  SmallVector<Type> types;
  if (failed(inference.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                        op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
                                        op->getRegions(), types)) ||
      types.size() != op->getNumResults())
    return failure();
  changed = TypeRange(types) != op->getResultTypes();
  if (changed)
    rewriter.modifyOpInPlace(op, [&] {
      for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
        result.setType(type);
    });
  return verifyAlone(op);
}

void inlay::moveUsesRetyped(GraphRewriter &rewriter, Value from, Value to, function_ref<bool(OpOperand &)> which) {
  if (from.getType() == to.getType())
    return rewriter.replaceUsesWithIf(from, to, [&](OpOperand &use) { return !which || which(use); });
  std::string types = "'" + toText(to.getType()) + "' for '" + toText(from.getType()) + "'";
  llvm::SetVector<Operation *> changed;
  for (OpOperand &use : llvm::make_early_inc_range(from.getUses())) {
    if (which && !which(use))
      continue;
    if (!isAvailable(to, use.getOwner()))
      return rewriter.refuse("expected a value that is defined before its use by '" +
                             use.getOwner()->getName().getStringRef() + "', but it is defined later");
    rewriter.getJournal().setOperand(use, to);
    changed.insert(use.getOwner());
  }
  // Users come after the ops that they use, so each op is visited a few times at most.
  while (!changed.empty()) {
    Operation *op = changed.front();
    changed.erase(changed.begin());
    bool others = false;
    std::string why;
    if (failed(withReason(op->getContext(), why, [&] { return retype(rewriter, op, others); })))
      return rewriter.refuse("'" + op->getName().getStringRef() + "' can't take " + types +
                             (why.empty() ? "" : ": " + why));
    if (others)
      for (Operation *user : op->getUsers())
        changed.insert(user);
  }
}
