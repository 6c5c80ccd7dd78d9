// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the op that computes an input of a product, and emits it for the elements that the kernel needs.

#include "ProductInput.h"
#include "FusableOps.h"
#include "inlay/Convert/Bufferize/BufferUses.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace inlay;

/// If `buffer` is scratch memory that one op writes and that only `reader` reads, once, returns the op. Else returns
/// null. `reader` may read a view.
static linalg::LinalgOp findOnlyWriter(Value buffer, linalg::LinalgOp reader) {
  if (!isa<BlockArgument>(buffer) || !isScratch(buffer))
    return nullptr;
  linalg::LinalgOp writer;
  size_t reads = 0, writes = 0;
  SmallVector<Value> views{buffer};
  while (!views.empty())
    for (OpOperand &use : views.pop_back_val().getUses()) {
      auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (isa<ViewLikeOpInterface>(use.getOwner()))
        views.push_back(use.getOwner()->getResult(0));
      else if (op && op.isDpsInit(&use) && use.get() == buffer)
        writer = op, ++writes;
      else if (op == reader && op.isDpsInput(&use))
        ++reads;
      else
        return nullptr;
    }
  return reads == 1 && writes == 1 && writer != reader ? writer : nullptr;
}

std::optional<ProductInput> ProductInput::find(OpBuilder &builder, const TileEmitter &emitter, size_t input,
                                               const Dequantizations &dequantizations, KernelValues &values) {
  constexpr int64_t kMaxSteps = 24; // Each workgroup that reads an element computes it again.
  linalg::LinalgOp product = emitter.getOp();
  Value view = product.getDpsInputs()[input];
  if (!emitter.getAccesses()[input].flat || dequantizations.contains(findRoot(view)))
    return std::nullopt;
  linalg::LinalgOp op = findOnlyWriter(findRoot(view), product);
  if (!op || op.getNumDpsInits() != 1 || op.getNumReductionLoops() || op->getBlock() != product->getBlock() ||
      !op->isBeforeInBlock(product) || !op.getRegionOutputArgs().front().use_empty() ||
      countBodySteps(op) > kMaxSteps || shareInputs(op, product) || writesInputs(product, op) || !canDelay(op, product))
    return std::nullopt;
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  AffineMap read = product.getMatchingIndexingMap(product.getDpsInputOperand(input));
  std::optional<SmallVector<AffineExpr>> indices = findRootIndices(view, read.getResults());
  if (!indices || !written.isPermutation())
    return std::nullopt;
  FailureOr<TileEmitter> computed = TileEmitter::create(builder, op, &values);
  if (failed(computed))
    return std::nullopt;
  computed->setQuads(true);
  computed->setGathersHalves(cast<MemRefType>(view.getType()).getElementType().isF16());
  auto map = AffineMap::get(read.getNumDims(), 0, *indices, read.getContext());
  return ProductInput(std::move(*computed), inversePermutation(written).compose(map));
}

/// Returns the loop of the op along which `loop` of the product goes one by one, from multiples of `alignment`, if no
/// other loop of the op depends on it.
std::optional<size_t> ProductInput::findLoop(size_t loop, int64_t alignment) const {
  std::optional<size_t> found;
  AffineExpr dim = getAffineDimExpr(loop, map.getContext());
  for (auto [number, index] : llvm::enumerate(map.getResults())) {
    if (!index.isFunctionOfDim(loop))
      continue;
    AffineExpr rest = simplifyAffineExpr(index - dim, map.getNumDims(), 0);
    if (found || rest.isFunctionOfDim(loop) || !rest.isMultipleOf(alignment))
      return std::nullopt;
    found = number;
  }
  return found;
}

bool ProductInput::hasVectors(size_t loop) const {
  std::optional<size_t> own = findLoop(loop, 4);
  return own && emitter->readsVectors(*own);
}

bool ProductInput::isStraight(size_t loop) const {
  std::optional<size_t> own = findLoop(loop, 1);
  return own && emitter->gathersAlong(*own);
}

SmallVector<Value> ProductInput::compute(OpBuilder &builder, ArrayRef<Value> indices, Value inside, size_t loop,
                                         int64_t count) const {
  Location loc = emitter->getOp().getLoc();
  TileShape tile{std::vector<int64_t>(map.getNumResults(), 1)};
  if (count > 1)
    tile.factors[*findLoop(loop, count)] = count;
  SmallVector<Value> base;
  for (AffineExpr expr : map.getResults()) {
    Value index = affine::expandAffineExpr(builder, loc, expr, indices, {});
    if (inside)
      index = arith::SelectOp::create(builder, loc, inside, index, arith::ConstantIndexOp::create(builder, loc, 0));
    base.push_back(index);
  }
  return emitter->compute(builder, tile, base);
}
