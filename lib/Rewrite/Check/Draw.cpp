// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws shapes, attributes and windows for a single op. DrawInstance.cpp draws a whole match op by op, and
// TensorData.cpp fills tensors.

#include "Draw.h"
#include "TensorData.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace inlay;

Palette::Palette(Random &random, Type dtype, bool dynamic) : dtype(dtype) {
  static constexpr int64_t kSizes[] = {1, 2, 2, 3, 3, 4, 5, 6, 8};
  for (int i = 0; i < 3; ++i)
    sizes.push_back(random.pick(kSizes));
  if (dynamic)
    unknown = *llvm::max_element(sizes);
  if (random.oneIn(2))
    sizes.push_back(1);
}

//===-- Shapes --------------------------------------------------------------------------------------------------===//

static Shape drawFresh(const Palette &palette, Random &random) {
  static constexpr unsigned kRanks[] = {0, 1, 1, 2, 2, 2, 3, 3, 4, 4};
  Shape shape;
  for (unsigned rank = random.pick(kRanks); rank > 0; --rank)
    shape.push_back(random.pick(palette.sizes));
  if (random.oneIn(3)) // Finds errors that occur only with equal sizes.
    llvm::fill(shape, shape.empty() ? 1 : shape.front());
  return shape;
}

Shape inlay::drawShape(const Palette &palette, ArrayRef<Shape> otherShapes, Random &random) {
  if (otherShapes.empty() || random.oneIn(8))
    return drawFresh(palette, random);
  Shape like = random.pick(otherShapes);
  int64_t rank = like.size();
  auto size = [&] { return random.pick(palette.sizes); };
  switch (random.below(7)) {
  case 0: // The same shape.
    return like;
  case 1: // Trailing dims.
    return Shape(llvm::drop_begin(like, random.below(rank + 1)));
  case 2: // A vector.
    return rank ? Shape{random.oneIn(4) ? 1 : random.pick(like)} : like;
  case 3: // A shape to broadcast.
    for (int64_t &dim : like)
      if (random.oneIn(2))
        dim = 1;
    return like;
  case 4: // A matrix that shares a dim.
    if (rank == 0)
      return {size(), size()};
    return random.oneIn(2) ? Shape{random.pick(like), size()} : Shape{size(), random.pick(like)};
  case 5: // One dim differs, or the last two are swapped.
    if (rank >= 2 && random.oneIn(2))
      std::swap(like[rank - 1], like[rank - 2]);
    if (rank >= 1 && random.oneIn(2))
      like[random.below(rank)] = size();
    return like;
  default: // A convolution kernel: the same rank, with small trailing dims.
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim != 1)
        like[dim] = dim == 0 ? size() : random.between(1, 3);
    return like;
  }
}

//===-- Attributes ----------------------------------------------------------------------------------------------===//

static Shape drawDims(StringRef op, int64_t rank, Random &random) {
  Shape dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    dims.push_back(dim);
  for (size_t i = dims.size(); i > 1; --i)
    std::swap(dims[i - 1], dims[random.below(i)]);
  if (op == "inlay.permute" || dims.empty())
    return dims;
  dims.resize(random.between(1, rank));
  for (int64_t &dim : dims)
    if (random.oneIn(3))
      dim -= rank;
  return dims;
}

/// Draws a shape with the same number of elements by merging and splitting dims and inserting ones.
static Shape drawReshaped(Shape shape, Random &random) {
  for (unsigned steps = random.below(4); steps > 0; --steps) {
    size_t at = random.below(shape.size() + 1);
    if (random.oneIn(3)) {
      shape.insert(shape.begin() + at, 1);
    } else if (at + 1 < shape.size() && random.oneIn(2)) {
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + at + 1);
    } else if (at < shape.size() && shape[at] % 2 == 0) {
      shape[at] /= 2;
      shape.insert(shape.begin() + at, 2);
    }
  }
  return shape;
}

