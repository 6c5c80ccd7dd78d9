// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointwise ops: one line per op is all there is to say. Inference, conversion and the Python side follow from it.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYPOINTWISEOPS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYPOINTWISEOPS_TD

include "inlay/Dialect/Inlay/IR/InlayOpBase.td"

/// `scalar` is the C++ expression for the scalar function on `args`: `floatOr<FloatOp, IntOp>` (void where there is
/// none) or a function of PointwiseScalars.h.
class Inlay_PointwiseOp<string mnemonic, list<string> aten, string reference, string scalar, list<Trait> traits = []>
    : Inlay_GraphOp<mnemonic, aten, reference,
        !listconcat([DeclareOpInterfaceMethods<PointwiseOpInterface>], traits)> {
  let results = (outs AnyRankedTensor:$result);
  let definitions = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location> loc,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::inlay::inferPointwise(loc, getOperationName(), adaptor.getOperands(), types);
    }
    ::mlir::Value $cppClass::createScalar(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ValueRange args) {
      return ::inlay::scalar::}] # scalar # [{(builder, loc, args);
    }
  }];
}

class Inlay_UnaryOp<string mnemonic, list<string> aten, string reference, string scalar, string what>
    : Inlay_PointwiseOp<mnemonic, aten, reference, scalar> {
  let summary = what;
  let description = "Example: `%r = inlay." # mnemonic # " %x : (tensor<2x3xf32>) -> tensor<2x3xf32>`";
  let arguments = (ins AnyRankedTensor:$input);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

class Inlay_BinaryOp<string mnemonic, list<string> aten, string reference, string scalar, string what,
    list<Trait> traits = []> : Inlay_PointwiseOp<mnemonic, aten, reference, scalar, traits> {
  let summary = what;
  let description = "Operands broadcast by NumPy's rules. Example: `%r = inlay." # mnemonic #
      " %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>`";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Inlay_AddOp : Inlay_BinaryOp<"add", ["add.Tensor", "add.Scalar", "add"], "lhs + rhs",
  "floatOr<arith::AddFOp, arith::AddIOp>", "sum", [Commutative]>;
def Inlay_SubOp : Inlay_BinaryOp<"sub", ["sub.Tensor", "sub.Scalar", "sub"], "lhs - rhs",
  "floatOr<arith::SubFOp, arith::SubIOp>", "difference">;
def Inlay_MulOp : Inlay_BinaryOp<"mul", ["mul.Tensor", "mul.Scalar", "mul"], "lhs * rhs",
  "floatOr<arith::MulFOp, arith::MulIOp>", "product", [Commutative]>;
def Inlay_DivOp : Inlay_BinaryOp<"div", ["div.Tensor", "div.Scalar", "div"], "lhs / rhs",
  "floatOr<arith::DivFOp, void>", "quotient">;
def Inlay_PowOp : Inlay_BinaryOp<"pow", ["pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow"], "torch.pow(lhs, rhs)",
  "floatOr<math::PowFOp, void>", "power">;
def Inlay_MaximumOp : Inlay_BinaryOp<"maximum", ["maximum"], "torch.maximum(lhs, rhs)",
  "floatOr<arith::MaximumFOp, arith::MaxSIOp>", "larger of two, NaN if either is", [Commutative]>;
def Inlay_MinimumOp : Inlay_BinaryOp<"minimum", ["minimum"], "torch.minimum(lhs, rhs)",
  "floatOr<arith::MinimumFOp, arith::MinSIOp>", "smaller of two, NaN if either is", [Commutative]>;

def Inlay_AbsOp : Inlay_UnaryOp<"abs", ["abs"], "torch.abs(input)", "floatOr<math::AbsFOp, math::AbsIOp>",
  "absolute value">;
def Inlay_CeilOp : Inlay_UnaryOp<"ceil", ["ceil"], "torch.ceil(input)", "floatOr<math::CeilOp, void>",
  "least integer not below">;
def Inlay_CosOp : Inlay_UnaryOp<"cos", ["cos"], "torch.cos(input)", "floatOr<math::CosOp, void>", "cosine">;
def Inlay_ErfOp : Inlay_UnaryOp<"erf", ["erf"], "torch.erf(input)", "floatOr<math::ErfOp, void>", "error function">;
def Inlay_ExpOp : Inlay_UnaryOp<"exp", ["exp"], "torch.exp(input)", "floatOr<math::ExpOp, void>", "exponential">;
def Inlay_FloorOp : Inlay_UnaryOp<"floor", ["floor"], "torch.floor(input)", "floatOr<math::FloorOp, void>",
  "greatest integer not above">;
def Inlay_LgammaOp : Inlay_UnaryOp<"lgamma", ["lgamma"], "torch.lgamma(input)", "lgamma",
  "logarithm of the absolute value of the gamma function">;
def Inlay_LogOp : Inlay_UnaryOp<"log", ["log"], "torch.log(input)", "floatOr<math::LogOp, void>", "natural logarithm">;
def Inlay_NegOp : Inlay_UnaryOp<"neg", ["neg"], "-input", "neg", "negation">;
def Inlay_ReciprocalOp : Inlay_UnaryOp<"reciprocal", ["reciprocal"], "torch.reciprocal(input)", "reciprocal",
  "one over">;
def Inlay_ReluOp : Inlay_UnaryOp<"relu", ["relu"], "torch.relu(input)", "relu", "larger of the input and zero">;
def Inlay_RsqrtOp : Inlay_UnaryOp<"rsqrt", ["rsqrt"], "torch.rsqrt(input)", "floatOr<math::RsqrtOp, void>",
  "one over the square root">;
def Inlay_SigmoidOp : Inlay_UnaryOp<"sigmoid", ["sigmoid"], "torch.sigmoid(input)", "sigmoid", "logistic function">;
def Inlay_SiluOp : Inlay_UnaryOp<"silu", ["silu"], "torch.nn.functional.silu(input)", "silu",
  "input times its logistic function">;
def Inlay_SinOp : Inlay_UnaryOp<"sin", ["sin"], "torch.sin(input)", "floatOr<math::SinOp, void>", "sine">;
def Inlay_SqrtOp : Inlay_UnaryOp<"sqrt", ["sqrt"], "torch.sqrt(input)", "floatOr<math::SqrtOp, void>",
  "square root">;
def Inlay_TanhOp : Inlay_UnaryOp<"tanh", ["tanh"], "torch.tanh(input)", "floatOr<math::TanhOp, void>",
  "hyperbolic tangent">;
def Inlay_GeluOp : Inlay_UnaryOp<"gelu", ["gelu"], "torch.nn.functional.gelu(input)", "gelu",
  "Gaussian error linear unit, by the error function">;

#endif // INLAY_DIALECT_INLAY_IR_INLAYPOINTWISEOPS_TD
