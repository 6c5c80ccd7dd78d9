// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the Convert phase that only the host target runs.

#ifndef INLAY_TARGET_HOST_PASSES_TD
#define INLAY_TARGET_HOST_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormLibraryCallsPass : Pass<"inlay-convert-form-library-calls", "::mlir::func::FuncOp"> {
  let summary = "Turn products, convolutions and attention into calls of the host library";
  let description = [{
    `inlay.linear`, `inlay.matmul`, `inlay.conv` of one or two spatial dims and `inlay.scaled_dot_product_attention` of
    f32 become `plan.library_call`, unless they are so small that the call would cost more. Permutations of a product's
    operands, and of its result if it has no other use, become part of its maps. A call absorbs the activations, and the
    sums and products with another tensor, that follow it, as long as its result has no other use. Arguments of the
    function that are marked `plan.constant` are the constants of the call. A product with a matrix from `inlay.dequantize`,
    or with a permutation of one, becomes a call that reads the codes. A product or convolution of two tensors from
    `inlay.dequantize` with codes of 8 bits multiplies the codes, and absorbs an `inlay.quantize` of its result too.

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

def FormHostKernelsPass : Pass<"inlay-convert-form-host-kernels", "::mlir::ModuleOp"> {
  let summary = "Move structured ops into functions whose iterations threads share";
  let description = [{
    Consecutive ops become one function if one parallel loop splits them into parts that do not depend on each other.
    The function runs the iterations from its first argument up to its second. Equal functions are merged. Library
    calls become calls that pass all sizes and strides. Each call has the number of its kernel in the attribute
    `plan.kernels` of the function.

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
    Emits the same register tiles as for a GPU, inside loops. The loop along which the result is contiguous is
    vectorized with `lanes` elements. The rest of a row that does not fill a vector is masked.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "16", "elements of a vector">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // INLAY_TARGET_HOST_PASSES_TD
