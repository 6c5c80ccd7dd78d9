// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounds f32 values to the values of f16 before they are converted.

#include "RoundHalves.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>

using namespace mlir;
using namespace inlay;

namespace {
/// Emits the rounding of one value or vector of f32.
class HalfRounding {
public:
  HalfRounding(OpBuilder &builder, Location loc, Value x)
      : b(loc, builder), x(x), floats(x.getType()), words(withElement(b.getI32Type())),
        bools(withElement(b.getI1Type())) {}

  /// Returns the closest value of f16, or the one with an even last bit of two closest values.
  Value round() {
    Value bits = cast(words, x);
    Value sign = spirv::BitwiseAndOp::create(b, bits, word(int32_t(0x80000000)));
    Value size = spirv::GLFAbsOp::create(b, x);
    // f16 has 13 bits fewer. Adding almost half of the last bit carries if the rest is above the half, or equals it and
    // the last bit is odd.
    Value last = spirv::ShiftRightLogicalOp::create(b, words, bits, word(13));
    Value odd = spirv::BitwiseAndOp::create(b, last, word(1));
    Value sum = spirv::IAddOp::create(b, bits, spirv::IAddOp::create(b, odd, word(0xFFF)));
    Value normal = spirv::BitwiseAndOp::create(b, sum, word(~0x1FFF));
    // Below 2^-14, numbers of f16 are multiples of 2^-24, as those of f32 from 0.5 to 1 are.
    Value shifted = spirv::FAddOp::create(b, size, number(0.5f));
    Value magnitude = cast(words, spirv::FSubOp::create(b, shifted, number(0.5f)));
    Value subnormal = spirv::BitwiseOrOp::create(b, magnitude, sign);
    Value rounded = select(isBelow(size, 0x1p-14f), subnormal, normal);
    // 65520 is halfway from the largest number to the next power of two.
    Value infinite = spirv::BitwiseOrOp::create(b, cast(words, number(std::numeric_limits<float>::infinity())), sign);
    Value isNaN = spirv::FUnordNotEqualOp::create(b, bools, x, x);
    Value large = select(isNaN, bits, infinite);
    return cast(floats, select(isBelow(size, 65520.0f), rounded, large));
  }

private:
  Type withElement(Type element) const {
    auto vector = dyn_cast<VectorType>(floats);
    return vector ? VectorType::get(vector.getShape(), element) : element;
  }
  Value constant(Type type, TypedAttr element) {
    if (auto vector = dyn_cast<VectorType>(type))
      return spirv::ConstantOp::create(b, type, DenseElementsAttr::get(vector, Attribute(element)));
    return spirv::ConstantOp::create(b, type, element);
  }
  Value word(int32_t value) { return constant(words, b.getI32IntegerAttr(value)); }
  Value number(float value) { return constant(floats, b.getF32FloatAttr(value)); }
  Value cast(Type type, Value value) { return spirv::BitcastOp::create(b, type, value); }
  Value isBelow(Value value, float bound) { return spirv::FOrdLessThanOp::create(b, bools, value, number(bound)); }
  Value select(Value condition, Value yes, Value no) { return spirv::SelectOp::create(b, condition, yes, no); }

  ImplicitLocOpBuilder b;
  Value x;
  Type floats, words, bools;
};
} // namespace

/// Returns true if all users of a value store it in a buffer.
static bool isStored(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    auto store = dyn_cast<spirv::StoreOp>(user);
    return store &&
           cast<spirv::PointerType>(store.getPtr().getType()).getStorageClass() == spirv::StorageClass::StorageBuffer;
  });
}

void inlay::roundHalves(spirv::ModuleOp module) {
  auto nearest = spirv::FPRoundingModeAttr::get(module.getContext(), spirv::FPRoundingMode::RTE);
  SmallVector<spirv::FConvertOp> inner;
  module.walk([&](spirv::FConvertOp convert) {
    Type type = convert.getType();
    bool isMatrix = !type.isF16() && !isa<VectorType>(type); // Devices round cooperative matrices.
    if (!getElementTypeOrSelf(type).isF16() || isMatrix)
      return;
    if (isStored(convert))
      convert->setAttr("fp_rounding_mode", nearest);
    else if (getElementTypeOrSelf(convert.getOperand()).isF32())
      inner.push_back(convert);
  });
  for (spirv::FConvertOp convert : inner) {
    OpBuilder builder(convert);
    convert.setOperand(HalfRounding(builder, convert.getLoc(), convert.getOperand()).round());
  }
}
