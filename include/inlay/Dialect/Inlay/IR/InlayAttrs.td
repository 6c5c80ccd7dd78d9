// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes for targets, and for the verdict that partitioning assigns to each op.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYATTRS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYATTRS_TD

include "inlay/Dialect/Inlay/IR/InlayDialect.td"
include "inlay/Dialect/Inlay/IR/InlayInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

class Inlay_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Inlay_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Inlay_VulkanAttr : Inlay_Attr<"Vulkan", "vulkan"> {
  let summary = "the Vulkan target, with the device properties that code generation uses";
  let description = [{
    The defaults are the minimum limits of Vulkan 1.3, so code for them runs on every device.

    `kind` selects the default cost model: `discrete`, `integrated` or `software`.

    With `subgroup-broadcast`, the `subgroup_size` invocations of a subgroup can exchange values, and whole subgroups
    compute products. Their kernels require exactly this size. With `subgroup-arithmetic`, they can also add up values.
    `subgroup-shuffle` states that shuffles are the fastest exchange. `texel-reads` states that texel buffers of at most
    `max_texel_elements` elements are read faster than storage buffers. Read-only buffers of f32 then become such.

    `matrices` lists the matrix products that the matrix units of a subgroup compute at once (cooperative matrices in
    Vulkan): `16x8x16xf16xf32` has 16 rows, 8 columns and 16 terms, with f16 operands and f32 accumulation. Sufficiently
    large products of f16 use them. Such kernels require the shape that they use. The device query omits cooperative
    matrices on software devices, where they are slower.

    `tuning` overrides the instruction costs that follow from `kind`: positive numbers with the keys of a tuning file,
    for example `{load = 8.0, quad = 12.0}`. The tiles of products and the parts of sums are chosen with these costs.

    Ops that work row by row, such as the ops of a softmax, a normalization or attention, are fused into one kernel
    unless `row_kernels` is false.

    Example: `#inlay.vulkan`, `#inlay.vulkan<subgroup_size = 8, features = ["float16"], kind = "software">`,
    `#inlay.vulkan<subgroup_size = 32, features = ["float16"], matrices = ["16x16x16xf16xf32"]>`
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "128", "maximum number of invocations in a workgroup">:$max_workgroup_invocations,
    DefaultValuedParameter<"int64_t", "65535", "maximum number of workgroups along one axis">:$max_workgroup_count,
    DefaultValuedParameter<"int64_t", "134217728", "maximum size of a storage buffer binding in bytes">:$max_storage_buffer_range,
    DefaultValuedParameter<"int64_t", "16", "maximum number of storage buffers of a kernel">:$max_storage_buffers,
    DefaultValuedParameter<"int64_t", "0", "number of invocations that run in lockstep; 0 if unknown">:$subgroup_size,
    OptionalParameter<"::mlir::ArrayAttr", "optional features: float16, float64, int8, int16, int64, subgroup-arithmetic, subgroup-broadcast, subgroup-shuffle, texel-reads">:$features,
    OptionalParameter<"::mlir::StringAttr", "discrete, integrated or software">:$kind,
    DefaultValuedParameter<"int64_t", "16384", "memory of a workgroup in bytes">:$max_workgroup_memory,
    DefaultValuedParameter<"bool", "true", "true to fuse ops that work row by row into one kernel">:$row_kernels,
    DefaultValuedParameter<"int64_t", "65536", "maximum number of elements of a texel buffer">:$max_texel_elements,
    OptionalParameter<"::mlir::ArrayAttr", "matrix products that a subgroup computes at once, such as 16x16x16xf16xf32">:$matrices,
    OptionalParameter<"::mlir::DictionaryAttr", "instruction costs, with the keys of a tuning file">:$tuning);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasFeature(::llvm::StringRef feature) const;
    /// Returns the products in `matrices`.
    ::llvm::SmallVector<::inlay::MatrixShape> getMatrixShapes() const;
    /// Returns the kind of the device; an integrated GPU if `kind` is not given.
    ::inlay::DeviceKind getDeviceKind() const;
  }];
}

