// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads dequantized weights from their packed codes inside of the kernel of a product. DotProductEmitter.cpp emits the
// product. A `dequantize` that no product reads this way is a launch of its own, like any generic.

#include "PackedOperand.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <numeric>

using namespace mlir;
using namespace inlay;

static constexpr int64_t kWordBits = 32, kWordBytes = 4;

//===-- Finding -------------------------------------------------------------------------------------------------===//

/// Returns the structured ops that access `buffer` through any view, or nullopt if other ops use it.
static std::optional<SmallVector<linalg::LinalgOp>> findAccesses(Value buffer) {
  SmallVector<linalg::LinalgOp> found;
  SmallVector<Value> views{buffer};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        views.push_back(user->getResult(0));
      else if (auto op = user->getParentOfType<linalg::LinalgOp>()) // The body loads from the buffer.
        found.push_back(op);
      else if (auto op = dyn_cast<linalg::LinalgOp>(user))
        found.push_back(op);
      else
        return std::nullopt;
    }
  return found;
}

static bool writes(linalg::LinalgOp op, Value buffer) {
  return llvm::any_of(op.getDpsInits(), [&](Value init) { return findRoot(init) == buffer; });
}

/// Returns the function that `buffer` is an argument of, or null.
static func::FuncOp findFunction(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  return argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
}

bool inlay::isScratch(Value buffer) {
  Value root = findRoot(buffer);
  func::FuncOp func = findFunction(root);
  auto arguments = func ? func->getAttrOfType<IntegerAttr>(plan::kArgumentsAttr) : IntegerAttr();
  return arguments && cast<BlockArgument>(root).getArgNumber() >= arguments.getInt();
}

Dequantizations inlay::findDequantizations(func::FuncOp func) {
  Dequantizations found;
  if (func.isDeclaration())
    return found;
  for (Value buffer : llvm::make_filter_range(func.getArguments(), isScratch)) {
    std::optional<SmallVector<linalg::LinalgOp>> accesses = findAccesses(buffer);
    if (!accesses)
      continue;
    llvm::erase_if(*accesses, [&](linalg::LinalgOp op) { return !writes(op, buffer); });
    auto op = accesses->size() == 1 ? dyn_cast<linalg::GenericOp>(accesses->front().getOperation()) : nullptr;
    if (op && op->hasAttr(plan::kDequantizeAttr) && op.getOutputs().front() == buffer)
      found[buffer] = op;
  }
  return found;
}

/// Returns true if ops only read `buffer`, through any view. Some may be in launches already.
static bool isOnlyRead(Value buffer) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return isOnlyRead(user->getResult(0));
    auto op = dyn_cast<linalg::LinalgOp>(user);
    return op ? !llvm::is_contained(op.getDpsInits(), buffer) : isa<memref::LoadOp, vector::LoadOp>(user);
  });
}

/// Returns true if `buffer` has the same contents during the whole function.
static bool isConstant(Value buffer) { return findFunction(buffer) && !isScratch(buffer) && isOnlyRead(buffer); }

static bool isStatic(const LinearBuffer &buffer) {
  return isa<AffineConstantExpr>(buffer.offset) && llvm::all_of(buffer.strides, llvm::IsaPred<AffineConstantExpr>);
}

static int64_t getNumber(AffineExpr expr) { return cast<AffineConstantExpr>(expr).getValue(); }

std::shared_ptr<PackedOperand::Node> PackedOperand::readNode(OpBuilder &builder, linalg::GenericOp op,
                                                             const Dequantizations &all, KernelValues &values) {
  auto read = std::make_shared<Node>();
  read->op = op;
  for (auto load : op.getBody()->getOps<memref::LoadOp>()) {
    Value memref = load.getMemRef();
    read->loads.push_back(load);
    Source &source = read->sources.emplace_back();
    if (linalg::GenericOp nested = all.lookup(memref)) {
      source.node = readNode(builder, nested, all, values);
      if (!source.node)
        return nullptr;
      continue;
    }
    if (!isConstant(findRoot(memref)))
      return nullptr;
    FailureOr<LinearBuffer> flat = flattenBuffer(builder, op.getLoc(), memref, values.roots);
    if (failed(flat) || !isStatic(*flat))
      return nullptr;
    source.buffer = *flat;
    buffers.push_back(findRoot(memref));
  }
  return read;
}

