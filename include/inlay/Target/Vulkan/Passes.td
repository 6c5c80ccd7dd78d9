// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the Convert phase that only the Vulkan target runs.

#ifndef INLAY_TARGET_VULKAN_PASSES_TD
#define INLAY_TARGET_VULKAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitSumsPass : Pass<"inlay-convert-split-sums", "::mlir::func::FuncOp"> {
  let summary = "Split long reductions into parts that are computed beside each other";
  let description = [{
    A product or another reduction of few results of many terms keeps few subgroups busy, and no invocation should take
    more than `longest` steps for an element. Such a reduction is split along one of its loops ("split-K"), which operands must go along as
    it is: a first op reduces each part, a second one joins parts.

    ```mlir
    %r = linalg.matmul ins(%a, %b : tensor<16x16384xf32>, tensor<16384x16xf32>) outs(%init : tensor<16x16xf32>)
    // becomes, with %0 and %1 %a and %b as tensor<16x8x2048xf32> and tensor<8x2048x16xf32>, and %2 zeros:
    %3 = linalg.generic {...} ins(%0, %1) outs(%2) -> tensor<8x16x16xf32> // (part, m, n, k)
    %r = linalg.generic {...} ins(%3) outs(%init)                         // (m, n, part)
    ```
  }];
  let options = [
    Option<"subgroup", "subgroup", "int64_t", "0", "invocations that can hand values to each other; 0 for none">,
    Option<"inSoftware", "in-software", "bool", "false", "whether a CPU runs the kernels">,
    Option<"texels", "texels", "bool", "false", "whether texel buffers are read faster than storage buffers">,
    Option<"tuning", "tuning", "std::string", "\"\"", "costs of instructions, as a dictionary by keys of a tuning file">,
    Option<"longest", "longest", "int64_t", "64000", "most steps of reductions for an element">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

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
    Option<"tuning", "tuning", "std::string", "\"\"", "costs of instructions, as a dictionary by keys of a tuning file">,
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
    Option<"minRow", "least-row", "int64_t", "64",
           "elements of the shortest rows that are worth it">];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
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

#endif // INLAY_TARGET_VULKAN_PASSES_TD
