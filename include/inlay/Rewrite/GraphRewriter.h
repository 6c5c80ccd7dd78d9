// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewriter through which patterns change a graph. It extends MLIR's PatternRewriter in three ways: every change can
// be undone, a change that would make the graph invalid is refused with a message, and patterns can read the arguments
// of the run.

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

  /// Sets a listener that is notified of each change, as MLIR notifies a rewriter's listener. Null for none.
  void setObserver(mlir::RewriterBase::Listener *listener) { observer = listener; }

  Journal &getJournal() { return journal; }

  /// Undoes all changes since `mark`. The observer is notified of the ops that disappear.
  void undoTo(Journal::Mark mark);

  /// Returns the arguments of the run; may be null. `getArg` returns null if there is no argument of that name.
  mlir::DictionaryAttr getArgs() const { return args; }
  mlir::Attribute getArg(llvm::StringRef name) const { return args ? args.get(name) : mlir::Attribute(); }

  /// Records why the rewrite is impossible. Only the first reason counts. The caller then fails, and the rewrite is
  /// undone.
  void refuse(const llvm::Twine &why);
  bool hasError() const { return !error.empty(); }
  std::string takeError() { return std::exchange(error, {}); }

  /// Runs `function` and stores the first diagnostic that this thread emits in `why`.
  mlir::LogicalResult withReason(std::string &why, llvm::function_ref<mlir::LogicalResult()> function);

  /// Moves the uses of `from` to `to`. Both must have the same type, and `to` must be available at each use of `from`.
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

  /// Replaces `op` like `replaceOp`, but without checks. The caller guarantees that the types match and that the values
  /// are available at all uses.
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
  // Registered by the first call of `withReason` and kept, because registering a handler takes longer than most of the
  // functions that run under it.
  std::optional<mlir::ScopedDiagnosticHandler> handler;
  std::string *reason = nullptr; ///< Destination of the handler's text; null while it does not listen.
  std::thread::id thread;        ///< Thread whose diagnostics the handler reads.
};

/// Returns true if no result of `op` has a use. Faster than Operation::use_empty for ops with one result, which are the
/// most frequent.
inline bool isUnused(mlir::Operation *op) {
  return op->getNumResults() == 1 ? op->getResult(0).use_empty() : op->use_empty();
}

/// Returns true if `value` is available at `user`: it is defined before `user` in the same block or in an enclosing
/// one, or in a block that dominates that of `user`.
bool isAvailable(mlir::Value value, mlir::Operation *user);

} // namespace inlay

#endif // INLAY_REWRITE_GRAPHREWRITER_H
