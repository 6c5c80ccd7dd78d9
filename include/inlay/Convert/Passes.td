// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the Convert phase that targets share. Target/<Name>/Passes.td has the passes of one target.

#ifndef INLAY_CONVERT_PASSES_TD
#define INLAY_CONVERT_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertGraphToLinalgPass : Pass<"inlay-convert-graph-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Convert graph ops to linalg on tensors";
  let description = [{
    Converts every graph op and constant, at any nesting level, to `linalg.generic` and ops of `tensor` and `arith`.
    Segments, opaque calls, plugins and lists stay. The pass fails with a reason if no pattern converts an op.

    The conversion assumes that a dynamic dim is not a broadcast dim of size 1. Importers make such dims static.

    ```mlir
    %r = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    %0 = tensor.empty() : tensor<4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.maximumf %in, %zero : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

//===-- Segments ------------------------------------------------------------------------------------------------===//

def OutlineSegmentsPass : Pass<"inlay-convert-outline-segments", "::mlir::ModuleOp"> {
  let summary = "Move each segment into a separate function";
  let description = [{
    A segment becomes a private function, named after the enclosing function and the segment's number. `plan.invoke`
    calls it. Constants that carry data leave the segment and become arguments, marked `plan.constant`, so that weights
    stay in one place. Splats stay in the segment. Tensor constants of other dialects become `inlay.constant`. Scalars
    enter and leave the function as tensors without dims. Split control flow, which is alone in its segment and has
    segments in its regions, replaces that segment.

    ```mlir
    %r = inlay.segment #inlay.host(%x) : (tensor<4xf32>) -> tensor<4xf32> { ... }
    ```
    becomes
    ```mlir
    %r = plan.invoke @forward_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    func.func private @forward_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.target = #inlay.host} { ... }
    ```
  }];
  let dependentDialects = ["::inlay::InlayDialect", "::inlay::plan::PlanDialect", "::mlir::func::FuncDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def ConvertSegmentsPass : Pass<"inlay-convert-segments", "::mlir::ModuleOp"> {
  let summary = "Convert each outlined segment with its target";
  let description = [{
    Asks the target of each function that `inlay-convert-outline-segments` made to convert it. Afterwards the module
    holds engines, host functions, and one object file with the native code of all host functions.

    With `host-versions`, each segment that becomes an engine is also converted for the host if possible. The engine's
    `host_version` names that host function.
  }];
  let options = [
    Option<"hostVersions", "host-versions", "bool", /*default=*/"false",
           "convert each engine for the host as well, so that the host can run it if the device fails">,
  ];
  let dependentDialects = ["::inlay::plan::PlanDialect"];
}

def ConvertVerifyPass : Pass<"inlay-convert-verify", "::mlir::ModuleOp"> {
  let summary = "Check that every segment is converted";
  let description = [{
    No segment and no graph op except constants may remain. Each `plan.invoke` must name an engine, a host function or
    a function of framework calls.
  }];
}

//===-- Tensors to buffers --------------------------------------------------------------------------------------===//

def ChannelsLastPass : Pass<"inlay-convert-channels-last", "::mlir::func::FuncOp"> {
  let summary = "Make convolutions compute with channels innermost";
  let description = [{
    Library convolutions read and write data with channels last, and so do the structured ops between them that go over
    channels: their maps change, and their loops follow the order of the result. A tensor is copied to the new order
    where it enters, and back where another op reads it. Functions without library convolutions do not change.
    With `direct`, the pass also converts convolutions of one group that are one structured op if they are large enough
    to pay for the copies. It then converts nothing in functions with convolutions of several groups.

    ```mlir
    %r = plan.library_call convolution(%x, %w) into %e {window = array<i64: 1, 3, 1, 1, 1, 3, 1, 1, 1>}
      : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    ```
    becomes
    ```mlir
    %0 = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, c, h, w)>, ...} ins(%x) ...
    %1 = plan.library_call convolution(%0, %w) into %f {config = {channels_last}, window = ...}
      : (tensor<1x8x8x4xf32>, tensor<4x4x3x3xf32>, tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, h, w, c)>, ...} ins(%1) ...
    ```
  }];
  let options = [
    Option<"direct", "direct", "bool", /*default=*/"false", "also convert convolutions that are one structured op">,
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseElementwisePass : Pass<"inlay-convert-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse chains of elementwise ops, also into reductions";
  let description = [{
    Fuses an elementwise op whose result has one use into an elementwise user. Splat operands become scalars. A reduction
    absorbs the op that computes its only operand if it reads each element once and in order.

    ```mlir
    %a = linalg.generic {... exp ...} ins(%x) ...
    %b = linalg.generic {... neg ...} ins(%a) ...
    ```
    becomes
    ```mlir
    %b = linalg.generic {... exp, neg ...} ins(%x) ...
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::affine::AffineDialect"];
}

