// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 max-invocations=256 memory=32768" | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 max-invocations=64 memory=16384" | FileCheck %s --check-prefix=SMALL
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 max-invocations=256 memory=4096" | FileCheck %s --check-prefix=NONE
// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=32 in-software max-invocations=256 memory=32768" | FileCheck %s --check-prefix=NONE

// Workgroups of 256 invocations compute blocks of 128 x 128 sums, 8 x 8 by each invocation. In each of the 256 steps, an
// invocation copies a vector of each operand to one of two buffers, after it has loaded those of the next step. The
// left operand is transposed on the way.
// CHECK-LABEL: func.func @whole
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c256{{.*}}) threads({{.*}}) in (%{{.*}} = %c256
// CHECK-COUNT-2: memref.alloc() : memref<2112xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-2: vector.load %{{.*}} : memref<4194304xf32>, vector<4xf32>
// CHECK-COUNT-8: memref.store %{{.*}} : memref<2112xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK: scf.for %[[STEP:.*]] = %c0{{.*}} to %c256{{.*}} step %c1{{.*}} iter_args
// CHECK: %[[BUFFER:.*]] = arith.remui %[[STEP]], %c2
// CHECK-COUNT-2: vector.load %{{.*}} : memref<4194304xf32>, vector<4xf32>
// CHECK-NOT: arith.select
// CHECK: arith.muli %[[BUFFER]], %c1056
// CHECK-COUNT-16: memref.load %{{.*}} : memref<2112xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-64: math.fma
// CHECK: %[[OTHER:.*]] = arith.subi %c1{{.*}}, %[[BUFFER]]
// CHECK: arith.muli %[[OTHER]], %c1056
// CHECK-COUNT-8: memref.store %{{.*}} : memref<2112xf32, #gpu.address_space<workgroup>>
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: scf.yield
// CHECK-COUNT-16: vector.store %{{.*}} : memref<4194304xf32>, vector<4xf32>
// CHECK-NOT: vector.store

// SMALL-LABEL: func.func @whole
// SMALL: threads({{.*}}) in (%{{.*}} = %c64
// SMALL: memref<{{.*}}xf32, #gpu.address_space<workgroup>>

// With too little memory, and in software, subgroups compute the product alone.
// NONE-LABEL: func.func @whole
// NONE-NOT: #gpu.address_space<workgroup>
func.func @whole(%a: memref<2048x2048xf32>, %b: memref<2048x2048xf32>, %c: memref<2048x2048xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<2048x2048xf32>)
  linalg.matmul ins(%a, %b : memref<2048x2048xf32>, memref<2048x2048xf32>) outs(%c : memref<2048x2048xf32>)
  return
}

// A sum of more than 2048 terms consists of parts, which are added up in the result. Rows and terms beyond the ends are
// zeros in workgroup memory. The result has no vectors.
// CHECK-LABEL: func.func @parts
// CHECK: arith.select
// CHECK: scf.for %[[PART:.*]] = %c0{{.*}} to %{{.*}} step %c{{128|64}}
// CHECK: %[[END:.*]] = arith.minui
// CHECK: scf.for %{{.*}} = %[[PART]] to %[[END]]
// CHECK: math.fma
// CHECK: scf.if
// CHECK: %[[BEFORE:.*]] = memref.load %{{.*}} : memref<4005001xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[BEFORE]], %{{.*}} : f32
// CHECK: memref.store %[[SUM]], %{{.*}} : memref<4005001xf32>
func.func @parts(%a: memref<4001x3001xf32>, %b: memref<3001x1001xf32>, %c: memref<4001x1001xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4001x1001xf32>)
  linalg.matmul ins(%a, %b : memref<4001x3001xf32>, memref<3001x1001xf32>) outs(%c : memref<4001x1001xf32>)
  return
}
