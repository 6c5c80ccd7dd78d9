// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 subgroup-arithmetic max-invocations=256" --cse | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32" --cse | FileCheck %s --check-prefix=WITHOUT
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 subgroup-arithmetic in-software" --cse | FileCheck %s --check-prefix=WITHOUT
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 subgroup-arithmetic max-buffers=4" --cse | FileCheck %s --check-prefix=FEW
// WITHOUT-NOT: gpu.subgroup_reduce

#row = affine_map<(d0, d1) -> (d1)>
#whole = affine_map<(d0, d1) -> (d0, d1)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// A bias, a product and a relu are one launch of 256 workgroups. A lane loads 8 halves of each of four columns in two
// vectors. The sums start from the bias, and only the relu is stored.
// CHECK-LABEL: func.func @linear
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c256{{.*}}) threads({{.*}}) in (%{{.*}} = %c32
// CHECK: gpu.lane_id
// CHECK: %{{.*}}:4 = scf.for
// CHECK-COUNT-20: vector.load %{{.*}} : memref<{{.*}}xf16>, vector<4xf16>
// CHECK-NOT: memref.load
// CHECK-COUNT-64: math.fma
// CHECK-NOT: math.fma
// CHECK-COUNT-4: gpu.subgroup_reduce add
// CHECK: gpu.barrier
// CHECK: memref.load %{{.*}} : memref<1024xf16>
// CHECK: arith.maximumf
// CHECK: memref.store %{{.*}} : memref<1024xf16>
// CHECK-NOT: gpu.launch
// CHECK: return

// With few buffers, the relu is a launch of its own.
// FEW-LABEL: func.func @linear
// FEW-COUNT-2: gpu.launch
// FEW: return
func.func @linear(%x: memref<1x4096xf16>, %w: memref<1024x4096xf16>, %b: memref<1024xf16>, %s: memref<1x1024xf16>,
    %r: memref<1x1024xf16>, %sums: memref<1x1024xf32>) attributes {plan.arguments = 5 : i64} {
  linalg.generic {indexing_maps = [#row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%b : memref<1024xf16>) outs(%sums : memref<1x1024xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1x4096xf16>, memref<1024x4096xf16>) outs(%sums : memref<1x1024xf32>) {
  ^bb0(%a: f16, %c: f16, %sum: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %c : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  }
  linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %s : memref<1x1024xf32>, memref<1x1024xf16>) outs(%r : memref<1x1024xf16>) {
  ^bb0(%in: f32, %scale: f16, %out: f16):
    %0 = arith.truncf %in : f32 to f16
    %1 = arith.maximumf %0, %scale : f16
    linalg.yield %1 : f16
  }
  return
}

// The op before a product stays a launch if it reads the buffer that it writes, or if the sums start from a scalar.
// CHECK-LABEL: func.func @not_a_start
// CHECK-COUNT-2: gpu.launch
// CHECK: return
func.func @not_a_start(%x: memref<1x4096xf32>, %w: memref<1024x4096xf32>, %y: memref<1x1024xf32>) {
  linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%y : memref<1x1024xf32>) {
  ^bb0(%out: f32):
    %0 = math.exp %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1x4096xf32>, memref<1024x4096xf32>) outs(%y : memref<1x1024xf32>) {
  ^bb0(%a: f32, %c: f32, %sum: f32):
    %0 = arith.mulf %a, %c : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Single elements of an odd sum that four subgroups share; the rest of the sum has a separate loop.
// CHECK-LABEL: func.func @odd
// CHECK: threads({{.*}}) in (%{{.*}} = %c256
// CHECK: gpu.subgroup_id
// CHECK-NOT: vector.load
// CHECK: scf.for
// CHECK: scf.for
// CHECK: gpu.subgroup_reduce add
// CHECK-COUNT-7: arith.addf
// CHECK: return
func.func @odd(%x: memref<1x4095xf32>, %w: memref<3x4095xf32>, %y: memref<1x3xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<1x3xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1x4095xf32>, memref<3x4095xf32>) outs(%y : memref<1x3xf32>) {
  ^bb0(%a: f32, %c: f32, %sum: f32):
    %0 = arith.mulf %a, %c : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
