// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the steps of a block of a product: all invocations of a workgroup copy a part of both operands to workgroup
// memory. The emitters of products by workgroups derive from it.

#ifndef INLAY_LIB_TARGET_VULKAN_BLOCKS_BLOCKEMITTER_H
#define INLAY_LIB_TARGET_VULKAN_BLOCKS_BLOCKEMITTER_H

#include "ProductBlock.h"
#include "Target/Vulkan/Products/ProductNeighbor.h"
#include "inlay/Convert/LoopNest/TileState.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace inlay {

/// The position of the block that a workgroup computes.
struct BlockPlace {
  llvm::SmallVector<mlir::Value> outer; ///< Index along each outer loop; null for other loops.
  mlir::Value row, column;              ///< First row and column of the block, counted along all row or column loops.
  mlir::Value invocation;               ///< Number of the invocation in the workgroup.
};

/// If the op of `emitter` adds up products in f32, returns the factors. Returns nullopt if it doesn't, or if an operand
/// is no buffer or the result is in the buffer of an input.
std::optional<std::pair<mlir::Value, mlir::Value>> findFactors(const TileEmitter &emitter);

/// Returns the loop along which a block reads four elements of input `input` together, or nullopt.
std::optional<size_t> findBlockVectors(const TileEmitter &emitter, const ProductLoops &loops, size_t input,
                                       mlir::Type element);

/// Returns the number of steps of a block, each with `depth` terms.
mlir::AffineExpr countBlockSteps(const TileEmitter &emitter, const ProductLoops &loops, int64_t depth);

/// Copies the operands of one block. A block may reach over the ends of all loops.
class BlockEmitter {
protected:
  using Access = TileEmitter::Access;
  using State = TileEmitter::State;

  /// Elements of a vector.
  static constexpr int64_t kWidth = 4;

  /// Four elements of an operand that an invocation copies in each step.
  struct Quad {
    mlir::Value isActive;                   ///< True if the invocation copies these elements. Null means always true.
    mlir::Value slot;                       ///< Index in workgroup memory of the vector, or of its first element.
    llvm::SmallVector<mlir::Value> starts;  ///< Index of each element in the buffer without the step; one for a vector.
    llvm::SmallVector<mlir::Value> depths;  ///< Index of the same elements along the inner loop, relative to the step.
    llvm::SmallVector<mlir::Value> insides; ///< True if the row or column of the element exists. Null: always true.
    /// Index of the same elements along each parallel loop that the operand has; null for others. Empty if the operand
    /// is in memory.
    std::vector<llvm::SmallVector<mlir::Value>> indices;
  };

  /// The part of an operand that one step needs, in workgroup memory.
  struct Part {
    size_t operand;
    bool readsTerms; ///< True if invocations read four terms together from the buffer, false if four rows or columns.
    bool keepsTerms; ///< True if terms are contiguous in workgroup memory, false if rows or columns are.
    bool hasVectors; ///< True if the buffer is read in vectors.
    const ProductInput *computed; ///< Computes the elements; null if they are in memory.
    int64_t pitch;                ///< Elements between lines in workgroup memory.
    int64_t slots;                ///< Elements of `memory` that a step needs.
    mlir::Value memory;
    std::vector<Quad> quads;
  };

  /// The layout of operands in workgroup memory.
  enum class Layout {
    AsRead, ///< Vectors, along the terms if they are contiguous in the buffer.
    Across, ///< Elements. Rows or columns are contiguous.
  };

  /// element: the type of the elements of both operands. buffers: the number of steps for which there is memory.
  BlockEmitter(TileEmitter &emitter, const ProductLoops &loops, const BlockSize &blockSize, const BlockPlace &place,
               const ProductFusion &fusion, mlir::Type element, Layout layout, int64_t buffers = 1);

