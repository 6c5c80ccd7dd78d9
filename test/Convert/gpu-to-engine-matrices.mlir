// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 matrices=16x16x16xf16xf32 max-invocations=128" --gpu-kernel-outlining --lower-affine --inlay-convert-gpu-to-engine="target=#inlay.vulkan<subgroup_size=32,features=[\"float16\"],matrices=[\"16x16x16xf16xf32\"]>" | FileCheck %s

// A kernel requires its matrix shapes and their subgroup size. A buffer that it only writes, also by matrices, is not
// read.
// CHECK: plan.kernel @k0
// CHECK-SAME: bindings [#plan.access<read>, #plan.access<read>, #plan.access<write>]
// CHECK-SAME: requires ["float16", "storage16", "subgroup-size=32", "cooperative-matrix=16x16x16xf16xf32"]
module {
  func.func @f(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
    linalg.matmul ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
    return
  }

  // The kernel reads its start value.
  // CHECK: plan.engine @start
  // CHECK: plan.kernel @k0
  // CHECK-SAME: bindings [#plan.access<read_write>, #plan.access<read>, #plan.access<read>]
  func.func @start(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
    linalg.matmul ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
    return
  }
}
