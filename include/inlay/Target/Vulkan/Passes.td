// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the Convert phase that only the Vulkan target runs.

#ifndef INLAY_TARGET_VULKAN_PASSES_TD
#define INLAY_TARGET_VULKAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitSumsPass : Pass<"inlay-convert-split-sums", "::mlir::func::FuncOp"> {
  let summary = "Split long reductions into parts that run in parallel";
  let description = [{
    A reduction with few results of many terms occupies only a few subgroups, and an invocation should not run more
    than `longest` steps for an element. The pass splits such a reduction along one of its loops ("split-K"): a first op
    reduces each part, and a second op joins the parts. The loop must index dims of the operands directly.

    ```mlir
    %r = linalg.matmul ins(%a, %b : tensor<16x16384xf32>, tensor<16384x16xf32>) outs(%init : tensor<16x16xf32>)
    // becomes, where %0 and %1 are %a and %b as tensor<16x8x2048xf32> and tensor<8x2048x16xf32>, and %2 is zeros:
    %3 = linalg.generic {...} ins(%0, %1) outs(%2) -> tensor<8x16x16xf32> // (part, m, n, k)
    %r = linalg.generic {...} ins(%3) outs(%init)                         // (m, n, part)
    ```
  }];
  let options = [
    Option<"subgroup", "subgroup", "int64_t", "0",
           "invocations of a subgroup that can broadcast values; 0 if none can">,
    Option<"arithmetic", "subgroup-arithmetic", "bool", "false", "subgroups can add up the values of their lanes">,
    Option<"inSoftware", "in-software", "bool", "false", "tune for a CPU that runs the kernels">,
    Option<"texels", "texels", "bool", "false", "tune for texel buffers that are read faster than storage buffers">,
    Option<"tuning", "tuning", "std::string", "\"\"",
           "costs of instructions, as a dictionary with the keys of a tuning file">,
    Option<"longest", "longest", "int64_t", "64000", "maximum number of reduction steps per element">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LinalgToGPUPass : Pass<"inlay-convert-linalg-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "Map each structured op on buffers to a GPU launch";
  let description = [{
    An invocation computes one register tile of the result of an op: reductions run in loops that carry the accumulators
    of the tile, and points of the tile share loads. A fill right before a reduction into the same buffer becomes its
    start value. Buffers are passed flat, and the number of tiles is a launch parameter.

    The launch of an op with reductions also computes the elementwise op that it starts from and the elementwise op after
    it, if nothing else needs the values between them. On a GPU, the launch of a product also computes its inputs if they
    are padded, or similarly cheap. Each other op becomes a launch of its own.

    If `subgroup` is more than 1, whole subgroups compute products: the lanes share the loads of common elements and
    broadcast them, and adjacent elements are loaded as vectors.

    If `subgroup-arithmetic` is set, subgroups of a GPU compute products with few rows as dot products: the lanes go
    along the sum, and the subgroup adds up their partial sums.

    If a shape in `matrices` is worthwhile, cooperative matrices compute products of f16 that are accumulated in f32: a
    workgroup copies the operands to workgroup memory step by step, and its subgroups multiply them.
  }];
  let options = [
    Option<"block", "block", "int64_t", "64", "invocations of a workgroup">,
    Option<"maxGrid", "max-grid", "int64_t", "65535", "maximum number of workgroups along one axis">,
    Option<"subgroup", "subgroup", "int64_t", "0",
           "invocations of a subgroup that can broadcast values; 0 if none can">,
    Option<"arithmetic", "subgroup-arithmetic", "bool", "false", "subgroups can add up the values of their lanes">,
    Option<"inSoftware", "in-software", "bool", "false", "tune for a CPU that runs the kernels">,
    Option<"texels", "texels", "bool", "false", "tune for texel buffers that are read faster than storage buffers">,
    Option<"tuning", "tuning", "std::string", "\"\"",
           "costs of instructions, as a dictionary with the keys of a tuning file">,
    ListOption<"matrices", "matrices", "std::string",
               "matrix shapes that a subgroup can multiply, for example 16x8x16xf16xf32: rows, columns, depth, type of "
               "elements, type of sums">,
    Option<"invocations", "max-invocations", "int64_t", "128", "maximum number of invocations of a workgroup">,
    Option<"memory", "memory", "int64_t", "16384", "bytes of workgroup memory">,
    Option<"maxBuffers", "max-buffers", "int64_t", "16", "maximum number of buffers of one kernel">];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def FormWorkgroupKernelsPass : Pass<"inlay-convert-form-workgroup-kernels", "::mlir::func::FuncOp"> {
  let summary = "Group structured ops that work row by row into GPU launches";
  let description = [{
    A reduction along rows of at least `least-row` elements forms a group with the consecutive ops before and after it
    that have the same parallel loops. The group becomes one launch if no row depends on another row. Examples are
    softmax, norms, and attention with its products. A workgroup computes a block of rows, op by op, with a barrier
    between an op that writes a buffer and an op that reads it. The tiles of an op are distributed over the invocations.
    The invocations share the reduction of a row and join their shares through workgroup memory. Buffers that no other
    op uses are placed in workgroup memory if the part for one block of rows fits.

    A product joins the group if its result fits into workgroup memory and one of the group's loops other than the last
    indexes each operand, so that a workgroup reads the keys and values of one head only.

    Other ops stay for `inlay-convert-linalg-to-gpu`: ops that access other rows or gather, rows that are not
    contiguous, reductions that cannot be joined, and ops that need more iterations per invocation than drivers run.

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
        // the share of each invocation in the sum of a row
        gpu.barrier
        // the sum of the shares, pairwise; then tiles of %r
      }
      return
    }
    ```
  }];
  let options = [
    Option<"block", "block", "int64_t", "64", "invocations of a workgroup, a power of two">,
    Option<"maxGrid", "max-grid", "int64_t", "65535", "maximum number of workgroups along one axis">,
    Option<"memory", "memory", "int64_t", "16384", "bytes of workgroup memory">,
    Option<"maxBuffers", "max-buffers", "int64_t", "16", "maximum number of buffers of one kernel">,
    Option<"wholeRows", "whole-rows", "bool", "false",
           "compute each row with one invocation and no barriers if there are enough rows">,
    Option<"singleRows", "single-rows", "bool", "false",
           "compute one row per workgroup, with at most `block` invocations, unless the group has products">,
    Option<"minRow", "least-row", "int64_t", "64",
           "minimum number of elements of a row">];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect"];
}

def GPUToEnginePass : Pass<"inlay-convert-gpu-to-engine", "::mlir::ModuleOp"> {
  let summary = "Convert outlined kernels to SPIR-V and their launches to an engine";
  let description = [{
    Each function that launches kernels becomes a `plan.engine`. Each kernel is converted to SPIR-V in a separate
    module, serialized and validated. Equal kernels are merged. Scalar launch operands become push constants.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"#inlay.vulkan\"", "the target with its device facts, as an attribute">];
  let dependentDialects = ["::inlay::plan::PlanDialect", "::mlir::spirv::SPIRVDialect"];
}

#endif // INLAY_TARGET_VULKAN_PASSES_TD
