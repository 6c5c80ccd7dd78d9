// Every op is printed, parsed again, and read back from its generic form and from bytecode.
// RUN: inlay-opt %s | inlay-opt | FileCheck %s
// RUN: inlay-opt %s --mlir-print-op-generic | inlay-opt | FileCheck %s
// RUN: inlay-opt %s --emit-bytecode | inlay-opt | FileCheck %s

//===-- Windows -------------------------------------------------------------------------------------------------===//

// CHECK-LABEL: func @conv
func.func @conv(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>, %b: tensor<6xf32>) {
  // CHECK: inlay.conv %{{.*}}, %{{.*}}, %{{.*}} stride [2, 2] padding [1, 1] dilation [1, 1] groups 2 : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x4x4xf32>
  %0 = inlay.conv %x, %w, %b stride [2, 2] padding [1, 1] dilation [1, 1] groups 2
    : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x4x4xf32>
  // CHECK: inlay.conv %{{.*}}, %{{.*}} stride [1, 1] padding [0, 0] dilation [2, 3] groups 2 : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x2xf32>
  %1 = inlay.conv %x, %w stride [1, 1] padding [0, 0] dilation [2, 3] groups 2
    : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x2xf32>
  return
}

// CHECK-LABEL: func @conv_of_other_ranks_and_unknown_sizes
func.func @conv_of_other_ranks_and_unknown_sizes(%x1: tensor<?x4x?xf32>, %w1: tensor<6x4x3xf32>,
    %x3: tensor<1x2x5x5x5xf16>, %w3: tensor<2x2x1x?x3xf16>) {
  // CHECK: -> tensor<?x6x?xf32>
  %0 = inlay.conv %x1, %w1 stride [1] padding [0] dilation [1] groups 1
    : (tensor<?x4x?xf32>, tensor<6x4x3xf32>) -> tensor<?x6x?xf32>
  // CHECK: -> tensor<1x2x5x?x3xf16>
  %1 = inlay.conv %x3, %w3 stride [1, 1, 1] padding [0, 0, 0] dilation [1, 1, 1] groups 1
    : (tensor<1x2x5x5x5xf16>, tensor<2x2x1x?x3xf16>) -> tensor<1x2x5x?x3xf16>
  return
}

// CHECK-LABEL: func @pool
func.func @pool(%x: tensor<1x4x7x8xf32>, %small: tensor<1x4x2xf32>) {
  // CHECK: inlay.max_pool %{{.*}} kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1] : (tensor<1x4x7x8xf32>) -> tensor<1x4x4x4xf32>
  %0 = inlay.max_pool %x kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1]
    : (tensor<1x4x7x8xf32>) -> tensor<1x4x4x4xf32>
  // CHECK: inlay.max_pool %{{.*}} kernel [2, 3] stride [2, 3] padding [0, 0] dilation [1, 1] ceil_mode : (tensor<1x4x7x8xf32>) -> tensor<1x4x4x3xf32>
  %1 = inlay.max_pool %x kernel [2, 3] stride [2, 3] padding [0, 0] dilation [1, 1] ceil_mode
    : (tensor<1x4x7x8xf32>) -> tensor<1x4x4x3xf32>
  // CHECK: inlay.avg_pool %{{.*}} kernel [2, 2] stride [2, 2] padding [0, 0] : (tensor<1x4x7x8xf32>) -> tensor<1x4x3x4xf32>
  %2 = inlay.avg_pool %x kernel [2, 2] stride [2, 2] padding [0, 0] : (tensor<1x4x7x8xf32>) -> tensor<1x4x3x4xf32>
  // CHECK: inlay.avg_pool %{{.*}} kernel [2, 2] stride [2, 2] padding [1, 0] ceil_mode count_include_pad : (tensor<1x4x7x8xf32>) -> tensor<1x4x4x4xf32>
  %3 = inlay.avg_pool %x kernel [2, 2] stride [2, 2] padding [1, 0] ceil_mode count_include_pad
    : (tensor<1x4x7x8xf32>) -> tensor<1x4x4x4xf32>
  // In ceil mode, a window larger than the input counts if it starts inside.
  // CHECK: -> tensor<1x4x1xf32>
  %4 = inlay.max_pool %small kernel [3] stride [2] padding [0] dilation [1] ceil_mode
    : (tensor<1x4x2xf32>) -> tensor<1x4x1xf32>
  return
}

