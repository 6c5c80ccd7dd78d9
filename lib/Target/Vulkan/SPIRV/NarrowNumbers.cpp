// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits conversions between f32 and 16-bit floats by integer arithmetic, because drivers choose the rounding of their
// own conversions. Runtime/Host/Support/HalfFloats.cpp converts on the host.

#include "NarrowNumbers.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace inlay;

//===-- Words ---------------------------------------------------------------------------------------------------===//

WordBuilder::WordBuilder(Operation *op) : ImplicitLocOpBuilder(op->getLoc(), op) {
  if (op->getNumResults())
    shape = dyn_cast<VectorType>(op->getResult(0).getType());
}

Type WordBuilder::withShape(Type element) const {
  return shape ? Type(VectorType::get(shape.getShape(), element)) : element;
}

Value WordBuilder::constant(TypedAttr element) {
  if (shape)
    element = DenseElementsAttr::get(cast<ShapedType>(withShape(element.getType())), ArrayRef<Attribute>(element));
  return arith::ConstantOp::create(*this, element);
}

Value inlay::wrapInteger(WordBuilder &b, Value x, unsigned width) {
  Value distance = b.word(kWordBits - width);
  return arith::ShRSIOp::create(b, b.left(x, distance), distance);
}

Value inlay::maskInteger(WordBuilder &b, Value x, unsigned width) { return b.both(x, (uint32_t(1) << width) - 1); }

//===-- Floats --------------------------------------------------------------------------------------------------===//

// Bits of f32. The smallest normal number of f16 is 2^-14.
static constexpr uint32_t kSign = 0x80000000, kInfinity = 0x7f800000, kQuiet = 0x00400000, kMinNormalHalf = 0x38800000;

/// The difference of the biases of the exponents of f32 and f16.
static constexpr uint32_t kBiases = 127 - 15;

/// The bits by which the fraction of f32 is longer.
static constexpr unsigned kHalfBits = 13, kBFloatBits = 16;

/// The smallest subnormal number of f16, and how many of them make 1.
static constexpr float kHalfUnit = 0x1p-24f, kHalfUnits = 0x1p24f;

/// Returns the bits of a finite number with its fraction rounded to `removed` fewer bits. Adding almost half of the
/// last bit carries if the rest is above the half, or equals it and the last bit is odd.
static Value roundFraction(WordBuilder &b, Value bits, unsigned removed) {
  Value odd = b.both(b.right(bits, removed), 1);
  Value sum = b.add(bits, b.add(odd, (uint32_t(1) << (removed - 1)) - 1));
  return b.both(sum, ~uint32_t(0) << removed);
}

static Value roundToBFloat(WordBuilder &b, Value x) {
  Value bits = b.bits(x);
  // Without the quiet bit, the upper half of NaN might be an infinity.
  Value nan = b.both(b.either(bits, kQuiet), ~uint32_t(0) << kBFloatBits);
  Value isNaN = b.isAbove(b.both(bits, ~kSign), kInfinity);
  return b.asFloat(b.select(isNaN, nan, roundFraction(b, bits, kBFloatBits)));
}

static Value roundToHalf(WordBuilder &b, Value x) {
  constexpr uint32_t kOverflow = 0x477ff000; // 65520, halfway from the largest number to the next power of two.
  Value bits = b.bits(x), sign = b.both(bits, kSign), size = b.both(bits, ~kSign);
  // Below 2^-14, numbers of f16 are multiples of 2^-24, as those of f32 from 0.5 to 1 are.
  Value half = b.number(0.5f);
  Value shifted = arith::AddFOp::create(b, math::AbsFOp::create(b, x), half);
  Value subnormal = b.either(b.bits(arith::SubFOp::create(b, shifted, half)), sign);
  Value rounded = b.select(b.isBelow(size, kMinNormalHalf), subnormal, roundFraction(b, bits, kHalfBits));
  Value large = b.select(b.isAbove(size, kInfinity), bits, b.either(sign, kInfinity));
  return b.asFloat(b.select(b.isBelow(size, kOverflow), rounded, large));
}

Value inlay::roundFloat(WordBuilder &b, Value x, Type type) {
  return type.isBF16() ? roundToBFloat(b, x) : roundToHalf(b, x);
}

static Value toHalfBits(WordBuilder &b, Value x) {
  Value bits = b.bits(x), sign = b.both(b.right(bits, 16), 0x8000), size = b.both(bits, ~kSign);
  Value units = arith::MulFOp::create(b, math::AbsFOp::create(b, x), b.number(kHalfUnits));
  Value isSubnormal = b.isBelow(size, kMinNormalHalf), zero = b.number(0);
  // The conversion to an integer is defined for small numbers only.
  Value subnormal = arith::FPToUIOp::create(b, b.words(), b.select(isSubnormal, units, zero));
  Value normal = b.add(b.right(size, kHalfBits), ~(kBiases << 10) + 1);
  Value finite = b.select(isSubnormal, subnormal, normal);
  Value payload = b.both(b.right(b.either(size, kQuiet), kHalfBits), 0x3ff);
  Value nan = b.either(payload, 0x7c00);
  Value special = b.select(b.isAbove(size, kInfinity), nan, b.word(0x7c00));
  return b.either(sign, b.select(b.isBelow(size, kInfinity), finite, special));
}

Value inlay::toFloatBits(WordBuilder &b, Value x, Type type) {
  return type.isBF16() ? b.right(b.bits(x), kBFloatBits) : toHalfBits(b, x);
}

static Value fromHalfBits(WordBuilder &b, Value word) {
  Value sign = b.left(b.both(word, 0x8000), 16), size = b.both(word, 0x7fff), fraction = b.left(size, kHalfBits);
  Value units = arith::UIToFPOp::create(b, b.floats(), size);
  Value subnormal = b.bits(arith::MulFOp::create(b, units, b.number(kHalfUnit)));
  Value finite = b.select(b.isBelow(size, 0x400), subnormal, b.add(fraction, kBiases << 23));
  Value magnitude = b.select(b.isBelow(size, 0x7c00), finite, b.either(fraction, kInfinity));
  return b.asFloat(b.either(sign, magnitude));
}

Value inlay::fromFloatBits(WordBuilder &b, Value word, Type type) {
  return type.isBF16() ? b.asFloat(b.left(word, kBFloatBits)) : fromHalfBits(b, word);
}
