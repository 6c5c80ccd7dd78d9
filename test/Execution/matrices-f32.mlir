// REQUIRES: newer-lavapipe
// RUN: inlay-compile %s -o %t.inlay
// RUN: inlay-run --describe %t.inlay | FileCheck %s --check-prefix=NEEDS
// NEEDS: cooperative-matrix=8x8x8xf16xf32
// RUN: %newer-lavapipe inlay-run %s --require-full-compilation --require-device --compare | FileCheck %s
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[6-9]|[1-9][0-9]))}} of the largest element

// Products of f16 with f32 sums that start from the present values. Whole tiles are loaded and stored directly, others
// through the memory of the workgroup.

#A = affine_map<(i, j, k) -> (i, k)>
#B = affine_map<(i, j, k) -> (k, j)>
#C = affine_map<(i, j, k) -> (i, j)>
#product = {indexing_maps = [#A, #B, #C], iterator_types = ["parallel", "parallel", "reduction"]}
module attributes {inlay.targets = [#inlay.vulkan<subgroup_size = 8, max_workgroup_invocations = 256,
    max_workgroup_memory = 32768, features = ["float16", "subgroup-broadcast"], kind = "discrete",
    matrices = ["8x8x8xf16xf32"]>, #inlay.host]} {
func.func public @forward(%a: tensor<64x96xf16>, %b: tensor<96x128xf16>, %c: tensor<64x128xf32>, %d: tensor<37x96xf16>,
    %e: tensor<96x50xf16>, %f: tensor<37x50xf32>) -> (tensor<64x128xf32>, tensor<37x50xf32>) {
  %0 = linalg.generic #product ins(%a, %b : tensor<64x96xf16>, tensor<96x128xf16>) outs(%c : tensor<64x128xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %2 = arith.extf %x : f16 to f32
    %3 = arith.extf %y : f16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %z, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<64x128xf32>
  %1 = linalg.generic #product ins(%d, %e : tensor<37x96xf16>, tensor<96x50xf16>) outs(%f : tensor<37x50xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %2 = arith.extf %x : f16 to f32
    %3 = arith.extf %y : f16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %z, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<37x50xf32>
  return %0, %1 : tensor<64x128xf32>, tensor<37x50xf32>
}
}
