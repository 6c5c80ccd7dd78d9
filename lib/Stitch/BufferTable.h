// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which buffers of a program hold each value of the function that it is made from.

#ifndef INLAY_LIB_STITCH_BUFFERTABLE_H
#define INLAY_LIB_STITCH_BUFFERTABLE_H

#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace inlay {

/// Declares buffers, and adds the copies that bring a value to the memory where it is wanted, once for each place that
/// runs whenever the copy does: what a branch copies is a copy there alone, and what a loop doesn't change is copied
/// before it.
class BufferTable {
public:
  /// For a program without steps; new ones go to its end.
  BufferTable(mlir::func::FuncOp func, plan::ProgramOp program);

  /// Steps are added here.
  mlir::OpBuilder &steps() { return builder; }

  /// Steps go to `body` of `step` from now on, until `leave`. What is known of values there is forgotten then.
  void enter(mlir::Operation *step, mlir::Region &body, bool isLoop);
  void leave();

  /// The number of the segment whose steps are added; null for none.
  void setSegment(mlir::Attribute number) { segment = number; }

  /// Checks that a buffer can hold the value; `op` and `what` are for the error.
  mlir::LogicalResult check(mlir::Operation *op, mlir::Value value, const llvm::Twine &what);
  mlir::LogicalResult checkAll(mlir::Operation *op, mlir::ValueRange values, llvm::StringRef what);
  /// Checks that sizes are of the program's symbols.
  mlir::LogicalResult checkSymbols(mlir::Operation *op, llvm::ArrayRef<mlir::AffineExpr> sizes,
                                   const llvm::Twine &what);

  /// The memory's argument or result, by number.
  mlir::Value declareInput(mlir::BlockArgument argument);
  mlir::Value declareOutput(mlir::OpOperand &result);
  /// A new buffer that nothing is in yet; `value` says of what type it is.
  mlir::Value declareTemporary(mlir::Value value, plan::Space space);
  /// A new buffer of bytes in host memory.
  mlir::Value declareBytes(mlir::Location loc, mlir::AffineExpr count, const llvm::Twine &name);

  /// The buffer that holds `value` in `space`, copying it there where it is not.
  mlir::Value get(mlir::Value value, plan::Space space);
  /// The same of a constant that the device has in another order of its dims, unless `order` is null or empty; null if
  /// it is no constant.
  mlir::Value getInOrder(mlir::Value value, mlir::DenseI64ArrayAttr order);
  llvm::SmallVector<mlir::Value> getAll(mlir::ValueRange values, plan::Space space);
  /// The buffer that `value` is in already in some memory, `preferred` if in both.
  mlir::Value getAnywhere(mlir::Value value, plan::Space preferred);
  /// Null if it is in none.
  mlir::Value findAnywhere(mlir::Value value) const;

  /// The buffer that a step in `space` is to write `value` to: where it is wanted, or a new one.
  mlir::Value define(mlir::Value value, plan::Space space);
  llvm::SmallVector<mlir::Value> defineAll(mlir::ValueRange values, plan::Space space);
  /// Says that `value` is in `buffer`.
  void set(mlir::Value value, mlir::Value buffer);

  /// Asks for `value`, which no step has made yet, to be made in `buffer` if it is made in that memory at all.
  void request(mlir::Value value, mlir::Value buffer) { requests.try_emplace(value, buffer); }
  mlir::Value findRequest(mlir::Value value) const { return requests.lookup(value); }
  void dropRequest(mlir::Value value) { requests.erase(value); }

  /// Adds a copy, unless both are one buffer.
  void copy(mlir::Location loc, mlir::Value from, mlir::Value to, mlir::Attribute number);

  /// The segment that made a value.
  mlir::Attribute getMaker(mlir::Value value) const { return makers.lookup(value); }
  mlir::Attribute getSegment() const { return segment; }
  void mark(mlir::Operation *step, mlir::Attribute number) const;

private:
  struct Scope {
    mlir::Operation *step; ///< whose body it is; null for the program
    bool isLoop;
    mlir::OpBuilder::InsertPoint outer; ///< where steps went before
    llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> buffers;
  };

  /// A builder for declarations, which come before all steps of the program that use them.
  mlir::OpBuilder declarations();
  plan::BufferType getType(mlir::Value value, plan::Space space);
  mlir::Value getConstant(mlir::Value value, mlir::ElementsAttr attribute, plan::Space space,
                          mlir::DenseI64ArrayAttr order = nullptr);
  /// The innermost scope in which `value` is known to be in `space`, and the buffer; null if there is none.
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

/// The space of a buffer.
inline plan::Space getSpace(mlir::Value buffer) { return llvm::cast<plan::BufferType>(buffer.getType()).getSpace(); }

} // namespace inlay

#endif // INLAY_LIB_STITCH_BUFFERTABLE_H