/// Reads the attribute of the op. Returns false if the body does not have the loads of a code, a scale and perhaps an
/// offset, for example because two of them were merged.
bool PackedOperand::readFormat() {
  auto format = node->op->getAttrOfType<DictionaryAttr>(plan::kDequantizeAttr);
  auto code = format ? format.getAs<StringAttr>("code") : StringAttr();
  auto blocks = format ? format.getAs<DenseI64ArrayAttr>("block") : DenseI64ArrayAttr();
  if (!code || !blocks || node->loads.size() < 2 || node->loads.size() > 3 || node->sources[Codes].node)
    return false;
  bits = code.getValue().back() - '0';
  isSigned = code.getValue().front() == 'i';
  hasMinima = format.contains("minima");
  block.assign(blocks.asArrayRef().begin(), blocks.asArrayRef().end());
  return (!hasMinima || hasOffsets()) && llvm::all_of(node->loads, [&](memref::LoadOp load) {
           return load.getMemRefType().getRank() == rank() && load.getMemRefType().hasStaticShape();
         });
}

bool PackedOperand::hasIntegerOffsets() const {
  return hasOffsets() && node->loads[Offsets].getMemRefType().getElementType().isInteger(8);
}

/// Returns true if all rows of codes start and end at multiples of `bytes`, and no other load reads their buffer.
bool PackedOperand::isAligned(int64_t bytes) const {
  const LinearBuffer &flat = node->sources[Codes].buffer;
  ArrayRef<int64_t> shape = node->loads[Codes].getMemRefType().getShape();
  int64_t codes = node->op.getStaticLoopRanges().back();
  int64_t size = cast<MemRefType>(flat.memref.getType()).getNumElements();
  if (llvm::count(buffers, findRoot(node->loads[Codes].getMemRef())) != 1 || size % bytes ||
      codes * bits % (8 * bytes) || getNumber(flat.offset) % bytes || getNumber(flat.strides.back()) != 1)
    return false;
  return llvm::all_of(llvm::zip_equal(shape.drop_back(), ArrayRef(flat.strides).drop_back()),
                      [&](auto dim) { return std::get<0>(dim) == 1 || getNumber(std::get<1>(dim)) % bytes == 0; });
}

void PackedOperand::chooseWidth() {
  constexpr int64_t kMinGroup = 4; // With fewer, reading scales would take longer than reading codes one by one.
  for (int64_t bytes : {4 * kWordBytes, kWordBytes}) {
    int64_t codes = bytes * 8 / bits;
    group = std::gcd(block.back(), codes);
    if (isWhole(Scales) && (!hasOffsets() || isWhole(Offsets)))
      group = codes;
    width = codes;
    if (group >= kMinGroup && isAligned(bytes))
      return;
  }
  width = group = 1;
}

std::optional<PackedOperand> PackedOperand::find(OpBuilder &builder, linalg::LinalgOp product, size_t input,
                                                 const Dequantizations &all, KernelValues &values) {
  linalg::GenericOp op = all.lookup(product.getDpsInputs()[input]);
  AffineMap map = op ? product.getMatchingIndexingMap(product.getDpsInputOperand(input)) : AffineMap();
  if (!op || !map.isProjectedPermutation())
    return std::nullopt;
  PackedOperand found;
  found.input = input;
  for (AffineExpr result : map.getResults())
    found.loops.push_back(cast<AffineDimExpr>(result).getPosition());
  found.node = found.readNode(builder, op, all, values);
  if (!found.node || !found.readFormat())
    return std::nullopt;
  found.chooseWidth();
  return found;
}

//===-- Elements ------------------------------------------------------------------------------------------------===//

/// Divides a multiple of `divisor`.
static Value divideExactly(OpBuilder &b, Location loc, Value value, int64_t divisor) {
  if (divisor == 1)
    return value;
  auto constant = [&](int64_t number) { return arith::ConstantIndexOp::create(b, loc, number); };
  auto product = value.getDefiningOp<arith::MulIOp>();
  std::optional<int64_t> factor = product ? getConstantIntValue(product.getRhs()) : std::nullopt;
  if (!factor || *factor % divisor)
    return arith::DivUIOp::create(b, loc, value, constant(divisor));
  return *factor == divisor ? product.getLhs()
                            : arith::MulIOp::create(b, loc, product.getLhs(), constant(*factor / divisor)).getResult();
}

/// Returns the sum of two numbers, of which either may be null.
static Value add(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  return lhs && rhs ? arith::AddIOp::create(b, loc, lhs, rhs).getResult() : lhs ? lhs : rhs;
}

