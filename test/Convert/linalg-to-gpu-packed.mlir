// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 subgroup-arithmetic max-invocations=256" --cse | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=8 subgroup-arithmetic in-software" --cse | FileCheck %s --check-prefix=SOFTWARE
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32" --cse | FileCheck %s --check-prefix=WITHOUT

#row = affine_map<(d0, d1) -> (d1)>
#whole = affine_map<(d0, d1) -> (d0, d1)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// A product with packed weights is one launch with its bias and relu. A lane loads 32 codes of each of four columns in
// two vectors of 16 bytes, and one scale and one offset for each of them. Nothing accesses the floats of the weights.
// CHECK-LABEL: func.func @linear
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c1024{{.*}}) threads({{.*}}) in (%{{.*}} = %c32
// CHECK: %{{.*}}:4 = scf.for
// CHECK: vector.load %{{.*}} : memref<8388608xi8>, vector<16xi8>
// CHECK-NEXT: vector.bitcast %{{.*}} : vector<16xi8> to vector<4xi32>
// CHECK: arith.xori
// CHECK: memref.load %{{.*}} : memref<524288xf16>
// CHECK: memref.load %{{.*}} : memref<524288xi8>
// CHECK-COUNT-7: vector.load %{{.*}} : memref<8388608xi8>, vector<16xi8>
// CHECK-NOT: vector.load {{.*}}vector<16xi8>
// CHECK: vector.load %{{.*}} : memref<4096xf32>, vector<4xf32>
// CHECK-COUNT-256: math.fma
// CHECK-NOT: math.fma
// CHECK-COUNT-4: gpu.subgroup_reduce add
// CHECK: arith.maximumf
// CHECK-NOT: gpu.launch
// CHECK: return

// SOFTWARE-LABEL: func.func @linear
// SOFTWARE: gpu.launch
// SOFTWARE: vector<16xi8>
// SOFTWARE: gpu.subgroup_reduce add
// SOFTWARE-NOT: gpu.launch
// SOFTWARE: return

// If lanes can't be added up, the floats have a launch of their own.
// WITHOUT-LABEL: func.func @linear
// WITHOUT: gpu.launch
// WITHOUT: store %{{.*}} : memref<16777216xf32>
// WITHOUT: gpu.launch
// WITHOUT-NOT: gpu.subgroup_reduce
// WITHOUT: return
func.func @linear(%x: memref<1x4096xf32>, %c: memref<4096x2048xi8>, %s: memref<4096x128xf16>, %z: memref<4096x128xi8>,
    %b: memref<4096xf32>, %r: memref<1x4096xf32>, %w: memref<4096x4096xf32>, %y: memref<1x4096xf32>)
    attributes {plan.arguments = 6 : i64} {
  %zero = arith.constant 0.0 : f32
  %c32 = arith.constant 32 : index
  %c28_i32 = arith.constant 28 : i32
  %c4_i32 = arith.constant 4 : i32
  %c2 = arith.constant 2 : index
  linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%w : memref<4096x4096xf32>)
      attrs = {plan.dequantize = {code = "i4", block = array<i64: 1, 32>}} {
  ^bb0(%out: f32):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = arith.divui %1, %c2 : index
    %3 = memref.load %c[%0, %2] : memref<4096x2048xi8>
    %4 = arith.extsi %3 : i8 to i32
    %5 = arith.remui %1, %c2 : index
    %6 = arith.index_cast %5 : index to i32
    %7 = arith.muli %6, %c4_i32 : i32
    %8 = arith.subi %c28_i32, %7 : i32
    %9 = arith.shli %4, %8 : i32
    %10 = arith.shrsi %9, %c28_i32 : i32
    %11 = arith.divui %1, %c32 : index
    %12 = memref.load %s[%0, %11] : memref<4096x128xf16>
    %13 = arith.extf %12 : f16 to f32
    %14 = arith.sitofp %10 : i32 to f32
    %15 = memref.load %z[%0, %11] : memref<4096x128xi8>
    %16 = arith.extsi %15 : i8 to i32
    %17 = arith.sitofp %16 : i32 to f32
    %18 = arith.subf %14, %17 : f32
    %19 = arith.mulf %18, %13 : f32
    linalg.yield %19 : f32
  }
  linalg.generic {indexing_maps = [#row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%b : memref<4096xf32>) outs(%y : memref<1x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1x4096xf32>, memref<4096x4096xf32>) outs(%y : memref<1x4096xf32>) {
  ^bb0(%a: f32, %c0: f32, %sum: f32):
    %0 = arith.mulf %a, %c0 : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<1x4096xf32>) outs(%r : memref<1x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %zero : f32
    linalg.yield %0 : f32
  }
  return
}

// Codes that another op writes may have changed when the product runs, so the weight stays a buffer of floats.
// CHECK-LABEL: func.func @written
// CHECK-COUNT-3: gpu.launch
// CHECK: return
func.func @written(%x: memref<1x256xf32>, %c: memref<8x256xi8>, %s: memref<1x1xf32>, %r: memref<1x8xf32>,
    %w: memref<8x256xf32>) attributes {plan.arguments = 4 : i64} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i8
  linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%c : memref<8x256xi8>) {
  ^bb0(%out: i8):
    %0 = arith.addi %out, %one : i8
    linalg.yield %0 : i8
  }
  linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%w : memref<8x256xf32>)
      attrs = {plan.dequantize = {code = "i8", block = array<i64: 8, 256>}} {
  ^bb0(%out: f32):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = memref.load %c[%0, %1] : memref<8x256xi8>
    %3 = arith.sitofp %2 : i8 to f32
    %4 = memref.load %s[%c0, %c0] : memref<1x1xf32>
    %5 = arith.mulf %3, %4 : f32
    linalg.yield %5 : f32
  }
  linalg.fill ins(%zero : f32) outs(%r : memref<1x8xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1x256xf32>, memref<8x256xf32>) outs(%r : memref<1x8xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
