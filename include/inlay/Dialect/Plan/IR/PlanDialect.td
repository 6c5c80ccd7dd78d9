// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan dialect: engines, and the stitched program over numbered buffers.

#ifndef INLAY_DIALECT_PLAN_IR_PLANDIALECT_TD
#define INLAY_DIALECT_PLAN_IR_PLANDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::inlay::plan";
  let summary = "Engines and the stitched program.";
  let description = [{
    The output of Convert and Stitch: engines (kernel tables, native code) and a program with a few kinds of steps over
    buffers. It maps one to one to the runtime's plan. Sizes, grids and push constants are affine maps without dims.
    Their symbols are those of the program (`inlay.symbols`). With static shapes the maps are constant.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
  }];
}

def Plan_Access : I32EnumAttr<"Access", "access of a kernel to a buffer", [
    I32EnumAttrCase<"read", 0>, I32EnumAttrCase<"write", 1>, I32EnumAttrCase<"read_write", 2>]> {
  let cppNamespace = "::inlay::plan";
  let genSpecializedAttr = 0;
}
def Plan_AccessAttr : EnumAttr<Plan_Dialect, Plan_Access, "access"> {
  let assemblyFormat = "`<` $value `>`";
}

def Plan_BindingKind : I32EnumAttr<"BindingKind", "kind of a buffer in a kernel", [
    I32EnumAttrCase<"storage", 0>, I32EnumAttrCase<"scalar_texels", 1>, I32EnumAttrCase<"vector_texels", 2>]> {
  let cppNamespace = "::inlay::plan";
  let genSpecializedAttr = 0;
}
def Plan_BindingKindAttr : EnumAttr<Plan_Dialect, Plan_BindingKind, "binding_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def Plan_Space : I32EnumAttr<"Space", "memory that contains a buffer", [
    I32EnumAttrCase<"host", 0>, I32EnumAttrCase<"device", 1>]> {
  let cppNamespace = "::inlay::plan";
  let genSpecializedAttr = 0;
}

def Plan_HostKernelKind : I32EnumAttr<"HostKernelKind", "implementation of a kernel of a host function", [
    I32EnumAttrCase<"loops", 0>, I32EnumAttrCase<"contraction", 1>, I32EnumAttrCase<"convolution", 2>,
    I32EnumAttrCase<"attention", 3>, I32EnumAttrCase<"quantized_product", 4>,
    I32EnumAttrCase<"integer_product", 5>]> {
  let cppNamespace = "::inlay::plan";
  let genSpecializedAttr = 0;
}
def Plan_HostKernelKindAttr : EnumAttr<Plan_Dialect, Plan_HostKernelKind, "host_kernel_kind">;

def Plan_PostOpKind : I32EnumAttr<"PostOpKind", "operation that a library kernel applies to each element of its result", [
    I32EnumAttrCase<"relu", 0>, I32EnumAttrCase<"clip", 1>, I32EnumAttrCase<"gelu", 2>,
    I32EnumAttrCase<"gelu_tanh", 3>, I32EnumAttrCase<"silu", 4>, I32EnumAttrCase<"sigmoid", 5>,
    I32EnumAttrCase<"tanh", 6>, I32EnumAttrCase<"hard_swish", 7>, I32EnumAttrCase<"hard_sigmoid", 8>,
    I32EnumAttrCase<"add", 9>, I32EnumAttrCase<"mul", 10>, I32EnumAttrCase<"add_channels", 11>,
    I32EnumAttrCase<"mul_channels", 12>]> {
  let cppNamespace = "::inlay::plan";
  let genSpecializedAttr = 0;
}
def Plan_PostOpAttr : AttrDef<Plan_Dialect, "PostOp"> {
  let mnemonic = "post_op";
  let summary = "an operation that a library kernel applies to each element of its result";
  let description = [{
    Only `clip` has `low` and `high`. `add` and `mul` take an operand. `add_channels` and `mul_channels`, only for
    convolutions, take an operand with one element per channel.

    Example: `#plan.post_op<relu>`, `#plan.post_op<clip, 0.0, 6.0>`
  }];
  let parameters = (ins EnumParameter<Plan_PostOpKind>:$kind,
                        OptionalParameter<"::mlir::FloatAttr">:$low, OptionalParameter<"::mlir::FloatAttr">:$high);
  let assemblyFormat = "`<` $kind (`,` $low^ `,` $high)? `>`";
  let genVerifyDecl = 1;
}

def Plan_HostKernelAttr : AttrDef<Plan_Dialect, "HostKernel"> {
  let mnemonic = "host_kernel";
  let summary = "a part of a host function that runs on several threads or in a library";
  let description = [{
    `HostKernel` of the runtime's plan describes the arguments of a call. `buffers` is the number of buffers, and
    `constants` are the numbers of the buffers that contain weights. Only contractions have `loops`. `config`
    distinguishes kernels of one kind: `bias`, `accumulates` and `channels_last` (units), and for attention `mask`
    ("added" or "selected"), `causal` (a unit) and `scale` (a float). A quantized product has the attributes `code`,
    `block` and `minima` of `inlay.dequantize`, and the units `offsets`, if it has these, and `transposed`, if the
    weight has a row for each element of a row of the input. `scale_code` and `scale_block` describe scales that are
    codes, and `offset_code` and `offset_block` offsets that are codes. The scales of such codes are the next buffer.
    `type` is f16 or bf16 if the weight is rounded to it. A product of integers has the code types `input_code`,
    `weight_code` and `result_code`, the units `input_offsets`, `weight_offsets` and `result_offsets`, if there are
    such, `input_scales` and `weight_scales`, if there are several scales, and `transposed`. A result of codes has
    `limits`, and the unit `inverse` if its scale is the inverse.

    Example:
    ```mlir
    #plan.host_kernel<"linear_1", contraction, buffers = 4, loops = 3, constants = [1, 2], post_ops = [#plan.post_op<relu>],
                      config = {bias}>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, EnumParameter<Plan_HostKernelKind>:$kind, "int64_t":$buffers,
      DefaultValuedParameter<"int64_t", "0">:$loops, OptionalArrayRefParameter<"int64_t">:$constants,
      OptionalArrayRefParameter<"::inlay::plan::PostOpAttr">:$post_ops,
      OptionalParameter<"::mlir::DictionaryAttr">:$config);
  let assemblyFormat = [{ `<` $name `,` $kind `,` `buffers` `=` $buffers
      `` custom<HostKernelFields>($loops, $constants, $post_ops, $config) `` `>` }];
  let genVerifyDecl = 1;
}

def Plan_BufferType : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a numbered buffer of the program";
  let description = [{
    `dims` is a map of the program's symbols with one result per dim. It is required if a dim is known only at a call.

    Example: `!plan.buffer<tensor<1x10xf32>, host>`,
    `!plan.buffer<tensor<?x10xf32>, host, affine_map<()[s0] -> (s0, 10)>>`
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tensor,
                        EnumParameter<Plan_Space>:$space,
                        OptionalParameter<"::mlir::AffineMapAttr">:$dims);
  let assemblyFormat = "`<` $tensor `,` $space (`,` $dims^)? `>`";
  let genVerifyDecl = 1;
}

#endif // INLAY_DIALECT_PLAN_IR_PLANDIALECT_TD
