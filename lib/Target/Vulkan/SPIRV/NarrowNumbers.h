// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic in 32 bits that stands for numbers of 8 and 16 bits. Each function takes and returns scalars or vectors,
// and emits ops of the dialects arith and math.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_NARROWNUMBERS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_NARROWNUMBERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace inlay {

static constexpr unsigned kWordBits = 32;

/// Emits arithmetic on words (i32) and floats (f32) before an op. If the op computes vectors, so does the arithmetic.
class WordBuilder : public mlir::ImplicitLocOpBuilder {
public:
  explicit WordBuilder(mlir::Operation *op);

  mlir::Type words() { return withShape(getI32Type()); }
  mlir::Type floats() { return withShape(getF32Type()); }
  mlir::Value word(uint32_t value) { return constant(getI32IntegerAttr(static_cast<int32_t>(value))); }
  mlir::Value number(float value) { return constant(getF32FloatAttr(value)); }
  mlir::Value bits(mlir::Value x) { return mlir::arith::BitcastOp::create(*this, words(), x); }
  mlir::Value asFloat(mlir::Value bits) { return mlir::arith::BitcastOp::create(*this, floats(), bits); }
  mlir::Value add(mlir::Value x, uint32_t y) { return add(x, word(y)); }
  mlir::Value add(mlir::Value x, mlir::Value y) { return mlir::arith::AddIOp::create(*this, x, y); }
  mlir::Value both(mlir::Value x, uint32_t y) { return mlir::arith::AndIOp::create(*this, x, word(y)); }
  mlir::Value either(mlir::Value x, uint32_t y) { return either(x, word(y)); }
  mlir::Value either(mlir::Value x, mlir::Value y) { return mlir::arith::OrIOp::create(*this, x, y); }
  mlir::Value left(mlir::Value x, uint32_t by) { return left(x, word(by)); }
  mlir::Value left(mlir::Value x, mlir::Value by) { return mlir::arith::ShLIOp::create(*this, x, by); }
  mlir::Value right(mlir::Value x, uint32_t by) { return right(x, word(by)); }
  mlir::Value right(mlir::Value x, mlir::Value by) { return mlir::arith::ShRUIOp::create(*this, x, by); }
  mlir::Value isBelow(mlir::Value x, uint32_t y) { return compare(mlir::arith::CmpIPredicate::ult, x, y); }
  mlir::Value isAbove(mlir::Value x, uint32_t y) { return compare(mlir::arith::CmpIPredicate::ugt, x, y); }
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return mlir::arith::SelectOp::create(*this, condition, yes, no);
  }

private:
  mlir::Type withShape(mlir::Type element) const;
  mlir::Value constant(mlir::TypedAttr element);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, uint32_t y) {
    return mlir::arith::CmpIOp::create(*this, predicate, x, word(y));
  }

  mlir::VectorType shape;
};

/// Rounds a float to the closest number of `type` (bf16 or f16), or to the one with an even last bit of two closest
/// numbers. NaN stays NaN.
mlir::Value roundFloat(WordBuilder &b, mlir::Value x, mlir::Type type);

/// Returns a word with the bits of a float as a number of `type` (bf16 or f16). `x` must be such a number, or NaN.
mlir::Value toFloatBits(WordBuilder &b, mlir::Value x, mlir::Type type);

/// Returns the number of `type` (bf16 or f16) whose bits are the lower half of `word`. The upper half is ignored.
mlir::Value fromFloatBits(WordBuilder &b, mlir::Value word, mlir::Type type);

/// Returns the signed integer that the lower `width` bits of a word are.
mlir::Value wrapInteger(WordBuilder &b, mlir::Value x, unsigned width);

/// Returns the unsigned integer that the lower `width` bits of a word are.
mlir::Value maskInteger(WordBuilder &b, mlir::Value x, unsigned width);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_NARROWNUMBERS_H
