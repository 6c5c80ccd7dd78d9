// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointwise ops. One record per op suffices: inference, conversion and the Python side are derived from it.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYPOINTWISEOPS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYPOINTWISEOPS_TD

include "inlay/Dialect/Inlay/IR/InlayOpBase.td"

// Element kinds on which a scalar function is defined: a subset of "Floats", "Integers" (wider than one bit) and
// "Booleans".
defvar Inlay_Floats = ["Floats"];
defvar Inlay_Numbers = ["Floats", "Integers"];
defvar Inlay_Whole = ["Integers", "Booleans"];
defvar Inlay_All = ["Floats", "Integers", "Booleans"];

/// `scalar` is the C++ expression of the scalar function on `args`: `typed<FloatOp, IntOp, BoolOp>`, with void for
/// kinds without such a function, or a function of PointwiseScalars.h. `kinds` are the element kinds on which it is
/// defined. `infer` is the function of Inference.h that infers the result type. `result` tells Python the elements of
/// the result: "same" or "boolean".
class Inlay_PointwiseOp<string mnemonic, list<string> aten, string reference, string scalar, list<string> kinds,
    string infer, string result, list<Trait> traits = []>
    : Inlay_GraphOp<mnemonic, aten, reference,
        !listconcat([DeclareOpInterfaceMethods<PointwiseOpInterface>], traits)> {
  list<string> elementKinds = kinds;
  string resultElements = result;
  let results = (outs AnyRankedTensor:$result);
  let definitions = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location> loc,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::inlay::}] # infer # [{(loc, getOperationName(), adaptor.getOperands(), types);
    }
    ::mlir::Value $cppClass::createScalar(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ValueRange args) {
      if (!::inlay::scalar::isOneOf(args.back().getType(), }] #
        !interleave(!foreach(kind, kinds, "::inlay::scalar::" # kind), " | ") # [{))
        return nullptr;
      return ::inlay::scalar::}] # scalar # [{(builder, loc, args);
    }
  }];
}

