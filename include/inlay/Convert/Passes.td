// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the Convert phase: from the graph to a target's code.

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

def FormLibraryCallsPass : Pass<"inlay-convert-form-library-calls", "::mlir::func::FuncOp"> {
  let summary = "Make products, convolutions and attention calls of the host's library";
  let description = [{
    `inlay.linear`, `inlay.matmul`, `inlay.conv` of one or two spatial dims and `inlay.scaled_dot_product_attention` of f32
    become `plan.library_call`, unless so little is to be multiplied that a call costs more. Permutations of a product's
    operands, and of its result if that has no other use, become part of its maps. A call takes in what follows as long
    as nothing else uses its result: activations, and sums and products with another tensor. Arguments of the function
    marked `plan.constant` are the call's constants.

    ```mlir
    func.func @f(%x: tensor<32x64xf32>, %w: tensor<16x64xf32> {plan.constant}) -> tensor<32x16xf32> {
      %0 = inlay.linear %x, %w : (tensor<32x64xf32>, tensor<16x64xf32>) -> tensor<32x16xf32>
      %1 = inlay.relu %0 : (tensor<32x16xf32>) -> tensor<32x16xf32>
      return %1 : tensor<32x16xf32>
    }
    ```
    becomes
    ```mlir
    %0 = tensor.empty() : tensor<32x16xf32>
    %1 = plan.library_call contraction(%x, %w) into %0 {
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      constants = array<i64: 1>, post_ops = [#plan.post_op<relu>]
    } : (tensor<32x64xf32>, tensor<16x64xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
                           "::inlay::plan::PlanDialect"];
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

//===-- Buffers to loops and kernels ----------------------------------------------------------------------------===//

def LinalgToGPUPass : Pass<"inlay-convert-linalg-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "Map each structured op on buffers to a GPU launch";
  let description = [{
    One launch per op. An invocation computes one register tile of the result: reductions run in loops that carry the
    tile's accumulators, and loads that points of the tile share become one. A fill just before a reduction into the
    same buffer becomes its start value. Buffers are passed flat, and the number of tiles is a launch parameter.

    With a `subgroup` of more than one invocation, products are computed by whole subgroups: what its lanes have in
    common each loads a part of and hands to the others, and elements that lie side by side are loaded as vectors.

    Products of f16 that are summed up in f32 are computed by `matrices`, where there are such and it pays: a workgroup
    brings operands to its memory step by step, and its subgroups multiply them. An elementwise op behind a product, which
    alone reads what it computes, becomes a part of the launch.
  }];
  let options = [
    Option<"block", "block", "int64_t", "64", "invocations of a workgroup">,
    Option<"maxGrid", "max-grid", "int64_t", "65535", "most workgroups along one axis">,
    Option<"subgroup", "subgroup", "int64_t", "0", "invocations that can hand values to each other; 0 for none">,
    Option<"inSoftware", "in-software", "bool", "false", "whether a CPU runs the kernels">,
    Option<"texels", "texels", "bool", "false", "whether texel buffers are read faster than storage buffers">,
    ListOption<"matrices", "matrices", "std::string",
               "matrices that a subgroup multiplies at once, as 16x8x16xf16xf32: rows, columns, depth, types of elements "
               "and sums">,
    Option<"invocations", "max-invocations", "int64_t", "128", "most invocations of a workgroup">,
    Option<"memory", "memory", "int64_t", "16384", "bytes of a workgroup's memory">];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect"];
}

def FormWorkgroupKernelsPass : Pass<"inlay-convert-form-workgroup-kernels", "::mlir::func::FuncOp"> {
  let summary = "Make GPU launches of structured ops that work row by row";
  let description = [{
    A reduction along rows of at least `least-row` elements, with the ops in a row before and after it that have the
    same parallel loops, becomes one launch if no row needs what is computed of another: softmax, norms, and attention
    with its products. A workgroup computes a block of rows, op by op, with a barrier where one op uses what another
    wrote. Its invocations take tiles of an op in turns; reductions of whole rows they share, and join the shares
    through the workgroup's memory. Buffers that no other op uses are in that memory, if a block of rows of them fits.

    Products join if each operand has one of the group's loops besides the last, so that a workgroup reads the keys and
    values of one head, and if their results fit into the workgroup's memory.

    What isn't part of a group stays as it is, for `inlay-convert-linalg-to-gpu`: ops that access other rows or gather,
    rows that aren't contiguous, reductions that can't be joined, more iterations of an invocation than drivers run.

    ```mlir
    func.func @f(%x: memref<8x1000xf32>, %r: memref<8x1000xf32>) {
      %zero = arith.constant 0.0 : f32
      %sums = memref.alloc() : memref<8xf32>
      linalg.fill ins(%zero : f32) outs(%sums : memref<8xf32>)
      linalg.reduce { arith.addf } ins(%x : memref<8x1000xf32>) outs(%sums : memref<8xf32>) dimensions = [1]
      linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
          ins(%x, %sums : memref<8x1000xf32>, memref<8xf32>) outs(%r : memref<8x1000xf32>) { /* x / sum */ }
      return
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: memref<8x1000xf32>, %r: memref<8x1000xf32>) {
      gpu.launch blocks(...) in (%c1, ...) threads(%lane, ...) in (%c64, ...) {
        %memory = memref.alloc() : memref<8xf32, #gpu.address_space<workgroup>>
        %shares = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
        // each invocation's share of a row's sum
        gpu.barrier
        // the shares' sum, two by two; then tiles of %r
      }
      return
    }
    ```
  }];
  let options = [
    Option<"block", "block", "int64_t", "64", "invocations of a workgroup, a power of two">,
    Option<"maxGrid", "max-grid", "int64_t", "65535", "most workgroups along one axis">,
    Option<"memory", "memory", "int64_t", "16384", "bytes of a workgroup's memory">,
    Option<"maxBuffers", "max-buffers", "int64_t", "16", "most buffers of one kernel">,
    Option<"wholeRows", "whole-rows", "bool", "false",
           "compute each row by one invocation, without barriers, where there are enough rows">,
    Option<"leastRow", "least-row", "int64_t", "64",
           "elements of the shortest rows that are worth it">];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def FormHostKernelsPass : Pass<"inlay-convert-form-host-kernels", "::mlir::ModuleOp"> {
  let summary = "Move structured ops into functions that several threads share the iterations of";
  let description = [{
    Ops in a row that can be split by one parallel loop, so that no part of it needs what another part computes, become
    one function: it runs iterations from its first argument up to its second. Equal functions are kept once. Library
    calls become calls with all sizes and strides spelled out. Each call has the number of its kernel in the function's
    attribute `plan.kernels`.

    ```mlir
    func.func @f(%x: memref<32x8xf32>, %r: memref<32x8xf32>) {
      linalg.exp ins(%x : memref<32x8xf32>) outs(%r : memref<32x8xf32>)
      return
    }
    ```
    becomes
    ```mlir
    func.func private @f_loops0(%begin: index, %end: index, %x: memref<32x8xf32>, %r: memref<32x8xf32>)
        attributes {plan.unit = 1} {
      linalg.exp {plan.split = 0} ins(%x : memref<32x8xf32>) outs(%r : memref<32x8xf32>)
      return
    }
    func.func @f(%x: memref<32x8xf32>, %r: memref<32x8xf32>)
        attributes {plan.kernels = [#plan.host_kernel<"exp", loops, buffers = 2>]} {
      call @f_loops0(%zero, %c32, %x, %r) {plan.kernel = 0, plan.cost = 8}
      return
    }
    ```
  }];
  let dependentDialects = ["::inlay::plan::PlanDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect"];
}

def LinalgToLoopsPass : Pass<"inlay-convert-linalg-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Map each structured op on buffers to a vectorized loop nest";
  let description = [{
    The same register tiles as on a GPU, in loops, with the loop along which the result is contiguous in vectors of
    `lanes` elements; the rest of a row that doesn't fill a vector is masked.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "16", "elements of a vector">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def GPUToEnginePass : Pass<"inlay-convert-gpu-to-engine", "::mlir::ModuleOp"> {
  let summary = "Convert outlined kernels to SPIR-V and their launches to an engine";
  let description = [{
    Each function that launches kernels becomes a `plan.engine`; each kernel is converted to SPIR-V in a module of its
    own, serialized and validated. Equal kernels are kept once. Scalar launch operands become push constants.
  }];
  let options = [Option<"target", "target", "std::string", "\"#inlay.vulkan\"", "the device facts, as an attribute">];
  let dependentDialects = ["::inlay::plan::PlanDialect", "::mlir::spirv::SPIRVDialect"];
}

#endif // INLAY_CONVERT_PASSES_TD
