// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 matrices=16x16x16xf16xf32 max-invocations=1024 memory=32768" | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 matrices=16x16x16xf16xf32 max-invocations=64 memory=8192" | FileCheck %s --check-prefix=SMALL
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 matrices=16x16x16xf16xf16,16x16x32xs8xs32" | FileCheck %s --check-prefix=NONE
// RUN: not inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 matrices=16x16" 2>&1 | FileCheck %s --check-prefix=WRONG

// Only matrices of f16 that are accumulated in f32 are used.
// NONE-NOT: subgroup_mma
// WRONG: expected option 'matrices' to have shapes such as 16x8x16xf16xf32, but got '16x16'

#A = affine_map<(i, j, k) -> (i, k)>
#B = affine_map<(i, j, k) -> (k, j)>
#T = affine_map<(i, j, k) -> (j, k)>
#C = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// Eight subgroups of eight matrices each compute 128 x 128 sums. Each invocation copies four vectors of each operand to
// workgroup memory, after it has loaded those of the next step. Whole blocks are loaded and stored directly.
// CHECK-LABEL: func.func @whole
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c256{{.*}}) threads({{.*}}) in (%{{.*}} = %c256
// CHECK-DAG: gpu.subgroup_id
// CHECK-DAG: memref.alloc() : memref<1280xvector<4xf16>, #gpu.address_space<workgroup>>
// CHECK-DAG: memref.alloc() : memref<1088xvector<4xf16>, #gpu.address_space<workgroup>>
// CHECK-NOT: memref.load
// CHECK-NOT: arith.select
// CHECK-COUNT-8: vector.load %{{.*}} : memref<4194304xf16>, vector<4xf16>
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK-COUNT-8: memref.store %{{.*}} : memref<{{.*}}xvector<4xf16>, #gpu.address_space<workgroup>>
// CHECK-NEXT: gpu.barrier
// CHECK-COUNT-8: vector.load %{{.*}} : memref<4194304xf16>, vector<4xf16>
// CHECK: gpu.subgroup_mma_load_matrix %{{.*}} {leadDimension = 10 : index} : memref<1280xvector<4xf16>, #gpu.address_space<workgroup>> -> !gpu.mma_matrix<16x16xf16, "AOp">
// CHECK: gpu.subgroup_mma_load_matrix %{{.*}} {leadDimension = 34 : index} : memref<1088xvector<4xf16>, #gpu.address_space<workgroup>> -> !gpu.mma_matrix<16x16xf16, "BOp">
// CHECK-COUNT-16: gpu.subgroup_mma_compute
// CHECK: scf.yield
// CHECK-COUNT-8: gpu.subgroup_mma_store_matrix %{{.*}} {leadDimension = 2048 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<4194304xf32>
// CHECK-NOT: memref.store

// Fewer invocations and less memory lead to a smaller block.
// SMALL-LABEL: func.func @whole
// SMALL: threads({{.*}}) in (%{{.*}} = %c64
// SMALL: gpu.subgroup_mma_compute
func.func @whole(%a: memref<2048x2048xf16>, %b: memref<2048x2048xf16>, %c: memref<2048x2048xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<2048x2048xf32>)
  linalg.matmul ins(%a, %b : memref<2048x2048xf16>, memref<2048x2048xf16>) outs(%c : memref<2048x2048xf32>)
  return
}