/// Returns the index of the element at `indices`, of which some may be null, in a flat buffer.
static Value findElement(OpBuilder &b, Location loc, const LinearBuffer &buffer, ArrayRef<Value> indices) {
  auto constant = [&](int64_t number) { return arith::ConstantIndexOp::create(b, loc, number); };
  Value sum;
  for (auto [index, expr] : llvm::zip_equal(indices, buffer.strides)) {
    int64_t stride = getNumber(expr);
    if (!index || getConstantIntValue(index) == 0)
      continue;
    Value term = stride == 1 ? index : arith::MulIOp::create(b, loc, index, constant(stride)).getResult();
    sum = add(b, loc, sum, term);
  }
  if (int64_t offset = getNumber(buffer.offset); offset || !sum)
    sum = add(b, loc, sum, constant(offset));
  return sum;
}

Value PackedOperand::emitElement(OpBuilder &b, const Source &source, ArrayRef<Value> indices) const {
  if (source.node)
    return emitBody(b, *source.node, indices);
  Location loc = node->op.getLoc();
  return memref::LoadOp::create(b, loc, source.buffer.memref, findElement(b, loc, source.buffer, indices));
}

/// Emits the body of a `dequantize` for the element at `indices`.
Value PackedOperand::emitBody(OpBuilder &b, const Node &from, ArrayRef<Value> indices) const {
  IRMapping mapping;
  linalg::GenericOp op = from.op;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(), indices[index.getDim()]);
    } else if (auto load = dyn_cast<memref::LoadOp>(inner)) {
      SmallVector<Value> at =
          llvm::map_to_vector(load.getIndices(), [&](Value index) { return mapping.lookupOrDefault(index); });
      size_t number = std::distance(from.loads.begin(), llvm::find(from.loads, load));
      mapping.map(load.getResult(), emitElement(b, from.sources[number], at));
    } else {
      b.clone(inner, mapping);
    }
  }
  return mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
}

//===-- Loads ---------------------------------------------------------------------------------------------------===//

/// Emits the scale or the offset of a block of the row, as f32. Integer offsets are relative to codes plus `bias`.
Value PackedOperand::emitOfBlock(OpBuilder &b, Part part, const Row &row, Value lastBlock) const {
  Location loc = node->op.getLoc();
  SmallVector<Value> indices;
  for (int64_t dim = 0; dim < rank(); ++dim) {
    if (countBlocks(part, dim) == 1)
      indices.push_back(arith::ConstantIndexOp::create(b, loc, 0));
    else if (dim == rank() - 1)
      indices.push_back(lastBlock);
    else
      indices.push_back(block[dim] == 1 ? row.indices[dim]
                                        : arith::DivUIOp::create(b, loc, row.indices[dim],
                                                                 arith::ConstantIndexOp::create(b, loc, block[dim]))
                                              .getResult());
  }
  Value value = emitElement(b, node->sources[part], indices);
  if (value.getType().isF32())
    return value;
  if (!value.getType().isInteger(8))
    return arith::ExtFOp::create(b, loc, b.getF32Type(), value);
  Value word = isSigned ? arith::ExtSIOp::create(b, loc, b.getI32Type(), value).getResult()
                        : arith::ExtUIOp::create(b, loc, b.getI32Type(), value).getResult();
  if (isSigned)
    word = arith::AddIOp::create(b, loc, word, arith::ConstantIntOp::create(b, loc, bias(), kWordBits));
  return arith::SIToFPOp::create(b, loc, b.getF32Type(), word);
}

/// Returns the number of the block of element `uniform + perLane + first`. Divides term by term where that is exact,
/// because all lanes share the first term and the second one may be the same in all iterations.
Value PackedOperand::findBlock(OpBuilder &b, Value uniform, Value perLane, int64_t first) const {
  Location loc = node->op.getLoc();
  int64_t length = block.back();
  auto constant = [&](int64_t number) { return arith::ConstantIndexOp::create(b, loc, number); };
  if (width % length == 0) { // Loads have whole blocks.
    Value shared = uniform ? divideExactly(b, loc, uniform, length) : Value();
    Value sum = add(b, loc, shared, divideExactly(b, loc, perLane, length));
    return first == 0 ? sum : add(b, loc, sum, constant(first / length));
  }
  Value element = add(b, loc, uniform, perLane);
  if (first)
    element = add(b, loc, element, constant(first));
  return arith::DivUIOp::create(b, loc, element, constant(length));
}

