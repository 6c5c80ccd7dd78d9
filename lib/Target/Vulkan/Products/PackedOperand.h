// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix of dequantized weights whose packed codes the kernel of a product reads.

#ifndef INLAY_LIB_TARGET_VULKAN_PRODUCTS_PACKEDOPERAND_H
#define INLAY_LIB_TARGET_VULKAN_PRODUCTS_PACKEDOPERAND_H

#include "inlay/Convert/LoopNest/TileEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <memory>
#include <optional>

namespace inlay {

/// Returns true if `buffer` is scratch memory, which is neither an argument nor a result of the segment.
bool isScratch(mlir::Value buffer);

/// The op of a `dequantize` for each scratch buffer that nothing else writes.
using Dequantizations = llvm::DenseMap<mlir::Value, mlir::linalg::GenericOp>;

/// Returns the dequantizations of a function on buffers.
Dequantizations findDequantizations(mlir::func::FuncOp func);

/// An input of a product that a `dequantize` computes. The kernel of the product unpacks codes in registers, so that
/// the floats need not be in memory. A *load* has the codes of `getWidth` consecutive elements along the last dim.
class PackedOperand {
public:
  /// Returns input `input` of `product`, or nullopt if no `dequantize` in `all` computes it. The codes, scales and
  /// offsets must be arguments of the segment, or scales from another such op. Emits flat buffers at the builder's
  /// position.
  static std::optional<PackedOperand> find(mlir::OpBuilder &builder, mlir::linalg::LinalgOp product, size_t input,
                                           const Dequantizations &all, KernelValues &values);

  size_t getInput() const { return input; }
  /// Returns the loop of the product along which loads go.
  int getLoop() const { return int(loops.back()); }
  /// Returns the buffer of the floats, which the kernel does not access.
  mlir::Value getMatrix() const { return node->op.getOutputs().front(); }
  /// Returns the buffers that the kernel reads instead.
  llvm::ArrayRef<mlir::Value> getBuffers() const { return buffers; }
  /// Returns the number of elements of a load: those in 16 or 4 bytes, or 1 if rows are not aligned or have short
  /// blocks.
  int64_t getWidth() const { return width; }

  /// The part of the matrix along which a lane loads: one index in all dims but the last.
  struct Row {
    llvm::SmallVector<mlir::Value> indices; ///< Index in each dim; null in the last one.
    mlir::Value start;                      ///< Of the first code in the flat buffer, in bytes.
    mlir::Value scale, offset;              ///< In f32, if the whole row has the same; else null.
  };
  /// The codes of a load, with the scales and offsets of their blocks.
  struct Load {
    mlir::Value element;                            ///< The only element, if the width is 1.
    llvm::SmallVector<mlir::Value> words;           ///< Codes, in order, as unsigned numbers.
    llvm::SmallVector<mlir::Value> scales, offsets; ///< In f32, one for each block.
  };

  /// Emits what all loads of a row share. `loops` has the index of each loop of the product; null for the reduction.
  Row startRow(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> loops) const;
  /// Emits the load whose first element is number `uniform + perLane + first` of the row. Each of these is a multiple
  /// of the width; `uniform` may be null.
  Load load(mlir::OpBuilder &builder, const Row &row, mlir::Value uniform, mlir::Value perLane, int64_t first) const;
  /// Returns elements [first, first + count) of the load as f32. If the matrix has elements of 16 bits, they are not
  /// rounded unless the width is 1.
  llvm::SmallVector<mlir::Value> unpack(mlir::OpBuilder &builder, const Load &load, int64_t first, int64_t count) const;

private:
  struct Node;
  /// The data that a load of a body reads: a buffer, or the result of another `dequantize`.
  struct Source {
    LinearBuffer buffer;
    std::shared_ptr<Node> node; ///< Null for a buffer.
  };
  /// The op of a `dequantize` and the sources of its loads.
  struct Node {
    mlir::linalg::GenericOp op;
    llvm::SmallVector<mlir::memref::LoadOp, 3> loads; ///< Of a code, a scale and perhaps an offset.
    llvm::SmallVector<Source, 3> sources;             ///< By load.
  };
  enum Part { Codes, Scales, Offsets };

  std::shared_ptr<Node> readNode(mlir::OpBuilder &builder, mlir::linalg::GenericOp op, const Dequantizations &all,
                                 KernelValues &values);
  bool readFormat();
  void chooseWidth();
  bool isAligned(int64_t bytes) const;
  bool hasOffsets() const { return node->loads.size() > Offsets; }
  bool hasIntegerOffsets() const;
  /// Returns the number of blocks in dim `dim`.
  int64_t countBlocks(Part part, size_t dim) const { return node->loads[part].getMemRefType().getDimSize(dim); }
  /// Returns true if the whole row has one scale or offset.
  bool isWhole(Part part) const { return countBlocks(part, rank() - 1) == 1; }
  int64_t rank() const { return block.size(); }
  /// Returns the amount by which a signed code is increased, so that it is an unsigned number.
  int64_t bias() const { return isSigned ? int64_t(1) << (bits - 1) : 0; }

  mlir::Value emitElement(mlir::OpBuilder &builder, const Source &source, llvm::ArrayRef<mlir::Value> indices) const;
  mlir::Value emitBody(mlir::OpBuilder &builder, const Node &from, llvm::ArrayRef<mlir::Value> indices) const;
  mlir::Value emitOfBlock(mlir::OpBuilder &builder, Part part, const Row &row, mlir::Value lastBlock) const;
  mlir::Value findBlock(mlir::OpBuilder &builder, mlir::Value uniform, mlir::Value perLane, int64_t first) const;

  size_t input = 0;
  llvm::SmallVector<unsigned> loops; ///< Loop of the product for each dim.
  std::shared_ptr<Node> node;
  llvm::SmallVector<mlir::Value> buffers;
  int64_t bits = 8;
  bool isSigned = false, hasMinima = false;
  llvm::SmallVector<int64_t> block; ///< Size of a block in each dim.
  int64_t width = 1, group = 1;     ///< Elements of a load, and consecutive ones of them that share a block.
};

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_PRODUCTS_PACKEDOPERAND_H