// The epilogue is computed directly from the sums: no buffer holds them, and the results are stored as f16.
// CHECK-LABEL: func.func @epilogue
// CHECK-COUNT-1: gpu.launch
// CHECK: gpu.subgroup_mma_load_matrix %{{.*}} {leadDimension = 10 : index, transpose} : {{.*}}, "BOp">
// CHECK: gpu.subgroup_mma_store_matrix %{{.*}} {leadDimension = 16 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<{{.*}}xf32, #gpu.address_space<workgroup>>
// CHECK-NEXT: gpu.barrier
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: %[[SUM:.*]] = memref.load %{{.*}} : memref<{{.*}}xf32, #gpu.address_space<workgroup>>
// CHECK: arith.maximumf
// CHECK: arith.truncf
// CHECK: memref.store %{{.*}} : memref<65536xf16>
// CHECK-NOT: gpu.launch
func.func @epilogue(%a: memref<256x128xf16>, %w: memref<256x128xf16>, %bias: memref<256xf32>, %r: memref<256x256xf16>,
                    %t: memref<256x256xf32>) attributes {plan.arguments = 4 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%t : memref<256x256xf32>)
  linalg.generic {indexing_maps = [#A, #T, #C], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : memref<256x128xf16>, memref<256x128xf16>) outs(%t : memref<256x256xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t, %bias : memref<256x256xf32>, memref<256xf32>) outs(%r : memref<256x256xf16>) {
  ^bb0(%x: f32, %y: f32, %z: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  }
  return
}

// A result that is not scratch memory is stored, and another launch reads it.
// CHECK-LABEL: func.func @kept
// CHECK: gpu.launch
// CHECK: gpu.subgroup_mma_compute
// CHECK: gpu.subgroup_mma_store_matrix {{.*}} memref<65536xf32>
// CHECK: gpu.launch
// CHECK: arith.truncf
func.func @kept(%a: memref<256x128xf16>, %b: memref<128x256xf16>, %t: memref<256x256xf32>, %r: memref<256x256xf16>)
    attributes {plan.arguments = 4 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%t : memref<256x256xf32>)
  linalg.matmul ins(%a, %b : memref<256x128xf16>, memref<128x256xf16>) outs(%t : memref<256x256xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : memref<256x256xf32>) outs(%r : memref<256x256xf16>) {
  ^bb0(%x: f32, %z: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  }
  return
}

// So are sums that two ops read.
// CHECK-LABEL: func.func @twice
// CHECK: gpu.launch
// CHECK: gpu.subgroup_mma_store_matrix {{.*}} memref<65536xf32>
// CHECK: gpu.launch
// CHECK: arith.truncf
// CHECK: gpu.launch
// CHECK: arith.negf
func.func @twice(%a: memref<256x128xf16>, %b: memref<128x256xf16>, %r: memref<256x256xf16>, %s: memref<256x256xf32>,
                 %t: memref<256x256xf32>) attributes {plan.arguments = 4 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%t : memref<256x256xf32>)
  linalg.matmul ins(%a, %b : memref<256x128xf16>, memref<128x256xf16>) outs(%t : memref<256x256xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : memref<256x256xf32>) outs(%r : memref<256x256xf16>) {
  ^bb0(%x: f32, %z: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : memref<256x256xf32>) outs(%s : memref<256x256xf32>) {
  ^bb0(%x: f32, %z: f32):
    %0 = arith.negf %x : f32
    linalg.yield %0 : f32
  }
  return
}

// An op that writes an operand that other workgroups may still read is not part of the launch.
// CHECK-LABEL: func.func @inPlace
// CHECK: gpu.launch
// CHECK: gpu.launch
// CHECK: arith.truncf
func.func @inPlace(%a: memref<256x256xf16>, %b: memref<256x256xf16>, %t: memref<256x256xf32>)
    attributes {plan.arguments = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%t : memref<256x256xf32>)
  linalg.matmul ins(%a, %b : memref<256x256xf16>, memref<256x256xf16>) outs(%t : memref<256x256xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : memref<256x256xf32>) outs(%a : memref<256x256xf16>) {
  ^bb0(%x: f32, %z: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  }
  return
}

// Odd sizes use single elements and zeros beyond an end. The start and the result go through workgroup memory.
// CHECK-LABEL: func.func @odd
// CHECK: gpu.launch
// CHECK: memref.load %{{.*}} : memref<6700xf32>
// CHECK: arith.cmpi ult
// CHECK: arith.select
// CHECK: memref.load %{{.*}} : memref<4355xf16>
// CHECK: arith.select
// CHECK: vector.from_elements
// CHECK: scf.for
// CHECK: gpu.subgroup_mma_compute
// CHECK: gpu.subgroup_mma_store_matrix {{.*}}#gpu.address_space<workgroup>>
// CHECK: scf.if
// CHECK: memref.store %{{.*}} : memref<6700xf32>
func.func @odd(%a: memref<67x65xf16>, %b: memref<65x100xf16>, %c: memref<67x100xf32>) {
  linalg.matmul ins(%a, %b : memref<67x65xf16>, memref<65x100xf16>) outs(%c : memref<67x100xf32>)
  return
}

// A product of one row, tiny products and other sums are not computed by matrices.
// CHECK-LABEL: func.func @others
// CHECK-NOT: subgroup_mma
func.func @others(%a: memref<1x512xf16>, %b: memref<512x512xf16>, %c: memref<1x512xf32>, %d: memref<8x8xf16>,
                  %e: memref<8x8xf32>, %f: memref<512x512xf32>, %g: memref<512x512xf16>) {
  linalg.matmul ins(%a, %b : memref<1x512xf16>, memref<512x512xf16>) outs(%c : memref<1x512xf32>)
  linalg.matmul ins(%d, %d : memref<8x8xf16>, memref<8x8xf16>) outs(%e : memref<8x8xf32>)
  linalg.matmul ins(%f, %f : memref<512x512xf32>, memref<512x512xf32>) outs(%f : memref<512x512xf32>)
  linalg.matmul ins(%b, %b : memref<512x512xf16>, memref<512x512xf16>) outs(%g : memref<512x512xf16>)
  linalg.generic {indexing_maps = [#A, #B, #C], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%b, %b : memref<512x512xf16>, memref<512x512xf16>) outs(%f : memref<512x512xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.maximumf %z, %2 : f32
    linalg.yield %3 : f32
  }
  return
}
