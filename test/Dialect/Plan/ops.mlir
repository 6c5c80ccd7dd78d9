// Every op is printed, parsed again, and read back from its generic form and from bytecode.
// RUN: inlay-opt %s | inlay-opt | FileCheck %s
// RUN: inlay-opt %s --mlir-print-op-generic | inlay-opt | FileCheck %s
// RUN: inlay-opt %s --emit-bytecode | inlay-opt | FileCheck %s

// CHECK: plan.engine @engine arguments 2 scratch #{{.*}} {
plan.engine @engine arguments 2 scratch affine_map<()[s0] -> (s0 * 4, 16)> {
  // CHECK: plan.kernel @scale spirv dense<119734787> : tensor<5xi32> bindings [#plan.access<read>, #plan.access<write>] block [64, 1, 1] push_constants 1 requires ["float16"]
  plan.kernel @scale spirv dense<119734787> : tensor<5xi32> bindings [#plan.access<read>, #plan.access<write>]
    block [64, 1, 1] push_constants 1 requires ["float16"]
  // CHECK: plan.kernel @add spirv dense<0> : tensor<5xi32> bindings [#plan.access<read_write>] block [1, 1, 1]{{$}}
  plan.kernel @add spirv dense<0> : tensor<5xi32> bindings [#plan.access<read_write>] block [1, 1, 1]
  // CHECK: plan.dispatch @scale buffers [0, 2] grid #{{.*}} push_constants #{{.*}}
  plan.dispatch @scale buffers [0, 2] grid affine_map<()[s0] -> (s0 ceildiv 64, 1, 1)>
    push_constants affine_map<()[s0] -> (s0)>
  // CHECK: plan.dispatch @add buffers [3]
  plan.dispatch @add buffers [3] grid affine_map<() -> (4, 1, 1)> push_constants affine_map<() -> ()>
}

// CHECK: plan.engine @either arguments 2 scratch #{{.*}} host_version @host_code {
plan.engine @either arguments 2 scratch affine_map<() -> ()> host_version @host_code {
}

// CHECK: plan.foreign_engine @foreign runner "dsp" payload "\00\01relu" arguments 2 inputs 1
plan.foreign_engine @foreign runner "dsp" payload "\00\01relu" arguments 2 inputs 1

// CHECK: plan.host_function @host_code arguments 2 inputs 1 scratch #{{.*}}
plan.host_function @host_code arguments 2 inputs 1 scratch affine_map<() -> (1024)>

// CHECK: plan.host_function @sized arguments 2 inputs 1 scratch #{{.*}} sizes #{{.*}}
plan.host_function @sized arguments 2 inputs 1 scratch affine_map<()[s0] -> (s0 * 4)> sizes affine_map<()[s0] -> (s0, -1)>

// CHECK: plan.object "x86_64-pc-linux-gnu" dense<[127, 69, 76, 70]> : tensor<4xi8>
plan.object "x86_64-pc-linux-gnu" dense<[0x7f, 0x45, 0x4c, 0x46]> : tensor<4xi8>
// CHECK: plan.object "x86_64-pc-linux-gnu" dense<1> : tensor<4xi8> {cpu = "x86-64-v3", features = ["avx2", "fma"]}
plan.object "x86_64-pc-linux-gnu" dense<1> : tensor<4xi8> {features = ["avx2", "fma"], cpu = "x86-64-v3"}

// CHECK-LABEL: func @between_convert_and_stitch
func.func @between_convert_and_stitch(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: plan.invoke @engine(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = plan.invoke @engine(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: plan.framework_call "torch.ops.aten.sort({0})"(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.framework_call "torch.ops.aten.sort({0})"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: plan.program @forward {
plan.program @forward {
  // CHECK: %[[X:.*]] = plan.input 0 "x" : <tensor<4xf32>, host>
  %x = plan.input 0 "x" : <tensor<4xf32>, host>
  // CHECK: %[[W:.*]] = plan.constant dense_resource<w> : tensor<4xf32> "w" : <tensor<4xf32>, device>
  %w = plan.constant dense_resource<w> : tensor<4xf32> "w" : <tensor<4xf32>, device>
  // CHECK: %[[T:.*]] = plan.temporary "t" : <tensor<4xf32>, device>
  %t = plan.temporary "t" : <tensor<4xf32>, device>
  // CHECK: %[[Y:.*]] = plan.output 0 "y" : <tensor<4xf32>, host>
  %y = plan.output 0 "y" : <tensor<4xf32>, host>
  // CHECK: plan.copy %[[X]] to %[[T]] : <tensor<4xf32>, host>, <tensor<4xf32>, device>
  plan.copy %x to %t : <tensor<4xf32>, host>, <tensor<4xf32>, device>
  // CHECK: plan.launch @engine(%[[T]], %[[W]]) outs(%[[T]])
  plan.launch @engine(%t, %w) outs(%t)
    : (!plan.buffer<tensor<4xf32>, device>, !plan.buffer<tensor<4xf32>, device>) -> !plan.buffer<tensor<4xf32>, device>
  // CHECK: plan.call @host_code(%[[X]]) outs(%[[Y]])
  plan.call @host_code(%x) outs(%y) : (!plan.buffer<tensor<4xf32>, host>) -> !plan.buffer<tensor<4xf32>, host>
  // CHECK: plan.run @foreign(%[[X]]) outs(%[[Y]]) : (!plan.buffer<tensor<4xf32>, host>) -> !plan.buffer<tensor<4xf32>, host>
  plan.run @foreign(%x) outs(%y) : (!plan.buffer<tensor<4xf32>, host>) -> !plan.buffer<tensor<4xf32>, host>
  // CHECK: plan.callback "torch.ops.aten.sort({0})"() outs(%[[Y]]) : () -> !plan.buffer<tensor<4xf32>, host>
  plan.callback "torch.ops.aten.sort({0})"() outs(%y) : () -> !plan.buffer<tensor<4xf32>, host>
}

// CHECK-LABEL: func @sizes_of_calls
func.func @sizes_of_calls(%x: tensor<4xf32>) {
  // CHECK: plan.framework_call "f"(%{{.*}}) sizes #{{.*}} : (tensor<4xf32>) -> ()
  plan.framework_call "f"(%x) sizes affine_map<()[s0] -> (s0)> : (tensor<4xf32>) -> ()
  return
}

// CHECK-LABEL: plan.program @dynamic attributes {inlay.symbols = [#inlay.symbol<"batch", 1 to 8>]} {
plan.program @dynamic attributes {inlay.symbols = [#inlay.symbol<"batch", 1 to 8>]} {
  // CHECK: plan.input 0 "x" : <tensor<?x4xf32>, host, #{{.*}}>
  %x = plan.input 0 "x" : <tensor<?x4xf32>, host, affine_map<()[s0] -> (s0, 4)>>
  // CHECK: plan.callback "f"(%{{.*}}) outs() {sizes = #{{.*}}}
  plan.callback "f"(%x) outs() {sizes = affine_map<()[s0] -> (s0 * 2)>}
    : (!plan.buffer<tensor<?x4xf32>, host, affine_map<()[s0] -> (s0, 4)>>) -> ()
}

// CHECK-LABEL: plan.program @bodies
plan.program @bodies {
  %c = plan.input 0 "c" : <tensor<i1>, host>
  %n = plan.input 1 "n" : <tensor<i64>, host>
  %r = plan.output 0 "r" : <tensor<i64>, host>
  %k = plan.temporary "k" : <tensor<i64>, host>
  // CHECK: plan.branch %{{.*}} {
  // CHECK-NEXT: plan.copy
  // CHECK-NEXT: } else {
  // CHECK-NEXT: } : <tensor<i1>, host>
  plan.branch %c {
    plan.copy %n to %r : <tensor<i64>, host>, <tensor<i64>, host>
  } else {
  } : <tensor<i1>, host>
  // CHECK: plan.while %{{.*}} limit 9 {
  // CHECK-NEXT: } do {
  // CHECK-NEXT: plan.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
  // CHECK-NEXT: } : <tensor<i64>, host>
  // CHECK-NEXT: } : <tensor<i1>, host>
  plan.while %c limit 9 {
  } do {
    plan.for %k = %n to %n step %n {
    } : <tensor<i64>, host>
  } : <tensor<i1>, host>
}

// CHECK-LABEL: func @library_calls
// CHECK-SAME: (%[[A:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<16x8xf32>, %[[B:.*]]: tensor<16xf32>, %[[C:.*]]: tensor<4x16xf32>
func.func @library_calls(%a: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>, %c: tensor<4x16xf32>,
                         %x: memref<1x8x8x4xf32>, %k: memref<4x4x3x3xf32>, %y: memref<1x8x8x4xf32>,
                         %q: memref<1x2x4x8xf32>, %m: memref<1x1x4x4xi1>) -> tensor<4x16xf32> {
  // CHECK: plan.library_call contraction(%[[A]], %[[W]], %[[B]], %[[C]]) into %[[C]] {config = {accumulate, bias}, constants = array<i64: 1, 2>, maps = [#{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}], post_ops = [#plan.post_op<relu>, #plan.post_op<mul>]} : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %r = plan.library_call contraction(%a, %w, %b, %c) into %c {
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n)>,
            affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (m, n)>],
    constants = array<i64: 1, 2>, post_ops = [#plan.post_op<relu>, #plan.post_op<mul>], config = {accumulate, bias}
  } : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  // CHECK: plan.library_call convolution(%{{.*}}, %{{.*}}) into %{{.*}} {config = {channels_last}, post_ops = [#plan.post_op<clip, 0.000000e+00 : f32, 6.000000e+00 : f32>], window = array<i64: 1, 3, 1, 1, 1, 3, 1, 1, 1>} : (memref<1x8x8x4xf32>, memref<4x4x3x3xf32>, memref<1x8x8x4xf32>) -> ()
  plan.library_call convolution(%x, %k) into %y {
    config = {channels_last}, post_ops = [#plan.post_op<clip, 0.0 : f32, 6.0 : f32>],
    window = array<i64: 1, 3, 1, 1, 1, 3, 1, 1, 1>
  } : (memref<1x8x8x4xf32>, memref<4x4x3x3xf32>, memref<1x8x8x4xf32>) -> ()
  // CHECK: plan.library_call attention(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) into %{{.*}} {config = {mask = "selected", scale = 2.500000e-01 : f64}}
  plan.library_call attention(%q, %q, %q, %m) into %q {config = {mask = "selected", scale = 0.25}}
    : (memref<1x2x4x8xf32>, memref<1x2x4x8xf32>, memref<1x2x4x8xf32>, memref<1x1x4x4xi1>, memref<1x2x4x8xf32>) -> ()
  return %r : tensor<4x16xf32>
}

// CHECK: plan.host_function @with_kernels arguments 3 inputs 2 scratch #{{.*}} kernels [#plan.host_kernel<"loops_0", loops, buffers = 4>, #plan.host_kernel<"linear_1", contraction, buffers = 4, loops = 3, constants = [1, 2], post_ops = [<relu>], config = {bias}>]
plan.host_function @with_kernels arguments 3 inputs 2 scratch affine_map<() -> ()> kernels [
  #plan.host_kernel<"loops_0", loops, buffers = 4>,
  #plan.host_kernel<"linear_1", contraction, buffers = 4, loops = 3, constants = [1, 2], post_ops = [<relu>],
                    config = {bias}>]