PackedOperand::Row PackedOperand::startRow(OpBuilder &b, ArrayRef<Value> loopIndices) const {
  Row row;
  for (unsigned loop : loops)
    row.indices.push_back(loopIndices[loop]);
  if (width == 1)
    return row;
  row.start = findElement(b, node->op.getLoc(), node->sources[Codes].buffer, row.indices);
  if (isWhole(Scales))
    row.scale = emitOfBlock(b, Scales, row, nullptr);
  if (hasOffsets() && isWhole(Offsets))
    row.offset = emitOfBlock(b, Offsets, row, nullptr);
  return row;
}

PackedOperand::Load PackedOperand::load(OpBuilder &b, const Row &row, Value uniform, Value perLane,
                                        int64_t first) const {
  Location loc = node->op.getLoc();
  auto constant = [&](int64_t number) { return arith::ConstantIndexOp::create(b, loc, number); };
  Load load;
  if (width == 1) {
    SmallVector<Value> indices(row.indices);
    indices.back() = add(b, loc, uniform, perLane);
    if (first)
      indices.back() = add(b, loc, indices.back(), constant(first));
    load.element = emitBody(b, *node, indices);
    if (!load.element.getType().isF32())
      load.element = arith::ExtFOp::create(b, loc, b.getF32Type(), load.element);
    return load;
  }
  int64_t perByte = 8 / bits, bytes = width / perByte, words = bytes / kWordBytes;
  Value at = uniform ? add(b, loc, row.start, divideExactly(b, loc, uniform, perByte)) : row.start;
  at = add(b, loc, at, divideExactly(b, loc, perLane, perByte));
  if (first)
    at = add(b, loc, at, constant(first / perByte));
  auto bytesType = VectorType::get({bytes}, b.getI8Type()), wordsType = VectorType::get({words}, b.getI32Type());
  Value loaded = vector::LoadOp::create(b, loc, bytesType, node->sources[Codes].buffer.memref, at);
  loaded = vector::BitCastOp::create(b, loc, wordsType, loaded);
  // The highest bit of a signed code is inverted, so that its bits are an unsigned number: the code plus `bias`.
  int64_t inverted = 0;
  for (int64_t shift = 0; shift < kWordBits; shift += bits)
    inverted |= bias() << shift;
  for (int64_t word = 0; word < words; ++word) {
    Value codes = vector::ExtractOp::create(b, loc, loaded, word);
    if (inverted)
      codes = arith::XOrIOp::create(b, loc, codes, arith::ConstantIntOp::create(b, loc, int32_t(inverted), kWordBits));
    load.words.push_back(codes);
  }
  for (int64_t from = 0; from < width; from += group) {
    Value number = row.scale && (row.offset || !hasOffsets()) ? Value() : findBlock(b, uniform, perLane, first + from);
    load.scales.push_back(row.scale ? row.scale : emitOfBlock(b, Scales, row, number));
    if (hasOffsets())
      load.offsets.push_back(row.offset ? row.offset : emitOfBlock(b, Offsets, row, number));
  }
  return load;
}

SmallVector<Value> PackedOperand::unpack(OpBuilder &b, const Load &load, int64_t first, int64_t count) const {
  if (width == 1)
    return {load.element};
  Location loc = node->op.getLoc();
  auto word = [&](int64_t value) { return arith::ConstantIntOp::create(b, loc, value, kWordBits); };
  Value excess = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(float(bias())));
  SmallVector<Value> elements;
  for (int64_t element = first; element < first + count; ++element) {
    Value packed = load.words[element * bits / kWordBits];
    int64_t shift = element * bits % kWordBits;
    if (shift)
      packed = arith::ShRUIOp::create(b, loc, packed, word(shift));
    if (shift + bits < kWordBits)
      packed = arith::AndIOp::create(b, loc, packed, word((int64_t(1) << bits) - 1));
    Value value = arith::SIToFPOp::create(b, loc, b.getF32Type(), packed), scale = load.scales[element / group];
    Value offset = hasOffsets() ? load.offsets[element / group] : Value();
    if (isSigned && !hasIntegerOffsets())
      value = arith::SubFOp::create(b, loc, value, excess);
    if (hasMinima) {
      elements.push_back(math::FmaOp::create(b, loc, value, scale, offset));
      continue;
    }
    if (offset)
      value = arith::SubFOp::create(b, loc, value, offset);
    elements.push_back(arith::MulFOp::create(b, loc, value, scale));
  }
  return elements;
}