def Inlay_HostAttr : Inlay_Attr<"Host", "host"> {
  let summary = "the host target: native code through LLVM";
  let description = [{
    Products, convolutions and attention are calls of a library unless `library` is false.

    Example: `#inlay.host`, `#inlay.host<library = false>`
  }];
  let parameters = (ins
    DefaultValuedParameter<"bool", "true", "true to call a library for ops that it implements well">:$library);
  let builders = [AttrBuilder<(ins), [{ return $_get($_ctxt, true); }]>];
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
}

def Inlay_TorchAttr : Inlay_Attr<"Torch", "torch"> {
  let summary = "the framework that the graph was exported from";
  let description = [{ Runs every `inlay.opaque` that names a framework op. Example: `#inlay.torch` }];
}

def Inlay_DeclaredAttr : Inlay_Attr<"Declared", "declared",
    [DeclareAttrInterfaceMethods<TargetAttrInterface, ["getTargetName", "isAccelerator", "canRun"]>]> {
  let summary = "a target whose ops are listed";
  let description = [{
    For tests, what-if analysis, and embedders whose backend is not part of Inlay. `ops` lists op names in any form that
    users may write (`aten::conv2d`, `aten.add.Tensor`, `inlay.relu`, `arith.addf`); `"*"` is every op. The graph does
    not have to contain the listed ops.

    A target declared as "host" or "torch" stands for that target and is therefore not an accelerator.

    Example: `#inlay.declared<"npu", ["aten::conv2d", "aten::relu"]>`
  }];
  let parameters = (ins StringRefParameter<"name in reports">:$name,
                        OptionalArrayRefParameter<"::mlir::StringAttr", "op names">:$ops);
  let assemblyFormat = "`<` $name `,` `[` (`]`) : ($ops^ `]`)? `>`";
  let genVerifyDecl = 1;
}

def Inlay_VerdictAttr : Inlay_Attr<"Verdict", "verdict"> {
  let summary = "the target of an op and the reason for it";
  let description = [{
    `code` is a reason code of the partition report. `caused_by` is the label of the op that caused the decision.

    Example: `#inlay.verdict<"host", "no-converter", "no pattern converts aten::lgamma for vulkan">`
  }];
  let parameters = (ins StringRefParameter<"name of the target">:$target, StringRefParameter<"reason code">:$code,
                        StringRefParameter<"a sentence">:$text,
                        OptionalParameter<"::mlir::StringAttr", "label of the op that caused it">:$caused_by);
  let assemblyFormat = "`<` $target `,` $code `,` $text (`,` $caused_by^)? `>`";
  let genVerifyDecl = 1;
}

def Inlay_TensorAttr : Inlay_Attr<"Tensor", "tensor"> {
  let summary = "a tensor among the arguments or outputs of a recorded call";
  let description = [{
    `number` is the number that `inlay.signature` on the ops of the call has at the operand or result that is this
    tensor.

    Example: `#inlay.tensor<2>`
  }];
  let parameters = (ins "int64_t":$number);
  let assemblyFormat = "`<` $number `>`";
}

def Inlay_SymbolAttr : Inlay_Attr<"Symbol", "symbol"> {
  let summary = "a size that is known only at a call";
  let description = [{
    The range includes both ends; a maximum of 9223372036854775807 means unbounded. `typical` is the size that code is
    optimized for. It is within the range, or 0 if none was given.

    Example: `#inlay.symbol<"batch", 1 to 8>`, `#inlay.symbol<"sequence", 1 to 512, typically 128>`
  }];
  let parameters = (ins StringRefParameter<"name in messages">:$name, "int64_t":$min, "int64_t":$max,
                        DefaultValuedParameter<"int64_t", "0", "size that code is optimized for">:$typical);
  let assemblyFormat = "`<` $name `,` $min `to` $max (`,` `typically` $typical^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isBounded() const { return getMax() != ::std::numeric_limits<int64_t>::max(); }
  }];
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYATTRS_TD
