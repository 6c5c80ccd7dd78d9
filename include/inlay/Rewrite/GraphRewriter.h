// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewriter that patterns change a graph through. It is upstream's, with three things added: every change can be
// undone, what would break the graph is refused with a message, and the arguments of the run are at hand.

#ifndef INLAY_REWRITE_GRAPHREWRITER_H
#define INLAY_REWRITE_GRAPHREWRITER_H

#include "inlay/Rewrite/Journal.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"

#include <optional>
#include <string>
#include <thread>

namespace inlay {

class GraphRewriter : public mlir::PatternRewriter, private mlir::RewriterBase::Listener {
public:
  explicit GraphRewriter(mlir::MLIRContext *context, mlir::DictionaryAttr args = {});

  /// `observer` hears of each change as an upstream listener does; null for none.
  void setObserver(mlir::RewriterBase::Listener *listener) { observer = listener; }

  Journal &getJournal() { return journal; }

  /// Takes everything back that was done since `mark`; the observer hears which ops are gone again.
  void undoTo(Journal::Mark mark);

  /// The arguments of the run; null attribute if there is none of that name.
  mlir::DictionaryAttr getArgs() const { return args; }
  mlir::Attribute getArg(llvm::StringRef name) const { return args ? args.get(name) : mlir::Attribute(); }

  /// Says why the rewrite can't be done; the first reason counts. The caller fails, and the rewrite is undone.
  void refuse(const llvm::Twine &why);
  bool hasError() const { return !error.empty(); }
  std::string takeError() { return std::exchange(error, {}); }

  /// Runs `function` and keeps the first diagnostic of this thread in `why`.
  mlir::LogicalResult withReason(std::string &why, llvm::function_ref<mlir::LogicalResult()> function);

  /// Moves the uses of `from` to `to`, which must be of the same type and be there wherever `from` is used.
  void replaceAllUsesWith(mlir::Value from, mlir::Value to) override;
  using RewriterBase::replaceAllUsesWith;
  void replaceUsesWithIf(mlir::Value from, mlir::Value to, mlir::function_ref<bool(mlir::OpOperand &)> functor,
                         bool *allUsesReplaced = nullptr) override;
  using RewriterBase::replaceUsesWithIf;
  void replaceOp(mlir::Operation *op, mlir::ValueRange values) override;
  void replaceOp(mlir::Operation *op, mlir::Operation *by) override { replaceOp(op, by->getResults()); }

  /// Erases an op whose results have no uses.
  void eraseOp(mlir::Operation *op) override;
  void eraseBlock(mlir::Block *block) override;
  void startOpModification(mlir::Operation *op) override { journal.modifying(op); }

  /// As `replaceOp`, without the checks: for values whose types and place the caller knows to be right.
  void replaceChecked(mlir::Operation *op, mlir::ValueRange values);

private:
  void notifyOperationInserted(mlir::Operation *op, InsertPoint previous) override;
  void notifyBlockInserted(mlir::Block *block, mlir::Region *previous, mlir::Region::iterator place) override;
  void notifyOperationModified(mlir::Operation *op) override;

  bool mayReplace(mlir::Value from, mlir::Value to, mlir::function_ref<bool(mlir::OpOperand &)> which);
  void moveUses(mlir::Value from, mlir::Value to, mlir::function_ref<bool(mlir::OpOperand &)> which);

  mlir::DictionaryAttr args;
  mlir::RewriterBase::Listener *observer = nullptr;
  Journal journal;
  std::string error;
  // Stays from the first call on, for it takes longer to come and go than most functions take.
  std::optional<mlir::ScopedDiagnosticHandler> handler;
  std::string *reason = nullptr; ///< where the handler puts what it hears; null where it doesn't listen
  std::thread::id thread;        ///< that it listens to
};

/// As Operation::use_empty, for the many ops that have one result.
inline bool isUnused(mlir::Operation *op) {
  return op->getNumResults() == 1 ? op->getResult(0).use_empty() : op->use_empty();
}

/// True if `value` is there where `user` is: defined before it in its block or in one around it.
bool isAvailable(mlir::Value value, mlir::Operation *user);

} // namespace inlay

#endif // INLAY_REWRITE_GRAPHREWRITER_H