  const Access &access(size_t operand) const { return emitter.getAccesses()[operand]; }
  const Access &output() const { return emitter.getAccesses().back(); }
  mlir::Value add(mlir::OpBuilder &b, mlir::Value lhs, mlir::Value rhs) {
    return lhs && rhs ? state.add(b, lhs, rhs) : lhs ? lhs : rhs;
  }
  mlir::Value addConstant(mlir::OpBuilder &b, mlir::Value value, int64_t number) {
    return number ? state.add(b, value, state.constant(b, number)) : value;
  }
  mlir::Value multiply(mlir::OpBuilder &b, mlir::Value value, int64_t by) {
    return by == 1 ? value : mlir::arith::MulIOp::create(b, loc, value, state.constant(b, by)).getResult();
  }
  mlir::Value divide(mlir::OpBuilder &b, mlir::Value value, int64_t by) {
    return mlir::arith::DivUIOp::create(b, loc, value, state.constant(b, by));
  }
  mlir::Value remainder(mlir::OpBuilder &b, mlir::Value value, int64_t by) {
    return mlir::arith::RemUIOp::create(b, loc, value, state.constant(b, by));
  }
  mlir::Value isBelow(mlir::OpBuilder &b, mlir::Value index, mlir::Value end) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ult, index, end);
  }
  mlir::Value both(mlir::OpBuilder &b, mlir::Value lhs, mlir::Value rhs) {
    return lhs && rhs ? mlir::arith::AndIOp::create(b, loc, lhs, rhs).getResult() : lhs ? lhs : rhs;
  }
  mlir::Value allocate(mlir::OpBuilder &b, int64_t count, mlir::Type type);

  mlir::Value count(mlir::OpBuilder &b, llvm::ArrayRef<size_t> loops);
  bool isWhole(llvm::ArrayRef<size_t> loops, int64_t block) const;
  llvm::SmallVector<mlir::Value> split(mlir::OpBuilder &b, llvm::ArrayRef<size_t> loops, mlir::Value number);
  mlir::Value offset(mlir::OpBuilder &b, const Access &access, llvm::ArrayRef<size_t> loops,
                     llvm::ArrayRef<mlir::Value> indices);
  mlir::Value outerOffset(mlir::OpBuilder &b, const Access &access);

  /// Allocates memory for both operands, the one with the rows first, and finds what each invocation copies.
  void makeParts(mlir::OpBuilder &b);
  mlir::Value countSteps(mlir::OpBuilder &b);
  /// Loads the vectors that the invocation copies in step `number`.
  llvm::SmallVector<mlir::Value> loadStep(mlir::OpBuilder &b, mlir::Value number);
  /// Stores the result of `loadStep` to workgroup memory. `buffer` is the number of the buffer; null if there is one.
  void storeStep(mlir::OpBuilder &b, mlir::ValueRange loaded, mlir::Value buffer = nullptr);
  /// Returns the index of a buffer in the memory of `part`; null for 0.
  mlir::Value bufferStart(mlir::OpBuilder &b, const Part &part, mlir::Value buffer);

  TileEmitter &emitter;
  const ProductLoops &loops;
  BlockSize blockSize;
  const BlockPlace &place;
  const ProductFusion &fusion;
  mlir::Type element;
  Layout layout;
  int64_t buffers;
  TileShape scalarTile;
  llvm::SmallVector<mlir::Value> base;
  State state;
  mlir::Location loc;
  mlir::Value rowCount, columnCount;
  llvm::SmallVector<Part, 2> parts;

private:
  /// The start of a step.
  struct Step {
    mlir::Value depth;                   ///< Index along the inner loop.
    llvm::SmallVector<mlir::Value> sums; ///< Index along each other reduction.
    llvm::SmallVector<mlir::Value> at;   ///< Offset of the step in each operand.
  };

  Part makePart(mlir::OpBuilder &b, bool isLhs);
  Quad makeQuad(mlir::OpBuilder &b, const Part &part, bool isLhs, mlir::Value number, mlir::Value isActive);
  mlir::Value countInnerSteps(mlir::OpBuilder &b);
  Step findStep(mlir::OpBuilder &b, mlir::Value number);
  bool hasWholeSteps() const;
  mlir::Value loadElements(mlir::OpBuilder &b, const Part &part, const Quad &quad, size_t number, const Step &step,
                           mlir::Value inside);
  mlir::Value loadQuad(mlir::OpBuilder &b, const Part &part, const Quad &quad, const Step &step);
};

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_BLOCKS_BLOCKEMITTER_H
