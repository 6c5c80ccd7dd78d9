// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the scalar functions of activations and simple arithmetic. Quotients and powers are in DivisionScalars.cpp,
// predicates in PredicateScalars.cpp.

#include "inlay/Dialect/Inlay/IR/PointwiseScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

static Value constant(OpBuilder &builder, Location loc, Type type, double value) {
  return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value));
}

Value inlay::scalar::gelu(OpBuilder &builder, Location loc, ValueRange args) {
  Value x = args[0];
  // x/2 * (1 + erf(x / sqrt(2))), Hendrycks & Gimpel, arXiv:1606.08415.
  Value scaled = arith::MulFOp::create(builder, loc, x, constant(builder, loc, x.getType(), M_SQRT1_2));
  Value erf = math::ErfOp::create(builder, loc, scaled);
  Value sum = arith::AddFOp::create(builder, loc, erf, constant(builder, loc, x.getType(), 1.0));
  Value half = arith::MulFOp::create(builder, loc, x, constant(builder, loc, x.getType(), 0.5));
  return arith::MulFOp::create(builder, loc, half, sum);
}

Value inlay::scalar::lgamma(OpBuilder &builder, Location loc, ValueRange args) {
  // The math dialect has no such op. Only the host can make this call into libm.
  Type type = args[0].getType();
  if (!type.isF32() && !type.isF64())
    return nullptr;
  return func::CallOp::create(builder, loc, type.isF32() ? "lgammaf" : "lgamma", type, args).getResult(0);
}

Value inlay::scalar::neg(OpBuilder &builder, Location loc, ValueRange args) {
  Value x = args[0];
  if (isa<FloatType>(x.getType()))
    return arith::NegFOp::create(builder, loc, x);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(x.getType()));
  return arith::SubIOp::create(builder, loc, zero, x);
}

Value inlay::scalar::reciprocal(OpBuilder &builder, Location loc, ValueRange args) {
  Value x = args[0];
  return arith::DivFOp::create(builder, loc, constant(builder, loc, x.getType(), 1.0), x);
}

Value inlay::scalar::relu(OpBuilder &builder, Location loc, ValueRange args) {
  Value x = args[0];
  if (isa<FloatType>(x.getType())) // Like PyTorch, maximumf propagates NaN.
    return arith::MaximumFOp::create(builder, loc, x, constant(builder, loc, x.getType(), 0.0));
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(x.getType()));
  return arith::MaxSIOp::create(builder, loc, x, zero);
}

Value inlay::scalar::sigmoid(OpBuilder &builder, Location loc, ValueRange args) {
  Value x = args[0];
  Value one = constant(builder, loc, x.getType(), 1.0);
  Value exp = math::ExpOp::create(builder, loc, arith::NegFOp::create(builder, loc, x));
  return arith::DivFOp::create(builder, loc, one, arith::AddFOp::create(builder, loc, one, exp));
}

Value inlay::scalar::silu(OpBuilder &builder, Location loc, ValueRange args) {
  return arith::MulFOp::create(builder, loc, args[0], sigmoid(builder, loc, args));
}
