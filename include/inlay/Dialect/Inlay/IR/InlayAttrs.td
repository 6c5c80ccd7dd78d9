// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Targets, and the verdict that partitioning writes on each op.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYATTRS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYATTRS_TD

include "inlay/Dialect/Inlay/IR/InlayDialect.td"
include "inlay/Dialect/Inlay/IR/InlayInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

class Inlay_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Inlay_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Inlay_VulkanAttr : Inlay_Attr<"Vulkan", "vulkan"> {
  let summary = "the Vulkan target, with the device facts that code generation uses";
  let description = [{
    The defaults are the least that Vulkan 1.3 lets a device offer, so code for them runs everywhere.

    `kind` is what sort of device it is, for the default cost model: `discrete`, `integrated` or `software`.

    With `subgroup-broadcast`, the `subgroup_size` invocations of a subgroup can hand values to each other, and products
    are computed by whole subgroups: kernels then need just this size. `subgroup-shuffle` says that shuffles are the
    fastest way to do so. `texel-reads` says that texel buffers, of at most
    `max_texel_elements`, are read faster than storage buffers; f32 that are only read are then such.

    `matrices` are the products of matrices that a subgroup computes at once on units of its own (in Vulkan cooperative
    matrices): `16x8x16xf16xf32` is one of 16 rows, 8 columns and 16 terms, of f16 that are added up in f32. Products of
    f16 large enough are computed by them; kernels then need the shape that they use. The device query leaves them out
    for software, where they are slower.

    `tuning` says what instructions cost where that is known better than by `kind`: positive numbers by the keys of a
    tuning file, as `{load = 8.0, quad = 12.0}`. Tiles of products and parts of sums are chosen by it.

    Ops that work row by row, as those of a softmax, a norm or attention, are one kernel unless `row_kernels` is false.

    Example: `#inlay.vulkan`, `#inlay.vulkan<subgroup_size = 8, features = ["float16"], kind = "software">`,
    `#inlay.vulkan<subgroup_size = 32, features = ["float16"], matrices = ["16x16x16xf16xf32"]>`
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "128", "most invocations of one workgroup">:$max_workgroup_invocations,
    DefaultValuedParameter<"int64_t", "65535", "most workgroups along one axis">:$max_workgroup_count,
    DefaultValuedParameter<"int64_t", "134217728", "most bytes of one storage buffer binding">:$max_storage_buffer_range,
    DefaultValuedParameter<"int64_t", "16", "most storage buffers of one kernel">:$max_storage_buffers,
    DefaultValuedParameter<"int64_t", "0", "invocations that run in lockstep, 0 if unknown">:$subgroup_size,
    OptionalParameter<"::mlir::ArrayAttr", "optional features: float16, float64, int8, int16, int64, subgroup-broadcast, subgroup-shuffle, texel-reads">:$features,
    OptionalParameter<"::mlir::StringAttr", "discrete, integrated or software">:$kind,
    DefaultValuedParameter<"int64_t", "16384", "bytes of a workgroup's memory">:$max_workgroup_memory,
    DefaultValuedParameter<"bool", "true", "whether ops that work row by row are one kernel">:$row_kernels,
    DefaultValuedParameter<"int64_t", "65536", "most elements of one texel buffer">:$max_texel_elements,
    OptionalParameter<"::mlir::ArrayAttr", "matrices that a subgroup multiplies at once, as 16x16x16xf16xf32">:$matrices,
    OptionalParameter<"::mlir::DictionaryAttr", "costs of instructions, by the keys of a tuning file">:$tuning);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasFeature(::llvm::StringRef feature) const;
    /// The products in `matrices`.
    ::llvm::SmallVector<::inlay::MatrixShape> getMatrixShapes() const;
    /// By `kind`; an integrated GPU if the attribute doesn't say.
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
    DefaultValuedParameter<"bool", "true", "whether ops are left to a library that does them well">:$library);
  let builders = [AttrBuilder<(ins), [{ return $_get($_ctxt, true); }]>];
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
}

def Inlay_TorchAttr : Inlay_Attr<"Torch", "torch"> {
  let summary = "the framework: runs what it was exported from";
  let description = [{ Runs every `inlay.opaque` that names a framework op. Example: `#inlay.torch` }];
}

def Inlay_DeclaredAttr : Inlay_Attr<"Declared", "declared",
    [DeclareAttrInterfaceMethods<TargetAttrInterface, ["getTargetName", "isAccelerator", "canRun"]>]> {
  let summary = "a target whose ops are listed";
  let description = [{
    For tests, what-if questions and embedders whose backend lives elsewhere. `ops` are names as users write them
    (`aten::conv2d`, `aten.add.Tensor`, `inlay.relu`, `arith.addf`); `"*"` is every op. Names need not occur.

    A target that is declared as "host" or "torch" stands for that target and is therefore no accelerator.

    Example: `#inlay.declared<"npu", ["aten::conv2d", "aten::relu"]>`
  }];
  let parameters = (ins StringRefParameter<"name in reports">:$name,
                        OptionalArrayRefParameter<"::mlir::StringAttr", "op names">:$ops);
  let assemblyFormat = "`<` $name `,` `[` (`]`) : ($ops^ `]`)? `>`";
  let genVerifyDecl = 1;
}

def Inlay_VerdictAttr : Inlay_Attr<"Verdict", "verdict"> {
  let summary = "where an op runs and why";
  let description = [{
    `code` is one of the reason codes of the partition report; `caused_by` is the label of the op that caused it.

    Example: `#inlay.verdict<"host", "no-converter", "no pattern converts aten::lgamma for vulkan">`
  }];
  let parameters = (ins StringRefParameter<"target's name">:$target, StringRefParameter<"reason code">:$code,
                        StringRefParameter<"a sentence">:$text,
                        OptionalParameter<"::mlir::StringAttr", "label of the op that caused it">:$caused_by);
  let assemblyFormat = "`<` $target `,` $code `,` $text (`,` $caused_by^)? `>`";
  let genVerifyDecl = 1;
}

def Inlay_TensorAttr : Inlay_Attr<"Tensor", "tensor"> {
  let summary = "a tensor among the arguments or outputs of a recorded call";
  let description = [{
    `number` is what `inlay.signature` on the ops of the call has at the operand or result that the tensor is.

    Example: `#inlay.tensor<2>`
  }];
  let parameters = (ins "int64_t":$number);
  let assemblyFormat = "`<` $number `>`";
}

def Inlay_SymbolAttr : Inlay_Attr<"Symbol", "symbol"> {
  let summary = "a size that is known at a call alone";
  let description = [{
    Both ends of its range belong to it; 9223372036854775807 means that there is no end. `typical` is what code is made
    for, where it matters: within the range, or 0 if nobody has said.

    Example: `#inlay.symbol<"batch", 1 to 8>`, `#inlay.symbol<"sequence", 1 to 512, typically 128>`
  }];
  let parameters = (ins StringRefParameter<"what messages call it">:$name, "int64_t":$min, "int64_t":$max,
                        DefaultValuedParameter<"int64_t", "0", "what code is made for">:$typical);
  let assemblyFormat = "`<` $name `,` $min `to` $max (`,` `typically` $typical^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isBounded() const { return getMax() != ::std::numeric_limits<int64_t>::max(); }
  }];
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYATTRS_TD
