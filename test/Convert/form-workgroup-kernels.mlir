// RUN: inlay-opt %s --inlay-convert-form-workgroup-kernels="block=8 memory=32768" | FileCheck %s
// RUN: inlay-opt %s --inlay-convert-form-workgroup-kernels="block=8 whole-rows" | FileCheck %s --check-prefix=ROWS
// RUN: inlay-opt %s --inlay-convert-form-workgroup-kernels="block=256 single-rows memory=32768" | FileCheck %s --check-prefix=SINGLE

#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// A softmax: the sums and exponentials of two rows are in workgroup memory, where the shares of reductions are joined
// pairwise. No allocation remains.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch
// CHECK-DAG: memref.alloc() : memref<2002xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: memref.alloc() : memref<8xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for
// CHECK: arith.maximumf
// CHECK-COUNT-2: gpu.barrier
// CHECK: math.exp
// CHECK: gpu.barrier
// CHECK: arith.addf
// CHECK: gpu.barrier
// CHECK: arith.divf
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @softmax(%x: memref<512x1000xf32>, %r: memref<512x1000xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %largest = memref.alloc() : memref<512xf32>
  %powers = memref.alloc() : memref<512x1000xf32>
  %sums = memref.alloc() : memref<512xf32>
  linalg.fill ins(%least : f32) outs(%largest : memref<512xf32>)
  linalg.reduce { arith.maximumf } ins(%x : memref<512x1000xf32>) outs(%largest : memref<512xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %largest : memref<512x1000xf32>, memref<512xf32>) outs(%powers : memref<512x1000xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %0 = arith.subf %in, %most : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  }
  linalg.fill ins(%zero : f32) outs(%sums : memref<512xf32>)
  linalg.reduce { arith.addf } ins(%powers : memref<512x1000xf32>) outs(%sums : memref<512xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%powers, %sums : memref<512x1000xf32>, memref<512xf32>) outs(%r : memref<512x1000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.divf %in, %sum : f32
    linalg.yield %0 : f32
  }
  return
}

// On a GPU, a workgroup of 128 invocations computes one row. An iteration of a reduction has seven loads, which overlap.
// SINGLE-LABEL: func.func @softmax
// SINGLE: gpu.launch blocks({{.*}}) in (%{{.*}} = %c512{{.*}}) threads({{.*}}) in (%{{.*}} = %c128
// SINGLE: scf.for
// SINGLE-COUNT-7: arith.maximumf
// SINGLE: scf.yield
// SINGLE: scf.for
// SINGLE: arith.maximumf
// SINGLE-NOT: arith.maximumf
// SINGLE: scf.yield
// SINGLE: gpu.barrier

// With whole rows, each of eight invocations computes a row. Nothing is shared, so there is no barrier.
// ROWS-LABEL: func.func @softmax
// ROWS: gpu.launch
// ROWS-NOT: gpu.barrier
// ROWS-NOT: #gpu.address_space
// ROWS-COUNT-4: scf.for
// ROWS: return
// There are too few rows to keep the device busy.
// ROWS-LABEL: func.func @escapes
// ROWS: gpu.barrier

// A buffer with other users stays in global memory; here the caller's sum.
// CHECK-LABEL: func.func @escapes
// CHECK: gpu.launch
// CHECK-NOT: linalg
// CHECK: return
func.func @escapes(%x: memref<9x64xf32>, %sum: memref<9x64xf32>, %r: memref<9xf32>) {
  linalg.add ins(%x, %x : memref<9x64xf32>, memref<9x64xf32>) outs(%sum : memref<9x64xf32>)
  linalg.reduce { arith.addf } ins(%sum : memref<9x64xf32>) outs(%r : memref<9xf32>) dimensions = [1]
  return
}

