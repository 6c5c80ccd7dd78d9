// RUN: inlay-opt %s --inlay-convert-linalg-to-gpu="subgroup=64 max-invocations=256 memory=32768" | FileCheck %s

// Which ops around a product its kernel computes. Buffers from argument number `plan.arguments` on are scratch memory.

#A = affine_map<(i, j, k) -> (i, k)>
#B = affine_map<(i, j, k) -> (k, j)>
#C = affine_map<(i, j, k) -> (i, j)>
#product = {indexing_maps = [#A, #B, #C], iterator_types = ["parallel", "parallel", "reduction"]}
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#one = {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
#two = {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
#start = {indexing_maps = [#column, #all], iterator_types = ["parallel", "parallel"]}

// The start of the sums, an input that is computed, and an activation.
// CHECK-LABEL: func.func @all
// CHECK-COUNT-1: gpu.launch
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @all(%a: memref<512x64xf32>, %b: memref<64x256xf32>, %bias: memref<256xf32>, %r: memref<512x256xf32>,
    %p: memref<512x64xf32>, %c: memref<512x256xf32>) attributes {plan.arguments = 4 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%p : memref<512x64xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %end = arith.constant 500 : index
    %inside = arith.cmpi ult, %i, %end : index
    %x = memref.load %a[%i, %j] : memref<512x64xf32>
    %y = arith.select %inside, %x, %zero : f32
    linalg.yield %y : f32
  }
  linalg.generic #start ins(%bias : memref<256xf32>) outs(%c : memref<512x256xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  linalg.generic #product ins(%p, %b : memref<512x64xf32>, memref<64x256xf32>) outs(%c : memref<512x256xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic #one ins(%c : memref<512x256xf32>) outs(%r : memref<512x256xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %x, %zero : f32
    linalg.yield %0 : f32
  }
  return
}

// The source of a computed input is overwritten before the product.
// CHECK-LABEL: func.func @overwritten
// CHECK-COUNT-3: gpu.launch
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @overwritten(%b: memref<64x256xf32>, %r: memref<512x256xf32>, %a: memref<512x64xf32>, %p: memref<512x64xf32>)
    attributes {plan.arguments = 2 : i64} {
  linalg.generic #one ins(%a : memref<512x64xf32>) outs(%p : memref<512x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.negf %x : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%a : memref<512x64xf32>) {
  ^bb0(%out: f32):
    %0 = arith.mulf %out, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic #product ins(%p, %b : memref<512x64xf32>, memref<64x256xf32>) outs(%r : memref<512x256xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Another op also reads the input that could be computed.
// CHECK-LABEL: func.func @read_twice
// CHECK-COUNT-3: gpu.launch
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @read_twice(%a: memref<512x64xf32>, %b: memref<64x256xf32>, %r: memref<512x256xf32>, %s: memref<512x64xf32>,
    %p: memref<512x64xf32>) attributes {plan.arguments = 4 : i64} {
  linalg.generic #one ins(%a : memref<512x64xf32>) outs(%p : memref<512x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.negf %x : f32
    linalg.yield %0 : f32
  }
  linalg.generic #product ins(%p, %b : memref<512x64xf32>, memref<64x256xf32>) outs(%r : memref<512x256xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic #one ins(%p : memref<512x64xf32>) outs(%s : memref<512x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.mulf %x, %x : f32
    linalg.yield %0 : f32
  }
  return
}

// The op after the product writes an operand that other workgroups still read.
// CHECK-LABEL: func.func @writes_operand
// CHECK-COUNT-2: gpu.launch
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @writes_operand(%b: memref<256x256xf32>, %a: memref<512x256xf32>, %c: memref<512x256xf32>)
    attributes {plan.arguments = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<512x256xf32>)
  linalg.generic #product ins(%a, %b : memref<512x256xf32>, memref<256x256xf32>) outs(%c : memref<512x256xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic #one ins(%c : memref<512x256xf32>) outs(%a : memref<512x256xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %x, %zero : f32
    linalg.yield %0 : f32
  }
  return
}

// The op after the product overwrites the source of a computed input.
// CHECK-LABEL: func.func @writes_source
// CHECK-COUNT-2: gpu.launch
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @writes_source(%b: memref<256x256xf32>, %a: memref<512x256xf32>, %p: memref<512x256xf32>, %c: memref<512x256xf32>)
    attributes {plan.arguments = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%p : memref<512x256xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %x = memref.load %a[%i, %j] : memref<512x256xf32>
    linalg.yield %x : f32
  }
  linalg.fill ins(%zero : f32) outs(%c : memref<512x256xf32>)
  linalg.generic #product ins(%p, %b : memref<512x256xf32>, memref<256x256xf32>) outs(%c : memref<512x256xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic #one ins(%c : memref<512x256xf32>) outs(%a : memref<512x256xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %x, %zero : f32
    linalg.yield %0 : f32
  }
  return
}

// Another op reads what the sums start from.
// CHECK-LABEL: func.func @start_is_read
// CHECK-COUNT-3: gpu.launch
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @start_is_read(%a: memref<512x64xf32>, %b: memref<64x256xf32>, %bias: memref<256xf32>, %r: memref<512x256xf32>,
    %s: memref<512x256xf32>) attributes {plan.arguments = 5 : i64} {
  linalg.generic #start ins(%bias : memref<256xf32>) outs(%r : memref<512x256xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  linalg.generic #one ins(%r : memref<512x256xf32>) outs(%s : memref<512x256xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.negf %x : f32
    linalg.yield %0 : f32
  }
  linalg.generic #product ins(%a, %b : memref<512x64xf32>, memref<64x256xf32>) outs(%r : memref<512x256xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Two ops read the results.
// CHECK-LABEL: func.func @results_are_read_twice
// CHECK-COUNT-3: gpu.launch
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @results_are_read_twice(%a: memref<512x64xf32>, %b: memref<64x256xf32>, %r: memref<512x256xf32>,
    %s: memref<512x256xf32>, %c: memref<512x256xf32>) attributes {plan.arguments = 4 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<512x256xf32>)
  linalg.generic #product ins(%a, %b : memref<512x64xf32>, memref<64x256xf32>) outs(%c : memref<512x256xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic #one ins(%c : memref<512x256xf32>) outs(%r : memref<512x256xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.negf %x : f32
    linalg.yield %0 : f32
  }
  linalg.generic #two ins(%r, %c : memref<512x256xf32>, memref<512x256xf32>) outs(%s : memref<512x256xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.mulf %x, %y : f32
    linalg.yield %0 : f32
  }
  return
}