//===-- Normalization -------------------------------------------------------------------------------------------===//

// CHECK-LABEL: func @normalization
func.func @normalization(%x: tensor<2x4x8xf32>, %c: tensor<4xf32>, %t: tensor<4x8xf32>, %d: tensor<?xf32>) {
  // CHECK: inlay.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} eps 1.000000e-05 : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<?xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
  %0 = inlay.batch_norm %x, %c, %c, %d, %c eps 1.0e-5
    : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<?xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
  // CHECK: inlay.layer_norm %{{.*}}, %{{.*}}, %{{.*}} eps 1.000000e-05 : (tensor<2x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %1 = inlay.layer_norm %x, %t, %t eps 1.0e-5
    : (tensor<2x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  // CHECK: inlay.layer_norm {{.*}} (tensor<2x4x8xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<2x4x8xf32>
  %2 = inlay.layer_norm %x, %d, %d eps 1.0e-5
    : (tensor<2x4x8xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<2x4x8xf32>
  // CHECK: inlay.softmax %{{.*}} dim -1 : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %3 = inlay.softmax %x dim -1 : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return
}

//===-- Products ------------------------------------------------------------------------------------------------===//

// CHECK-LABEL: func @products
func.func @products(%a: tensor<2x1x4x8xf32>, %b: tensor<3x8x5xf32>, %m: tensor<?x8xf32>, %w: tensor<10x8xf32>,
                    %bias: tensor<10xf32>, %v: tensor<8xf32>) {
  // CHECK: inlay.matmul %{{.*}}, %{{.*}} : (tensor<2x1x4x8xf32>, tensor<3x8x5xf32>) -> tensor<2x3x4x5xf32>
  %0 = inlay.matmul %a, %b : (tensor<2x1x4x8xf32>, tensor<3x8x5xf32>) -> tensor<2x3x4x5xf32>
  // CHECK: inlay.matmul %{{.*}}, %{{.*}} : (tensor<?x8xf32>, tensor<3x8x5xf32>) -> tensor<3x?x5xf32>
  %1 = inlay.matmul %m, %b : (tensor<?x8xf32>, tensor<3x8x5xf32>) -> tensor<3x?x5xf32>
  // CHECK: inlay.linear %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x1x4x8xf32>, tensor<10x8xf32>, tensor<10xf32>) -> tensor<2x1x4x10xf32>
  %2 = inlay.linear %a, %w, %bias : (tensor<2x1x4x8xf32>, tensor<10x8xf32>, tensor<10xf32>) -> tensor<2x1x4x10xf32>
  // CHECK: inlay.linear %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<10x8xf32>) -> tensor<10xf32>
  %3 = inlay.linear %v, %w : (tensor<8xf32>, tensor<10x8xf32>) -> tensor<10xf32>
  return
}

//===-- Reductions ----------------------------------------------------------------------------------------------===//

// CHECK-LABEL: func @reductions
func.func @reductions(%x: tensor<2x?x4xf32>, %scalar: tensor<i64>) {
  // CHECK: inlay.amax %{{.*}} dims [1] : (tensor<2x?x4xf32>) -> tensor<2x4xf32>
  %0 = inlay.amax %x dims [1] : (tensor<2x?x4xf32>) -> tensor<2x4xf32>
  // CHECK: inlay.mean %{{.*}} dims [-1, 0] keepdim : (tensor<2x?x4xf32>) -> tensor<1x?x1xf32>
  %1 = inlay.mean %x dims [-1, 0] keepdim : (tensor<2x?x4xf32>) -> tensor<1x?x1xf32>
  // CHECK: inlay.sum %{{.*}} dims [0, 1, 2] : (tensor<2x?x4xf32>) -> tensor<f32>
  %2 = inlay.sum %x dims [0, 1, 2] : (tensor<2x?x4xf32>) -> tensor<f32>
  // CHECK: inlay.sum %{{.*}} dims [] : (tensor<i64>) -> tensor<i64>
  %3 = inlay.sum %scalar dims [] : (tensor<i64>) -> tensor<i64>
  // CHECK: inlay.amin %{{.*}} dims [0] keepdim : (tensor<2x?x4xf32>) -> tensor<1x?x4xf32>
  %4 = inlay.amin %x dims [0] keepdim : (tensor<2x?x4xf32>) -> tensor<1x?x4xf32>
  // CHECK: inlay.prod %{{.*}} dims [0, 1] : (tensor<2x?x4xf32>) -> tensor<4xf32>
  %5 = inlay.prod %x dims [0, 1] : (tensor<2x?x4xf32>) -> tensor<4xf32>
  // CHECK: inlay.any %{{.*}} dims [2] : (tensor<2x?x4xf32>) -> tensor<2x?xi1>
  %6 = inlay.any %x dims [2] : (tensor<2x?x4xf32>) -> tensor<2x?xi1>
  // CHECK: inlay.all %{{.*}} dims [] : (tensor<i64>) -> tensor<i1>
  %7 = inlay.all %scalar dims [] : (tensor<i64>) -> tensor<i1>
  return
}

// CHECK-LABEL: func @places
func.func @places(%x: tensor<2x?x4xf32>) {
  // CHECK: inlay.argmax %{{.*}} dim -1 keepdim : (tensor<2x?x4xf32>) -> tensor<2x?x1xi64>
  %0 = inlay.argmax %x dim -1 keepdim : (tensor<2x?x4xf32>) -> tensor<2x?x1xi64>
  // CHECK: inlay.argmin %{{.*}} dim 0 : (tensor<2x?x4xf32>) -> tensor<?x4xi64>
  %1 = inlay.argmin %x dim 0 : (tensor<2x?x4xf32>) -> tensor<?x4xi64>
  return
}

// CHECK-LABEL: func @scans
func.func @scans(%x: tensor<2x?x4xf32>, %y: tensor<5xi64>) {
  // CHECK: inlay.cumsum %{{.*}} dim -2 : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %0 = inlay.cumsum %x dim -2 : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK: inlay.cumprod %{{.*}} dim 0 : (tensor<5xi64>) -> tensor<5xi64>
  %1 = inlay.cumprod %y dim 0 : (tensor<5xi64>) -> tensor<5xi64>
  return
}

//===-- Layout --------------------------------------------------------------------------------------------------===//

// CHECK-LABEL: func @layout
func.func @layout(%x: tensor<2x3x4xf32>, %one: tensor<4x1xf32>, %dynamic: tensor<?x3xf32>, %n: tensor<3x0xi32>) {
  // CHECK: inlay.reshape %{{.*}} shape [6, -1] : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %0 = inlay.reshape %x shape [6, -1] : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  // CHECK: inlay.reshape %{{.*}} shape [3, -1] : (tensor<?x3xf32>) -> tensor<3x?xf32>
  %1 = inlay.reshape %dynamic shape [3, -1] : (tensor<?x3xf32>) -> tensor<3x?xf32>
  // CHECK: inlay.reshape %{{.*}} shape [-1] : (tensor<3x0xi32>) -> tensor<0xi32>
  %2 = inlay.reshape %n shape [-1] : (tensor<3x0xi32>) -> tensor<0xi32>
  // CHECK: inlay.permute %{{.*}} dims [2, 0, -2] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %3 = inlay.permute %x dims [2, 0, -2] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  // CHECK: inlay.expand %{{.*}} shape [2, -1, 3] : (tensor<4x1xf32>) -> tensor<2x4x3xf32>
  %4 = inlay.expand %one shape [2, -1, 3] : (tensor<4x1xf32>) -> tensor<2x4x3xf32>
  // CHECK: inlay.expand %{{.*}} shape [4, 0] : (tensor<4x1xf32>) -> tensor<4x0xf32>
  %5 = inlay.expand %one shape [4, 0] : (tensor<4x1xf32>) -> tensor<4x0xf32>
  // CHECK: inlay.slice %{{.*}} dim 1 start -2 end 9223372036854775807 step 1 : (tensor<2x3x4xf32>) -> tensor<2x2x4xf32>
  %6 = inlay.slice %x dim 1 start -2 end 9223372036854775807 step 1 : (tensor<2x3x4xf32>) -> tensor<2x2x4xf32>
  // CHECK: inlay.slice %{{.*}} dim -1 start 2 end 1 step 1 : (tensor<2x3x4xf32>) -> tensor<2x3x0xf32>
  %7 = inlay.slice %x dim -1 start 2 end 1 step 1 : (tensor<2x3x4xf32>) -> tensor<2x3x0xf32>
  // CHECK: inlay.slice %{{.*}} dim 0 start -9223372036854775807 end 9223372036854775807 step 9223372036854775807 : (tensor<2x3x4xf32>) -> tensor<1x3x4xf32>
  %8 = inlay.slice %x dim 0 start -9223372036854775807 end 9223372036854775807 step 9223372036854775807
    : (tensor<2x3x4xf32>) -> tensor<1x3x4xf32>
  // CHECK: inlay.slice {{.*}} (tensor<?x3xf32>) -> tensor<?x3xf32>
  %9 = inlay.slice %dynamic dim 0 start 0 end 2 step 1 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: func @cat
func.func @cat(%a: tensor<1x3xf32>, %b: tensor<2x?xf32>, %c: tensor<?x3xf32>) {
  // CHECK: inlay.cat %{{.*}} dim 0 : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %0 = inlay.cat %a dim 0 : (tensor<1x3xf32>) -> tensor<1x3xf32>
  // The known size of a dim is used, no matter which input has it.
  // CHECK: inlay.cat %{{.*}}, %{{.*}} dim -2 : (tensor<2x?xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  %1 = inlay.cat %b, %a dim -2 : (tensor<2x?xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  // CHECK: inlay.cat %{{.*}}, %{{.*}}, %{{.*}} dim 0 : {{.*}} -> tensor<?x3xf32>
  %2 = inlay.cat %a, %b, %c dim 0 : (tensor<1x3xf32>, tensor<2x?xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: func @cast_and_list
func.func @cast_and_list(%x: tensor<2x?xi64>, %object: !inlay.object<"None">) {
  // CHECK: inlay.cast %{{.*}} to f32 : (tensor<2x?xi64>) -> tensor<2x?xf32>
  %0 = inlay.cast %x to f32 : (tensor<2x?xi64>) -> tensor<2x?xf32>
  // CHECK: inlay.list %{{.*}}, %{{.*}} : (tensor<2x?xf32>, tensor<2x?xf32>) -> !inlay.list<tensor<2x?xf32>>
  %1 = inlay.list %0, %0 : (tensor<2x?xf32>, tensor<2x?xf32>) -> !inlay.list<tensor<2x?xf32>>
  // CHECK: inlay.list %{{.*}} : (!inlay.object<"None">) -> !inlay.list<!inlay.object<"None">>
  %2 = inlay.list %object : (!inlay.object<"None">) -> !inlay.list<!inlay.object<"None">>
  return
}

//===-- Results may say more or less than inference does ----------------------------------------------------------===//

// CHECK-LABEL: func @refined_results
func.func @refined_results(%x: tensor<?x3xf32>, %y: tensor<2x3xf32>) {
  // CHECK: (tensor<?x3xf32>) -> tensor<4x3xf32>
  %0 = inlay.relu %x : (tensor<?x3xf32>) -> tensor<4x3xf32>
  // CHECK: (tensor<2x3xf32>) -> tensor<?x?xf32>
  %1 = inlay.relu %y : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return
}

//===-- Calls, plugins, constants -------------------------------------------------------------------------------===//

// CHECK-LABEL: func @opaque
func.func @opaque(%x: tensor<4xf32>, %y: tensor<4xf32>, %object: !inlay.object<"None">) {
  // CHECK: inlay.opaque "aten::sort"(%{{.*}}) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  %0:2 = inlay.opaque "aten::sort"(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  // CHECK: inlay.opaque "aten::add_.Tensor"(%{{.*}}, %{{.*}}) writes [0] aliases [0] call "add_({0}, {1})" {inlay.neutral} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = inlay.opaque "aten::add_.Tensor"(%x, %y) writes [0] aliases [0] call "add_({0}, {1})" {inlay.neutral}
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: inlay.opaque "prim::Print"(%{{.*}}) : (!inlay.object<"None">) -> ()
  inlay.opaque "prim::Print"(%object) : (!inlay.object<"None">) -> ()
  // CHECK: inlay.opaque "aten::rand"() in_order : () -> tensor<4xf32>
  %2 = inlay.opaque "aten::rand"() in_order : () -> tensor<4xf32>
  return
}

// CHECK-LABEL: func @plugin
func.func @plugin(%x: tensor<4xf32>) {
  // CHECK: inlay.plugin "my_kernel"(%{{.*}}) {alpha = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = inlay.plugin "my_kernel"(%x) {alpha = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func @constant
func.func @constant() {
  // CHECK: inlay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = inlay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: inlay.constant dense_resource<w> : tensor<2xf32>
  %1 = inlay.constant dense_resource<w> : tensor<2xf32>
  // CHECK: inlay.constant dense<> : tensor<0x3xi64>
  %2 = inlay.constant dense<> : tensor<0x3xi64>
  return
}

//===-- Segments ------------------------------------------------------------------------------------------------===//

#npu = #inlay.declared<"npu", ["*"]>

// CHECK-LABEL: func @segment
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @segment(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[OPEN:.*]] = inlay.segment #inlay.declared<"npu", ["*"]>() : () -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = inlay.add %[[X]], %[[Y]]
  // CHECK-NEXT: inlay.yield %[[R]] : tensor<4xf32>
  %open = inlay.segment #npu() : () -> tensor<4xf32> {
    %0 = inlay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    inlay.yield %0 : tensor<4xf32>
  }
  // CHECK: inlay.segment #inlay.declared<"npu", ["*"]>(%[[OPEN]], %[[X]]) do_not_merge attributes {test.name = "s"} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>):
  // CHECK-NEXT: math.tanh %[[A]]
  %closed:2 = inlay.segment #npu(%open, %x) do_not_merge attributes {test.name = "s"}
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = math.tanh %a : tensor<4xf32>
    inlay.yield %0, %b : tensor<4xf32>, tensor<4xf32>
  }
  // A segment that yields no values needs no terminator.
  // CHECK: inlay.segment #inlay.declared<"npu", ["*"]>(%[[X]]) : (tensor<4xf32>) -> () {
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: inlay.opaque
  // CHECK-NEXT: }
  inlay.segment #npu(%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    inlay.opaque "aten::zero_"(%a) writes [0] : (tensor<4xf32>) -> ()
  }
  return %closed#0 : tensor<4xf32>
}

// CHECK-LABEL: func @quantize
func.func @quantize(%x: tensor<?x8xf16>, %s: tensor<1x1xf32>, %t: tensor<1x2xf32>, %z: tensor<1x2xi8>) {
  // CHECK: inlay.quantize %{{.*}}, %{{.*}} code "i8" block [-1, -1] from -127 to 127 : (tensor<?x8xf16>, tensor<1x1xf32>) -> tensor<?x8xi8>
  %0 = inlay.quantize %x, %s code "i8" block [-1, -1] from -127 to 127 : (tensor<?x8xf16>, tensor<1x1xf32>) -> tensor<?x8xi8>
  // CHECK: inlay.quantize %{{.*}}, %{{.*}}, %{{.*}} code "u8" block [-1, 4] from 0 to 255 inverse
  %1 = inlay.quantize %x, %t, %z code "u8" block [-1, 4] from 0 to 255 inverse
    : (tensor<?x8xf16>, tensor<1x2xf32>, tensor<1x2xi8>) -> tensor<?x8xi8>
  return
}

// CHECK-LABEL: func @dequantize
func.func @dequantize(%c: tensor<4x8xi8>, %d: tensor<?x8xi8>, %s: tensor<4x1xf16>, %t: tensor<?x2xf32>, %o: tensor<?x2xi8>) {
  // CHECK: inlay.dequantize %{{.*}}, %{{.*}} code "i8" block [1, -1] to f16 : (tensor<4x8xi8>, tensor<4x1xf16>) -> tensor<4x8xf16>
  %0 = inlay.dequantize %c, %s code "i8" block [1, -1] to f16 : (tensor<4x8xi8>, tensor<4x1xf16>) -> tensor<4x8xf16>
  // CHECK: inlay.dequantize %{{.*}}, %{{.*}}, %{{.*}} code "u4" block [1, 8] size 15 to f32
  %1 = inlay.dequantize %d, %t, %o code "u4" block [1, 8] size 15 to f32
    : (tensor<?x8xi8>, tensor<?x2xf32>, tensor<?x2xi8>) -> tensor<?x15xf32>
  // CHECK: inlay.dequantize %{{.*}}, %{{.*}}, %{{.*}} code "u2" block [1, 16] minima to f32
  %2 = inlay.dequantize %d, %t, %t code "u2" block [1, 16] minima to f32
    : (tensor<?x8xi8>, tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x32xf32>
  return
}