// The mean of a row is read through a view that adds a dim of size 1. Views that do more end the group.
// CHECK-LABEL: func.func @kept_dim
// CHECK: gpu.launch
// CHECK: arith.mulf
// CHECK: math.rsqrt
// CHECK: arith.divf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @kept_dim(%x: memref<9x64xf32>, %sum: memref<9xf32>, %r: memref<9x64xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<9x64xf32>) outs(%sum : memref<9xf32>) dimensions = [1]
  %kept = memref.expand_shape %sum [[0, 1]] output_shape [9, 1] : memref<9xf32> into memref<9x1xf32>
  %root = memref.alloc() : memref<9x1xf32>
  linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%kept : memref<9x1xf32>) outs(%root : memref<9x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    %1 = math.rsqrt %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#whole, affine_map<(d0, d1) -> (d0, 0)>, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %root : memref<9x64xf32>, memref<9x1xf32>) outs(%r : memref<9x64xf32>) {
  ^bb0(%in: f32, %scale: f32, %out: f32):
    %0 = arith.divf %in, %scale : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: func.func @regrouped
// CHECK: gpu.launch
// CHECK: linalg.generic
func.func @regrouped(%x: memref<8x64xf32>, %sum: memref<8xf32>, %r: memref<8x64xf32>, %t: memref<2x4xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<8x64xf32>) outs(%sum : memref<8xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<8x64xf32>, memref<8xf32>) outs(%r : memref<8x64xf32>) {
  ^bb0(%in: f32, %scale: f32, %out: f32):
    %0 = arith.divf %in, %scale : f32
    linalg.yield %0 : f32
  }
  %pairs = memref.expand_shape %sum [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%pairs : memref<2x4xf32>) outs(%t : memref<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.rsqrt %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Two products with rows in between, for 12 heads: the scores need no global buffer.
#query = affine_map<(b, i, j, k) -> (b, i, k)>
#key = affine_map<(b, i, j, k) -> (b, j, k)>
#value = affine_map<(b, i, j, k) -> (b, k, j)>
#score = affine_map<(b, i, j, k) -> (b, i, j)>
// CHECK-LABEL: func.func @products
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch
// CHECK: memref.alloc() : memref<{{[0-9]+}}xf32, #gpu.address_space<workgroup>>
// CHECK-NOT: linalg
// CHECK: return
func.func @products(%q: memref<12x40x16xf32>, %k: memref<12x70x16xf32>, %v: memref<12x70x16xf32>,
    %largest: memref<12x40xf32>, %r: memref<12x40x16xf32>) {
  %scores = memref.alloc() : memref<12x40x70xf32>
  linalg.generic {indexing_maps = [#query, #key, #score],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : memref<12x40x16xf32>, memref<12x70x16xf32>) outs(%scores : memref<12x40x70xf32>) {
  ^bb0(%lhs: f32, %rhs: f32, %sum: f32):
    %0 = arith.mulf %lhs, %rhs : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.reduce { arith.maximumf } ins(%scores : memref<12x40x70xf32>) outs(%largest : memref<12x40xf32>)
      dimensions = [2]
  linalg.generic {indexing_maps = [#query, #value, #score],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%scores, %v : memref<12x40x70xf32>, memref<12x70x16xf32>) outs(%r : memref<12x40x16xf32>) {
  ^bb0(%lhs: f32, %rhs: f32, %sum: f32):
    %0 = arith.mulf %lhs, %rhs : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A product with weights that all rows share is a separate kernel.
// CHECK-LABEL: func.func @weights
// CHECK: linalg.matmul
// CHECK: gpu.launch
// CHECK: return
func.func @weights(%x: memref<9x64xf32>, %w: memref<64x64xf32>, %y: memref<9x64xf32>, %sum: memref<9xf32>,
    %r: memref<9x64xf32>) {
  linalg.matmul ins(%x, %w : memref<9x64xf32>, memref<64x64xf32>) outs(%y : memref<9x64xf32>)
  linalg.reduce { arith.addf } ins(%y : memref<9x64xf32>) outs(%sum : memref<9xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%y, %sum : memref<9x64xf32>, memref<9xf32>) outs(%r : memref<9x64xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %0 = arith.divf %in, %total : f32
    linalg.yield %0 : f32
  }
  return
}

// Short rows stay, and so does the start of their sum.
// CHECK-LABEL: func.func @short
// CHECK: linalg.fill
// CHECK: linalg.reduce
// CHECK-NOT: gpu.launch
func.func @short(%x: memref<9x63xf32>, %sum: memref<9xf32>, %r: memref<9xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<9xf32>)
  linalg.reduce { arith.addf } ins(%x : memref<9x63xf32>) outs(%sum : memref<9xf32>) dimensions = [1]
  linalg.exp ins(%sum : memref<9xf32>) outs(%r : memref<9xf32>)
  return
}

// Rows that are not contiguous.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @columns(%x: memref<64x64xf32>, %sum: memref<64xf32>, %r: memref<64xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<64x64xf32>) outs(%sum : memref<64xf32>) dimensions = [0]
  linalg.exp ins(%sum : memref<64xf32>) outs(%r : memref<64xf32>)
  return
}

// A reduction that depends on the order.
// CHECK-LABEL: func.func @ordered
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @ordered(%x: memref<9x64xf32>, %sum: memref<9xf32>, %r: memref<9xf32>) {
  linalg.reduce { arith.subf } ins(%x : memref<9x64xf32>) outs(%sum : memref<9xf32>) dimensions = [1]
  linalg.exp ins(%sum : memref<9xf32>) outs(%r : memref<9xf32>)
  return
}

// Sums of other rows, along the other dim.
// CHECK-LABEL: func.func @other_rows
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @other_rows(%x: memref<64x64xf32>, %sum: memref<64xf32>, %r: memref<64x64xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<64x64xf32>) outs(%sum : memref<64xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#whole, #column, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<64x64xf32>, memref<64xf32>) outs(%r : memref<64x64xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %0 = arith.divf %in, %total : f32
    linalg.yield %0 : f32
  }
  return
}

// A gather may read any element.
// CHECK-LABEL: func.func @gathers
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @gathers(%x: memref<64x64xf32>, %sum: memref<64xf32>, %r: memref<64xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<64x64xf32>) outs(%sum : memref<64xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%r : memref<64xf32>) {
  ^bb0(%out: f32):
    %last = arith.constant 63 : index
    %i = linalg.index 0 : index
    %j = arith.subi %last, %i : index
    %0 = memref.load %sum[%j] : memref<64xf32>
    linalg.yield %0 : f32
  }
  return
}

// An op with too many iterations for an invocation cannot be a kernel, alone or in a group.
// CHECK-LABEL: func.func @long
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @long(%x: memref<9x65535xf32>, %sum: memref<9xf32>, %r: memref<9xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<9x65535xf32>) outs(%sum : memref<9xf32>) dimensions = [1]
  linalg.exp ins(%sum : memref<9xf32>) outs(%r : memref<9xf32>)
  return
}
