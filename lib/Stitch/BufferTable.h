// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tracks the buffers of a program that contain each value of the source function.

#ifndef INLAY_LIB_STITCH_BUFFERTABLE_H
#define INLAY_LIB_STITCH_BUFFERTABLE_H

#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace inlay {

/// Declares buffers and adds the copies that bring a value to the memory in which it is needed. A copy is reused by
/// steps that run only if the copy runs. A copy in a branch is therefore used only in that branch, and a value that a
/// loop does not change is copied before the loop.
class BufferTable {
public:
  /// Creates a table for a program without steps. New steps are added at its end.
  BufferTable(mlir::func::FuncOp func, plan::ProgramOp program);

  /// Returns the builder that adds steps.
  mlir::OpBuilder &steps() { return builder; }

  /// Makes new steps go into `body` of `step`. `leave` returns to the body around it and forgets the buffers that were
  /// recorded in `body`.
  void enter(mlir::Operation *step, mlir::Region &body, bool isLoop);
  void leave();

  /// Sets the number of the segment that new steps belong to; null for none.
  void setSegment(mlir::Attribute number) { segment = number; }

  /// Checks that a buffer can contain the value. `op` and `what` are for the error message.
  mlir::LogicalResult check(mlir::Operation *op, mlir::Value value, const llvm::Twine &what);
  mlir::LogicalResult checkAll(mlir::Operation *op, mlir::ValueRange values, llvm::StringRef what);
  /// Checks that sizes use only symbols of the program.
  mlir::LogicalResult checkSymbols(mlir::Operation *op, llvm::ArrayRef<mlir::AffineExpr> sizes,
                                   const llvm::Twine &what);

  /// Declares the buffer of an argument (result) of the function.
  mlir::Value declareInput(mlir::BlockArgument argument);
  mlir::Value declareOutput(mlir::OpOperand &result);
  /// Declares the buffer of an argument that is state `number`.
  mlir::Value declareState(mlir::BlockArgument argument, unsigned number, plan::Space space);
  /// Declares an empty buffer of the type of `value`.
  mlir::Value declareTemporary(mlir::Value value, plan::Space space);
  /// Declares an empty buffer of bytes in host memory.
  mlir::Value declareBytes(mlir::Location loc, mlir::AffineExpr count, const llvm::Twine &name);

  /// Returns the buffer of `value` in `space`. Adds a copy if it is not there yet.
  mlir::Value get(mlir::Value value, plan::Space space);
  /// Returns the buffer in device memory of `value`, a constant, with its dims in the order `order`. Returns null if
  /// `value` is not a constant. If `order` is null or empty, returns the same as `get`.
  mlir::Value getInOrder(mlir::Value value, mlir::DenseI64ArrayAttr order);
  llvm::SmallVector<mlir::Value> getAll(mlir::ValueRange values, plan::Space space);
  /// Returns a buffer that already contains `value`, in `preferred` if it is in both memories.
  mlir::Value getAnywhere(mlir::Value value, plan::Space preferred);
  /// Returns a buffer that contains `value`, or null if there is none.
  mlir::Value findAnywhere(mlir::Value value) const;

  /// Returns the buffer to which a step in `space` writes `value`: the requested one or a new one.
  mlir::Value define(mlir::Value value, plan::Space space);
  llvm::SmallVector<mlir::Value> defineAll(mlir::ValueRange values, plan::Space space);
  /// Records that `buffer` contains `value`.
  void set(mlir::Value value, mlir::Value buffer);

  /// Requests that the step that computes `value` writes it to `buffer`. The request is ignored if that step writes to
  /// the other memory.
  void request(mlir::Value value, mlir::Value buffer) { requests.try_emplace(value, buffer); }
  mlir::Value findRequest(mlir::Value value) const { return requests.lookup(value); }
  void dropRequest(mlir::Value value) { requests.erase(value); }

  /// Adds a copy, unless both are the same buffer.
  void copy(mlir::Location loc, mlir::Value from, mlir::Value to, mlir::Attribute number);

  /// Returns the segment that computed `value`.
  mlir::Attribute getMaker(mlir::Value value) const { return makers.lookup(value); }
  mlir::Attribute getSegment() const { return segment; }
  /// Records that `step` belongs to segment `number`, unless `number` is null.
  void mark(mlir::Operation *step, mlir::Attribute number) const;

private:
  struct Scope {
    mlir::Operation *step; ///< Step that the body belongs to; null for the program.
    bool isLoop;
    mlir::OpBuilder::InsertPoint outer; ///< Previous insertion point.
    llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> buffers;
  };

  /// Returns a builder for declarations, which precede all steps of the program that use them.
  mlir::OpBuilder declarations();
  plan::BufferType getType(mlir::Value value, plan::Space space);
  mlir::Value getConstant(mlir::Value value, mlir::ElementsAttr attribute, plan::Space space,
                          mlir::DenseI64ArrayAttr order = nullptr);
  /// Returns the innermost scope in which `value` has a buffer in `space`, and the buffer. The buffer is null if there
  /// is none.
  std::pair<unsigned, mlir::Value> find(mlir::Value value, plan::Space space) const;

  mlir::func::FuncOp func;
  plan::ProgramOp program;
  mlir::OpBuilder builder;
  llvm::SmallVector<SymbolAttr> symbols;
  mlir::Attribute segment;
  llvm::SmallVector<Scope> scopes;
  llvm::DenseMap<mlir::Value, mlir::Attribute> makers;
  llvm::DenseMap<mlir::Value, mlir::Value> requests;
  llvm::DenseMap<std::tuple<mlir::Attribute, unsigned, mlir::Attribute>, mlir::Value> constants;
};

/// Returns the memory of a buffer.
inline plan::Space getSpace(mlir::Value buffer) { return llvm::cast<plan::BufferType>(buffer.getType()).getSpace(); }

} // namespace inlay

#endif // INLAY_LIB_STITCH_BUFFERTABLE_H