class Inlay_UnaryOp<string mnemonic, list<string> aten, string reference, string scalar, string what,
    list<string> kinds = Inlay_Floats>
    : Inlay_PointwiseOp<mnemonic, aten, reference, scalar, kinds, "inferPointwise", "same"> {
  let summary = what;
  defvar type = "tensor<2x3x" # !if(!eq(!head(kinds), "Floats"), "f32", "i32") # ">";
  let description = "Example: `%r = inlay." # mnemonic # " %x : (" # type # ") -> " # type # "`";
  let arguments = (ins AnyRankedTensor:$input);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

class Inlay_BinaryOp<string mnemonic, list<string> aten, string reference, string scalar, string what,
    list<string> kinds, list<Trait> traits = []>
    : Inlay_PointwiseOp<mnemonic, aten, reference, scalar, kinds, "inferPointwise", "same", traits> {
  let summary = what;
  defvar element = !if(!eq(!head(kinds), "Floats"), "f32", "i32");
  let description = "Operands broadcast by NumPy's rules. Example: `%r = inlay." # mnemonic #
      " %x, %y : (tensor<2x3x" # element # ">, tensor<3x" # element # ">) -> tensor<2x3x" # element # ">`";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

/// A predicate on each element. The result has boolean elements.
class Inlay_UnaryPredicateOp<string mnemonic, list<string> aten, string reference, string scalar, string what,
    list<string> kinds>
    : Inlay_PointwiseOp<mnemonic, aten, reference, scalar, kinds, "inferPredicate", "boolean"> {
  let summary = what;
  let description = "Example: `%r = inlay." # mnemonic # " %x : (tensor<2x3xf32>) -> tensor<2x3xi1>`";
  let arguments = (ins AnyRankedTensor:$input);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

class Inlay_BinaryPredicateOp<string mnemonic, list<string> aten, string scalar, string what, list<Trait> traits = []>
    : Inlay_PointwiseOp<mnemonic, aten, "torch." # mnemonic # "(lhs, rhs)", scalar, Inlay_All, "inferPredicate",
        "boolean", traits> {
  let summary = what;
  let description = "Operands broadcast by NumPy's rules. Example: `%r = inlay." # mnemonic #
      " %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>`";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

//===-- Arithmetic ----------------------------------------------------------------------------------------------===//

def Inlay_AddOp : Inlay_BinaryOp<"add", ["add.Tensor", "add.Scalar", "add"], "lhs + rhs",
  "typed<arith::AddFOp, arith::AddIOp, arith::OrIOp>", "sum; logical or for booleans", Inlay_All, [Commutative]>;
def Inlay_SubOp : Inlay_BinaryOp<"sub", ["sub.Tensor", "sub.Scalar", "sub", "rsub"], "lhs - rhs",
  "typed<arith::SubFOp, arith::SubIOp>", "difference", Inlay_Numbers>;
def Inlay_MulOp : Inlay_BinaryOp<"mul", ["mul.Tensor", "mul.Scalar", "mul"], "lhs * rhs",
  "typed<arith::MulFOp, arith::MulIOp, arith::AndIOp>", "product; logical and for booleans", Inlay_All, [Commutative]>;
def Inlay_DivOp : Inlay_BinaryOp<"div", ["div.Tensor", "div.Scalar", "div"], "lhs / rhs",
  "typed<arith::DivFOp>", "quotient", Inlay_Floats>;
def Inlay_FloorDivOp : Inlay_BinaryOp<"floor_div", ["floor_divide", "div.Tensor_mode", "div.Scalar_mode"],
  "torch.div(lhs, rhs, rounding_mode='floor')", "floorDiv",
  "quotient rounded down; an integer divided by 0 gives 0", Inlay_Numbers>;
def Inlay_TruncDivOp : Inlay_BinaryOp<"trunc_div", ["div.Tensor_mode", "div.Scalar_mode"],
  "torch.div(lhs, rhs, rounding_mode='trunc')", "truncDiv",
  "quotient rounded towards zero; an integer divided by 0 gives 0", Inlay_Numbers>;
def Inlay_RemainderOp : Inlay_BinaryOp<"remainder",
  ["remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor", "remainder"], "torch.remainder(lhs, rhs)",
  "remainder", "remainder of the division rounded down, with the sign of the divisor; an integer divided by 0 gives 0",
  Inlay_Numbers>;
def Inlay_FmodOp : Inlay_BinaryOp<"fmod", ["fmod.Tensor", "fmod.Scalar", "fmod"], "torch.fmod(lhs, rhs)", "fmod",
  "remainder of the division rounded towards zero, with the sign of the dividend; an integer divided by 0 gives 0", Inlay_Numbers>;
def Inlay_PowOp : Inlay_BinaryOp<"pow", ["pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow"], "torch.pow(lhs, rhs)",
  "pow", "power", Inlay_Numbers>;
def Inlay_MaximumOp : Inlay_BinaryOp<"maximum", ["maximum", "max.other"], "torch.maximum(lhs, rhs)",
  "typed<arith::MaximumFOp, arith::MaxSIOp, arith::OrIOp>", "larger of two, NaN if either is NaN", Inlay_All,
  [Commutative]>;
def Inlay_MinimumOp : Inlay_BinaryOp<"minimum", ["minimum", "min.other"], "torch.minimum(lhs, rhs)",
  "typed<arith::MinimumFOp, arith::MinSIOp, arith::AndIOp>", "smaller of two, NaN if either is NaN", Inlay_All,
  [Commutative]>;
def Inlay_FmaxOp : Inlay_BinaryOp<"fmax", ["fmax"], "torch.fmax(lhs, rhs)",
  "typed<arith::MaxNumFOp, arith::MaxSIOp, arith::OrIOp>", "larger of two, the other if one is NaN", Inlay_All,
  [Commutative]>;
def Inlay_FminOp : Inlay_BinaryOp<"fmin", ["fmin"], "torch.fmin(lhs, rhs)",
  "typed<arith::MinNumFOp, arith::MinSIOp, arith::AndIOp>", "smaller of two, the other if one is NaN", Inlay_All,
  [Commutative]>;
def Inlay_CopysignOp : Inlay_BinaryOp<"copysign", ["copysign.Tensor", "copysign.Scalar", "copysign"],
  "torch.copysign(lhs, rhs)", "typed<math::CopySignOp>", "magnitude of the first with the sign of the second", Inlay_Floats>;
def Inlay_Atan2Op : Inlay_BinaryOp<"atan2", ["atan2"], "torch.atan2(lhs, rhs)", "typed<math::Atan2Op>",
  "angle of the point (rhs, lhs)", Inlay_Floats>;

//===-- Comparison, logic, bits ---------------------------------------------------------------------------------===//

class Inlay_CompareOp<string mnemonic, string float, string integer, string what, list<Trait> traits = []>
    : Inlay_BinaryPredicateOp<mnemonic, [mnemonic # ".Tensor", mnemonic # ".Scalar", mnemonic],
        "compare<arith::CmpFPredicate::" # float # ", arith::CmpIPredicate::" # integer # ">", what, traits>;
def Inlay_EqOp : Inlay_CompareOp<"eq", "OEQ", "eq", "true if both are equal, false if either is NaN", [Commutative]>;
def Inlay_NeOp : Inlay_CompareOp<"ne", "UNE", "ne", "true if both differ or if either is NaN", [Commutative]>;
def Inlay_LtOp : Inlay_CompareOp<"lt", "OLT", "slt", "true if lhs is less than rhs">;
def Inlay_LeOp : Inlay_CompareOp<"le", "OLE", "sle", "true if lhs is less than or equal to rhs">;
def Inlay_GtOp : Inlay_CompareOp<"gt", "OGT", "sgt", "true if lhs is greater than rhs">;
def Inlay_GeOp : Inlay_CompareOp<"ge", "OGE", "sge", "true if lhs is greater than or equal to rhs">;

def Inlay_LogicalAndOp : Inlay_BinaryPredicateOp<"logical_and", ["logical_and"], "logical<arith::AndIOp>",
  "true if both differ from zero", [Commutative]>;
def Inlay_LogicalOrOp : Inlay_BinaryPredicateOp<"logical_or", ["logical_or"], "logical<arith::OrIOp>",
  "true if either differs from zero", [Commutative]>;
def Inlay_LogicalXorOp : Inlay_BinaryPredicateOp<"logical_xor", ["logical_xor"], "logical<arith::XOrIOp>",
  "true if exactly one of both differs from zero", [Commutative]>;
def Inlay_LogicalNotOp : Inlay_UnaryPredicateOp<"logical_not", ["logical_not"], "torch.logical_not(input)",
  "logicalNot", "true if the element is zero", Inlay_All>;
def Inlay_IsinfOp : Inlay_UnaryPredicateOp<"isinf", ["isinf"], "torch.isinf(input)", "isinf",
  "true if the element is infinite", Inlay_Floats>;
def Inlay_IsnanOp : Inlay_UnaryPredicateOp<"isnan", ["isnan"], "torch.isnan(input)", "isnan", "true if the element is NaN",
  Inlay_Floats>;
def Inlay_SignbitOp : Inlay_UnaryPredicateOp<"signbit", ["signbit"], "torch.signbit(input)", "signbit",
  "true if the sign bit is set, as in -0.0", Inlay_Numbers>;

class Inlay_BitwiseOp<string name, string op, string what> : Inlay_BinaryOp<"bitwise_" # name,
  ["bitwise_" # name # ".Tensor", "bitwise_" # name # ".Scalar", "bitwise_" # name # ".Scalar_Tensor",
   "bitwise_" # name], "torch.bitwise_" # name # "(lhs, rhs)", "typed<void, " # op # ", " # op # ">", what, Inlay_Whole,
  [Commutative]>;
def Inlay_BitwiseAndOp : Inlay_BitwiseOp<"and", "arith::AndIOp", "bitwise and">;
def Inlay_BitwiseOrOp : Inlay_BitwiseOp<"or", "arith::OrIOp", "bitwise or">;
def Inlay_BitwiseXorOp : Inlay_BitwiseOp<"xor", "arith::XOrIOp", "bitwise exclusive or">;
def Inlay_BitwiseNotOp : Inlay_UnaryOp<"bitwise_not", ["bitwise_not"], "torch.bitwise_not(input)", "bitwiseNot",
  "bitwise complement", Inlay_Whole>;
def Inlay_BitwiseLeftShiftOp : Inlay_BinaryOp<"bitwise_left_shift",
  ["bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar", "bitwise_left_shift.Scalar_Tensor",
   "bitwise_left_shift", "__lshift__.Tensor", "__lshift__.Scalar"], "torch.bitwise_left_shift(lhs, rhs)", "leftShift",
  "bits shifted left; 0 if the distance is negative or too large", ["Integers"]>;
def Inlay_BitwiseRightShiftOp : Inlay_BinaryOp<"bitwise_right_shift",
  ["bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar", "bitwise_right_shift.Scalar_Tensor",
   "bitwise_right_shift", "__rshift__.Tensor", "__rshift__.Scalar"], "torch.bitwise_right_shift(lhs, rhs)",
  "rightShift", "bits shifted right; only the sign remains if the distance is negative or too large", ["Integers"]>;

def Inlay_WhereOp : Inlay_PointwiseOp<"where", ["where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar",
    "where", "masked_fill.Scalar", "masked_fill.Tensor", "masked_fill"], "torch.where(condition, input, other)",
    "where", Inlay_All, "inferWhere", "same"> {
  let summary = "elements of one tensor if a condition holds, else of the other";
  let description = [{
    Operands broadcast by NumPy's rules.

    Example: `%r = inlay.where %c, %x, %y : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$condition, AnyRankedTensor:$input, AnyRankedTensor:$other);
  let assemblyFormat = "$condition `,` $input `,` $other attr-dict `:` functional-type(operands, results)";
}

//===-- Functions of one number ---------------------------------------------------------------------------------===//

/// A function that the math dialect has an op for.
class Inlay_MathOp<string mnemonic, string op, string what>
    : Inlay_UnaryOp<mnemonic, [mnemonic], "torch." # mnemonic # "(input)", "typed<math::" # op # ">", what>;

/// A rounding function. Integers stay unchanged.
class Inlay_RoundingOp<string mnemonic, string op, string what>
    : Inlay_UnaryOp<mnemonic, [mnemonic], "torch." # mnemonic # "(input)", "rounding<math::" # op # ">", what,
        Inlay_Numbers>;

def Inlay_AbsOp : Inlay_UnaryOp<"abs", ["abs"], "torch.abs(input)", "typed<math::AbsFOp, math::AbsIOp>",
  "absolute value", Inlay_Numbers>;
def Inlay_AcosOp : Inlay_MathOp<"acos", "AcosOp", "inverse cosine">;
def Inlay_AcoshOp : Inlay_MathOp<"acosh", "AcoshOp", "inverse hyperbolic cosine">;
def Inlay_AsinOp : Inlay_MathOp<"asin", "AsinOp", "inverse sine">;
def Inlay_AsinhOp : Inlay_MathOp<"asinh", "AsinhOp", "inverse hyperbolic sine">;
def Inlay_AtanOp : Inlay_MathOp<"atan", "AtanOp", "inverse tangent">;
def Inlay_AtanhOp : Inlay_MathOp<"atanh", "AtanhOp", "inverse hyperbolic tangent">;
def Inlay_CeilOp : Inlay_RoundingOp<"ceil", "CeilOp", "smallest integer not less than the input">;
def Inlay_CosOp : Inlay_MathOp<"cos", "CosOp", "cosine">;
def Inlay_CoshOp : Inlay_MathOp<"cosh", "CoshOp", "hyperbolic cosine">;
def Inlay_ErfOp : Inlay_MathOp<"erf", "ErfOp", "error function">;
def Inlay_ErfcOp : Inlay_MathOp<"erfc", "ErfcOp", "one minus the error function">;
def Inlay_ExpOp : Inlay_MathOp<"exp", "ExpOp", "exponential">;
def Inlay_Exp2Op : Inlay_MathOp<"exp2", "Exp2Op", "power of two">;
def Inlay_Expm1Op : Inlay_MathOp<"expm1", "ExpM1Op", "exponential minus one, accurate near zero">;
def Inlay_FloorOp : Inlay_RoundingOp<"floor", "FloorOp", "largest integer not greater than the input">;
def Inlay_LgammaOp : Inlay_UnaryOp<"lgamma", ["lgamma"], "torch.lgamma(input)", "lgamma",
  "logarithm of the absolute value of the gamma function">;
def Inlay_LogOp : Inlay_MathOp<"log", "LogOp", "natural logarithm">;
def Inlay_Log10Op : Inlay_MathOp<"log10", "Log10Op", "logarithm to base ten">;
def Inlay_Log1pOp : Inlay_MathOp<"log1p", "Log1pOp", "logarithm of one plus the input, accurate near zero">;
def Inlay_Log2Op : Inlay_MathOp<"log2", "Log2Op", "logarithm to base two">;
def Inlay_NegOp : Inlay_UnaryOp<"neg", ["neg"], "-input", "neg", "negation", Inlay_Numbers>;
def Inlay_ReciprocalOp : Inlay_UnaryOp<"reciprocal", ["reciprocal"], "torch.reciprocal(input)", "reciprocal",
  "reciprocal">;
def Inlay_ReluOp : Inlay_UnaryOp<"relu", ["relu"], "torch.relu(input)", "relu", "larger of the input and zero",
  Inlay_Numbers>;
def Inlay_RoundOp : Inlay_RoundingOp<"round", "RoundEvenOp", "nearest integer; ties round to even">;
def Inlay_RsqrtOp : Inlay_MathOp<"rsqrt", "RsqrtOp", "one over the square root">;
def Inlay_SigmoidOp : Inlay_UnaryOp<"sigmoid", ["sigmoid"], "torch.sigmoid(input)", "sigmoid", "logistic function">;
def Inlay_SignOp : Inlay_UnaryOp<"sign", ["sign", "sgn"], "torch.sign(input)", "sign", "-1, 0 or 1, and 0 for NaN",
  Inlay_All>;
def Inlay_SiluOp : Inlay_UnaryOp<"silu", ["silu"], "torch.nn.functional.silu(input)", "silu",
  "input times its logistic function">;
def Inlay_SinOp : Inlay_MathOp<"sin", "SinOp", "sine">;
def Inlay_SinhOp : Inlay_MathOp<"sinh", "SinhOp", "hyperbolic sine">;
def Inlay_SqrtOp : Inlay_MathOp<"sqrt", "SqrtOp", "square root">;
def Inlay_TanOp : Inlay_MathOp<"tan", "TanOp", "tangent">;
def Inlay_TanhOp : Inlay_MathOp<"tanh", "TanhOp", "hyperbolic tangent">;
def Inlay_TruncOp : Inlay_RoundingOp<"trunc", "TruncOp", "nearest integer towards zero">;
def Inlay_GeluOp : Inlay_UnaryOp<"gelu", ["gelu"], "torch.nn.functional.gelu(input)", "gelu",
  "Gaussian error linear unit, computed with the error function">;

#endif // INLAY_DIALECT_INLAY_IR_INLAYPOINTWISEOPS_TD
