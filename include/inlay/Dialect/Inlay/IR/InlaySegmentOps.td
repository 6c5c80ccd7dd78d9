// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a graph besides tensor arithmetic: constants, framework calls, plugins, and segments.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYSEGMENTOPS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYSEGMENTOPS_TD

include "inlay/Dialect/Inlay/IR/InlayOpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Inlay_ConstantOp : Inlay_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a tensor known at compile time";
  let description = [{
    Weights are `dense_resource` attributes, so their data stays outside the text. Constants belong to no segment: each
    segment that uses one has its own copy of the op, and all copies share the data.

    Example: `%w = inlay.constant dense_resource<fc.weight> : tensor<10x512xf32>`
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Inlay_OpaqueOp : Inlay_Op<"opaque", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a framework call that has no graph op";
  let description = [{
    Reads every operand and writes the operands whose numbers are in `writes`. A result may share memory with the
    operands in `aliases`. `call` describes the call and is read only by the framework. `sizes`, a map of the function's
    symbols, gives the numbers in `call` that are known only at a call. Only a target that names the op can run it. Two
    equal calls are never merged, and a call that writes is never deleted. A call that is `in_order` has effects that
    its operands and results do not show: it draws random numbers, prints, or checks something. All such calls are kept,
    in program order.

    Example: `%r = inlay.opaque "aten::sort"(%x) : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$name, OptionalAttr<DenseI64ArrayAttr>:$writes,
      OptionalAttr<DenseI64ArrayAttr>:$aliases, OptionalAttr<StrAttr>:$call, UnitAttr:$in_order,
      OptionalAttr<AffineMapAttr>:$sizes);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = [{ $name `(` $inputs `)` (`writes` $writes^)? (`aliases` $aliases^)? (`in_order` $in_order^)?
      (`call` $call^)? (`sizes` $sizes^)? attr-dict
      `:` functional-type($inputs, $outputs) }];
  let hasVerifier = 1;
}

def Inlay_PluginOp : Inlay_Op<"plugin", [Pure]> {
  let summary = "a named external kernel";
  let description = [{
    A kernel with a signature and unknown contents. Only a target that names it can run it.

    Example: `%r = inlay.plugin "my_kernel"(%x) {alpha = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$name);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "$name `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

def Inlay_SegmentOp : Inlay_Op<"segment", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"::inlay::YieldOp">, RecursivelySpeculatable]> {
  let summary = "ops that run together on one target";
  let description = [{
    Contains ops of any dialect. The body of an open segment uses values from the enclosing block. A closed segment
    captures all of them through `inputs`, as block arguments. `do_not_merge` prevents merging with neighboring
    segments.

    Example:
    ```mlir
    %r = inlay.segment #inlay.vulkan(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%arg0: tensor<4xf32>):
      %0 = inlay.relu %arg0 : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, AnyAttr:$target, UnitAttr:$do_not_merge);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{ $target `(` $inputs `)` (`do_not_merge` $do_not_merge^)? attr-dict-with-keyword
      `:` functional-type($inputs, $outputs) $body }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::inlay::TargetAttrInterface getTargetInterface() { return ::llvm::cast<::inlay::TargetAttrInterface>(getTarget()); }
    /// Returns true if the body uses no values from outside.
    bool isClosed();
  }];
}

def Inlay_YieldOp : Inlay_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"::inlay::SegmentOp">]> {
  let summary = "the values that leave a segment";
  let description = [{ Example: `inlay.yield %0 : tensor<4xf32>` }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // INLAY_DIALECT_INLAY_IR_INLAYSEGMENTOPS_TD
