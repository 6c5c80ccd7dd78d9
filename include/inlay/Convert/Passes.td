// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the Convert phase that all targets share. Those of one target lie in Target/<Name>/Passes.td.

#ifndef INLAY_CONVERT_PASSES_TD
#define INLAY_CONVERT_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertGraphToLinalgPass : Pass<"inlay-convert-graph-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Convert graph ops to linalg on tensors";
  let description = [{
    Converts every graph op and constant, wherever it is nested, to `linalg.generic` and ops of `tensor` and `arith`.
    Segments, opaque calls, plugins and lists stay. An op that no pattern converts is an error that says why.

    A dynamic dim is taken to be no broadcasting 1: as exporters do, sizes that may be 1 are given as 1.

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
  let summary = "Move each segment into a function of its own";
  let description = [{
    A segment becomes a private function named after the function around it and its number; `plan.invoke` calls it.
    Constants that carry data leave the segment and become arguments, marked `plan.constant`, so that weights stay in one
    place; splats stay.
    Tensor constants of other dialects become `inlay.constant`. Scalars enter and leave the function as tensors without
    dims. Control flow that is split, alone in its segment with segments in its regions, is left in that segment's place.

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
  let summary = "Convert each outlined segment by its target";
  let description = [{
    Asks the target of each function that `inlay-convert-outline-segments` made to convert it: afterwards the module
    holds engines and host functions, and one object file with the native code of all host functions.

    With `host-versions` each segment that becomes an engine is converted for the host too, as the host function that
    the engine's `host_version` names, if it can be.
  }];
  let options = [
    Option<"hostVersions", "host-versions", "bool", /*default=*/"false",
           "Convert what becomes an engine for the host as well, for when the device fails">,
  ];
  let dependentDialects = ["::inlay::plan::PlanDialect"];
}

def ConvertVerifyPass : Pass<"inlay-convert-verify", "::mlir::ModuleOp"> {
  let summary = "Check that every segment is converted";
  let description = [{
    No segment or graph op but constants may be left, and each `plan.invoke` must name an engine, a host function or a
    function of framework calls.
  }];
}

//===-- Tensors to buffers --------------------------------------------------------------------------------------===//

def ChannelsLastPass : Pass<"inlay-convert-channels-last", "::mlir::func::FuncOp"> {
  let summary = "Let convolutions compute with channels innermost";
  let description = [{
    The library's convolutions get and give data with channels last, and so do the structured ops between them that go
    over channels: they read and write through other maps, with their loops in the order of the result. A tensor is
    copied to the other order where it enters, and where something else reads it. Functions without convolutions of the
    library stay as they are. With `direct`, so do the convolutions that are one structured op, of one group, and worth
    copies; then functions with convolutions of several groups stay as they are.

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
    Option<"direct", "direct", "bool", /*default=*/"false", "Also for convolutions that are one structured op">,
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseElementwisePass : Pass<"inlay-convert-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse chains of elementwise ops";
  let description = [{
    An elementwise op whose result has one use joins an elementwise user, and splat operands become scalars. Reductions
    take in no producer: they would compute it again at each step.

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
  let summary = "Compute in 32 bits what 64-bit integers are not needed for";
  let description = [{
    Where the ranges of indices and constants prove that operands and results of 64-bit integer arithmetic in the body
    of a structured op fit 32 bits, it is done in these: vectors hold twice as many, and devices without 64-bit
    integers can do it.

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
    Each tensor result becomes a trailing memref argument that the result is materialized in, and arguments are marked
    read only, so that bufferization computes results in place. Splat constants become fills.

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
  let summary = "Compute what is copied to a result in that result";
  let description = [{
    What is allocated only to be copied to an argument is computed there, as it is or under other dims.

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
    Each `memref.alloc` in the entry block whose size follows from those of inputs becomes a trailing argument; the
    number of arguments before them stays in the attribute `plan.arguments`. With `arena`, those of static size lie in
    one argument, where those that are never needed at the same time share memory, and of the others those of one
    size do.

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