def NarrowIntegersPass : Pass<"inlay-convert-narrow-integers", "::mlir::func::FuncOp"> {
  let summary = "Narrow 64-bit integer arithmetic to 32 bits";
  let description = [{
    Narrows 64-bit integer arithmetic in the body of a structured op if the ranges of indices and constants prove that
    operands and results fit 32 bits. Vectors hold twice as many 32-bit integers, and devices without 64-bit integers
    can run the op.

    ```mlir
    %0 = linalg.index 0 : index               // of 100 steps
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.muli %1, %c3_i64 : i64
    %3 = arith.sitofp %2 : i64 to f32
    ```
    becomes
    ```mlir
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.muli %1, %c3_i32 : i32
    %3 = arith.sitofp %2 : i32 to f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PassDestinationsPass : Pass<"inlay-convert-pass-destinations", "::mlir::func::FuncOp"> {
  let summary = "Turn results into buffers that the caller passes";
  let description = [{
    Each tensor result becomes a trailing memref argument in which the result is materialized. Arguments are marked read
    only, so that bufferization computes results in place. Splat constants become fills.

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { ... return %r : tensor<4xf32> }
    ```
    becomes
    ```mlir
    func.func @f(%x: tensor<4xf32> {bufferization.writable = false}, %out: memref<4xf32>) {
      ...
      bufferization.materialize_in_destination %r in restrict writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::memref::MemRefDialect"];
}

def ComputeInPlacePass : Pass<"inlay-convert-compute-in-place", "::mlir::func::FuncOp"> {
  let summary = "Compute values directly in result buffers";
  let description = [{
    Replaces an allocation that is only copied to an argument by that argument, reshaped if the dims differ.

    ```mlir
    func.func @f(%x: memref<4xf32>, %r: memref<4xf32>) {
      %0 = memref.alloc() : memref<4xf32>
      linalg.exp ins(%x : memref<4xf32>) outs(%0 : memref<4xf32>)
      memref.copy %0, %r : memref<4xf32> to memref<4xf32>
      return
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: memref<4xf32>, %r: memref<4xf32>) {
      linalg.exp ins(%x : memref<4xf32>) outs(%r : memref<4xf32>)
      return
    }
    ```
  }];
}

def HoistAllocationsPass : Pass<"inlay-convert-hoist-allocations", "::mlir::func::FuncOp"> {
  let summary = "Turn allocations into scratch buffers that the caller passes";
  let description = [{
    Each `memref.alloc` in the entry block whose size follows from the sizes of inputs becomes a trailing argument. The
    attribute `plan.arguments` holds the number of arguments before them. With `arena`, all allocations of static size
    are placed in one argument; allocations share memory if their lifetimes do not overlap. Allocations of dynamic size
    share an argument if they have equal sizes and their lifetimes do not overlap.

    ```mlir
    func.func @f(%x: memref<4xf32>) { %0 = memref.alloc() : memref<8xf32> ... }
    ```
    becomes
    ```mlir
    func.func @f(%x: memref<4xf32>, %0: memref<8xf32>) attributes {plan.arguments = 1 : i64} { ... }
    ```
  }];
  let options = [Option<"arena", "arena", "bool", "false", "put static allocations into one buffer">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

#endif // INLAY_CONVERT_PASSES_TD