static Shape drawExpanded(Shape shape, const Palette &palette, Random &random) {
  for (int64_t &dim : shape)
    if (dim == 1)
      dim = random.pick(palette.sizes);
    else if (random.oneIn(4))
      dim = -1;
  if (random.oneIn(3))
    shape.insert(shape.begin(), random.pick(palette.sizes));
  return shape;
}

/// Returns the shape with -1 for each dynamic dim, as attributes store it.
static Shape withoutDynamic(ArrayRef<int64_t> shape) {
  return llvm::map_to_vector<6>(shape, [](int64_t size) { return ShapedType::isDynamic(size) ? -1 : size; });
}

static Shape drawTargetShape(const OpContext &context, const Palette &palette, Random &random) {
  if (context.result && !random.oneIn(8))
    return withoutDynamic(context.result.getShape());
  Shape input = context.operands.empty() ? Shape() : withoutDynamic(context.operands.front());
  if (context.op == "inlay.expand")
    return drawExpanded(std::move(input), palette, random);
  Shape shape = drawReshaped(std::move(input), random);
  if (!shape.empty() && random.oneIn(4))
    shape[random.below(shape.size())] = -1;
  return shape;
}

static Shape drawWindow(StringRef name, int64_t rank, Random &random) {
  Shape window;
  for (int64_t dim = 2; dim < rank; ++dim)
    window.push_back(name == "padding"    ? random.between(0, 1)
                     : name == "dilation" ? random.between(1, 2)
                     : name == "stride"   ? random.between(1, 2)
                                          : random.between(1, 3));
  return window;
}

FailureOr<Attribute> inlay::drawAttribute(StringRef name, const OpContext &context, const Palette &palette,
                                          MLIRContext *mlir, Random &random) {
  Builder builder(mlir);
  int64_t rank = context.operands.empty() ? 0 : context.operands.front().size();
  if (name == "stride" || name == "padding" || name == "dilation" || name == "kernel")
    return Attribute(builder.getDenseI64ArrayAttr(drawWindow(name, rank, random)));
  if (name == "dims")
    return Attribute(builder.getDenseI64ArrayAttr(drawDims(context.op, rank, random)));
  if (name == "shape")
    return Attribute(builder.getDenseI64ArrayAttr(drawTargetShape(context, palette, random)));
  if (name == "keepdim" || name == "ceil_mode" || name == "count_include_pad")
    return random.oneIn(2) ? Attribute(builder.getUnitAttr()) : Attribute();
  if (name == "groups")
    return Attribute(builder.getI64IntegerAttr(random.oneIn(3) ? 2 : 1));
  if (name == "dim")
    return Attribute(builder.getI64IntegerAttr(rank ? random.between(-rank, rank - 1) : 0));
  if (name == "start" || name == "end")
    return Attribute(builder.getI64IntegerAttr(name == "start" ? random.between(-2, 3) : random.between(-1, 9)));
  if (name == "step")
    return Attribute(builder.getI64IntegerAttr(random.between(1, 2)));
  if (name == "eps") {
    static constexpr double kEps[] = {1e-12, 1e-5, 1e-3, 0.1};
    return Attribute(builder.getF64FloatAttr(random.pick(kEps)));
  }
  if (name == "dtype" && context.result)
    return Attribute(TypeAttr::get(context.result.getElementType()));
  if (name == "dtype") {
    Type types[] = {builder.getF32Type(), builder.getF64Type(), builder.getI32Type()};
    Type type = random.pick(types);
    if (type == palette.dtype && !random.oneIn(4)) // Prefers a cast that changes the type.
      type = type == types[0] ? types[random.between(1, 2)] : types[0];
    return Attribute(TypeAttr::get(type));
  }
  if (name == "value" && context.op == "inlay.constant") {
    Shape shape = context.result && context.result.hasStaticShape() ? Shape(context.result.getShape())
                                                                    : drawFresh(palette, random);
    HostTensor tensor = makeTensor(RankedTensorType::get(shape, palette.dtype));
    fill(tensor, Fill::Plain, random);
    return Attribute(toAttribute(tensor));
  }
  return failure();
}
