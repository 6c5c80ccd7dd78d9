// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=8 in-software texels" | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=8 in-software texels max-grid=50" | FileCheck %s --check-prefix=FOLD
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu | FileCheck %s --check-prefix=ALONE
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32" --cse | FileCheck %s --check-prefix=GPU

// A subgroup computes 16 rows, and each lane 8 columns. Of four steps of the sum, each lane loads 2 vectors of the left
// operand, which all lanes share, and 8 vectors of its columns of the right operand. Results are stored as vectors.
// CHECK-LABEL: func.func @matmul
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c64{{.*}}) threads({{.*}}) in (%{{.*}} = %c8
// CHECK: %[[LANE:.*]] = gpu.lane_id
// CHECK-NOT: memref.load
// CHECK: %{{.*}}:128 = scf.for
// CHECK: vector.load %{{.*}} : memref<4096xf32>, vector<4xf32>
// CHECK: gpu.subgroup_broadcast %{{.*}}, specific_lane
// CHECK: math.fma
// CHECK-NOT: memref.load
// CHECK-NOT: arith.addf
// CHECK-NOT: scf.if
// CHECK-COUNT-32: vector.store
// CHECK-NOT: vector.store
// CHECK-NOT: memref.store

// On a GPU, all lanes load the elements that they share, as vectors with the same address for all lanes.
// GPU-LABEL: func.func @matmul
// GPU-NOT: gpu.subgroup_broadcast
// GPU: scf.for
// GPU: vector.load %{{.*}} : memref<4096xf32>, vector<4xf32>
// GPU: math.fma
// GPU-NOT: arith.addf
// GPU-NOT: gpu.subgroup_broadcast
// GPU: {{vector|memref}}.store
// GPU: return

// If there are more workgroups than one axis allows, whole subgroups have no tile.
// FOLD-LABEL: func.func @matmul
// FOLD: arith.cmpi ult
// FOLD: scf.if
// FOLD: gpu.subgroup_broadcast

// Without subgroups, each invocation has a separate tile.
// ALONE-LABEL: func.func @matmul
// ALONE-NOT: gpu.subgroup_broadcast
func.func @matmul(%a: memref<256x16xf32>, %b: memref<16x256xf32>, %c: memref<256x256xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<256x256xf32>)
  linalg.matmul ins(%a, %b : memref<256x16xf32>, memref<16x256xf32>) outs(%c : memref<256x256xf32>)
  return
}

// Odd sizes use single elements. Points beyond the end read the last row and column and are not stored. The rest of the
// sum has a separate loop.
// CHECK-LABEL: func.func @odd
// CHECK: gpu.lane_id
// CHECK: arith.minui
// CHECK-NOT: vector.load
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.if
// CHECK: memref.store
// CHECK-NOT: vector.store
func.func @odd(%a: memref<11x17xf32>, %b: memref<17x13xf32>, %c: memref<11x13xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<11x13xf32>)
  linalg.matmul ins(%a, %b : memref<11x17xf32>, memref<17x13xf32>) outs(%c : memref<11x13xf32>)
  return
}

// Windows that overlap along a row are loaded once: 7 neighbors in 3 steps are 9 elements. The kernel is shared.
// CHECK-LABEL: func.func @conv
// CHECK: gpu.lane_id
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: memref.load %{{.*}} : memref<7200xf32>
// CHECK: gpu.subgroup_broadcast
func.func @conv(%x: memref<1x8x30x30xf32>, %w: memref<16x8x3x3xf32>, %y: memref<1x16x28x28xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<1x16x28x28xf32>)
  linalg.conv_2d_nchw_fchw ins(%x, %w : memref<1x8x30x30xf32>, memref<16x8x3x3xf32>)
      outs(%y : memref<1x16x28x28xf32>)
  return
}

// A sum of products whose operands both move along all loops is no matrix product.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: gpu.subgroup_broadcast
// CHECK: return
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @rows(%x: memref<64x32xf32>, %y: memref<64x32xf32>, %r: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%r : memref<64xf32>)
  linalg.generic {indexing_maps = [#whole, #whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : memref<64x32xf32>, memref<64x32xf32>) outs(%r : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Only sums of products are fused. An op without reduction rounds the product, even if it adds it to its output.
// CHECK-LABEL: func.func @not_a_sum
// CHECK-NOT: math.fma
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @not_a_sum(%x: memref<1024xf32>, %y: memref<1024xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Elementwise ops load and store vectors where elements are adjacent.
// CHECK-LABEL: func.func @pointwise
// CHECK: vector.load
// CHECK-NOT: memref.load
// CHECK-COUNT-16: math.exp
// CHECK-COUNT-4: vector.store
// CHECK-NOT: memref.store
#id = affine_map<(d0) -> (d0)>
func.func @pointwise(%x: memref<1024xf32>, %y: memref<1024xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  return
}

// 16-bit elements are widened to 32 bits when they are loaded, before lanes broadcast them.
// CHECK-LABEL: func.func @halves
// CHECK: %[[HALF:.*]] = memref.load %{{.*}} : memref<{{[0-9]+}}xf16>
// CHECK-NEXT: %[[WORD:.*]] = arith.extf %[[HALF]] : f16 to f32
// CHECK: gpu.subgroup_broadcast %{{.*}}, specific_lane %{{.*}} : f32
// CHECK-NOT: gpu.subgroup_broadcast {{.*}} : f16
// CHECK: memref.store %{{.*}} : memref<{{[0-9]+}}xf32>
#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
func.func @halves(%a: memref<33x70xf16>, %b: memref<70x50xf16>, %c: memref<33x50xf32>) {
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<33x70xf16>, memref<70x50xf16>) outs(%c : memref<33x50xf32>) {
  ^bb0(%x: f16, %y: f16, %sum: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  }
  return
}
