// RUN: inlay-opt %s --inlay-shape-infer --split-input-file | FileCheck %s

// CHECK-DAG: #[[M0:.*]] = affine_map<()[s0, s1] -> (s0, s1, 8)>
// CHECK-DAG: #[[M1:.*]] = affine_map<()[s0, s1] -> (s0, s1, 16)>
// CHECK-DAG: #[[M2:.*]] = affine_map<()[s0, s1] -> (s0, 8, s1)>
// CHECK-DAG: #[[M3:.*]] = affine_map<()[s0, s1] -> (s0, s1, s1)>
// CHECK-DAG: #[[M4:.*]] = affine_map<()[s0, s1] -> (s0, 8)>
// CHECK-DAG: #[[M5:.*]] = affine_map<()[s0, s1] -> (s0, 1, 8)>
// CHECK-DAG: #[[M6:.*]] = affine_map<()[s0, s1] -> (s0 * s1, 8)>
// CHECK-DAG: #[[M7:.*]] = affine_map<()[s0, s1] -> (s0, s1 * 4, 2)>
// CHECK-DAG: #[[M8:.*]] = affine_map<()[s0, s1] -> (s0, s1 - 1, 8)>
// CHECK-DAG: #[[M9:.*]] = affine_map<()[s0, s1] -> (s0, (s1 + 1) floordiv 2, 8)>
// CHECK-DAG: #[[M10:.*]] = affine_map<()[s0, s1] -> (s0, s1 * 2 - 1, 8)>
// CHECK-DAG: #[[M11:.*]] = affine_map<()[s0, s1] -> (s0, s1 + 3, 8)>
// CHECK-DAG: #[[M12:.*]] = affine_map<()[s0, s1] -> (s0, 3, 8)>
// CHECK-DAG: #[[M13:.*]] = affine_map<()[s0, s1] -> (s0 + s1)>

// The dims of the result for each kind of op.
// CHECK-LABEL: func.func @ops(
func.func @ops(%x: tensor<?x?x8xf32> {inlay.dims = affine_map<()[s0, s1] -> (s0, s1, 8)>},
               %y: tensor<1x?x8xf32> {inlay.dims = affine_map<()[s0, s1] -> (1, s1, 8)>},
               %w: tensor<16x8xf32>, %i: tensor<?x3xi64> {inlay.dims = affine_map<()[s0, s1] -> (s0, 3)>},
               %v: tensor<f32>)
    attributes {inlay.symbols = [#inlay.symbol<"b", 1 to 8>, #inlay.symbol<"n", 2 to 64>]} {
  // CHECK: inlay.add {{.*}}{inlay.dims = [#[[M0]]]}
  %add = inlay.add %x, %y : (tensor<?x?x8xf32>, tensor<1x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: inlay.linear {{.*}}{inlay.dims = [#[[M1]]]}
  %linear = inlay.linear %x, %w : (tensor<?x?x8xf32>, tensor<16x8xf32>) -> tensor<?x?x16xf32>
  // CHECK: inlay.permute {{.*}}{inlay.dims = [#[[M2]]]}
  %permute = inlay.permute %x dims [0, 2, 1] : (tensor<?x?x8xf32>) -> tensor<?x8x?xf32>
  // CHECK: inlay.matmul {{.*}}{inlay.dims = [#[[M3]]]}
  %matmul = inlay.matmul %x, %permute : (tensor<?x?x8xf32>, tensor<?x8x?xf32>) -> tensor<?x?x?xf32>
  // CHECK: inlay.mean {{.*}}{inlay.dims = [#[[M4]]]}
  %mean = inlay.mean %x dims [1] : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
  // CHECK: inlay.mean {{.*}}{inlay.dims = [#[[M5]]]}
  %kept = inlay.mean %x dims [-2] keepdim : (tensor<?x?x8xf32>) -> tensor<?x1x8xf32>
  // CHECK: inlay.reshape {{.*}}{inlay.dims = [#[[M6]]]}
  %flat = inlay.reshape %x shape [-1, 8] : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
  // CHECK: inlay.reshape {{.*}}{inlay.dims = [#[[M7]]]}
  %split = inlay.reshape %x shape [?, -1, 2] sizes affine_map<()[s0, s1] -> (s0)>
    : (tensor<?x?x8xf32>) -> tensor<?x?x2xf32>
  // CHECK: inlay.slice {{.*}}{inlay.dims = [#[[M8]]]}
  %slice = inlay.slice %x dim 1 start 1 end 9223372036854775807 step 1 : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: inlay.slice {{.*}}{inlay.dims = [#[[M5]]]}
  %last = inlay.slice %x dim 1 start -1 end 9223372036854775807 step 1 : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: inlay.slice {{.*}}{inlay.dims = [#[[M9]]]}
  %even = inlay.slice %x dim 1 start 0 end 9223372036854775807 step 2 : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: inlay.cat {{.*}}{inlay.dims = [#[[M10]]]}
  %cat = inlay.cat %x, %slice dim 1 : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: inlay.pad {{.*}}{inlay.dims = [#[[M11]]]}
  %pad = inlay.pad %x, %v low [0, 1, 0] high [0, 2, 0] : (tensor<?x?x8xf32>, tensor<f32>) -> tensor<?x?x8xf32>
  // CHECK: inlay.embedding {{.*}}{inlay.dims = [#[[M12]]]}
  %rows = inlay.embedding %w, %i : (tensor<16x8xf32>, tensor<?x3xi64>) -> tensor<?x3x8xf32>
  // CHECK: inlay.iota {{.*}}{inlay.dims = [#[[M13]]]}
  %iota = inlay.iota sizes affine_map<()[s0, s1] -> (s0 + s1)> : () -> tensor<?xi64>
  return
}

// -----

// CHECK-DAG: #[[M0:.*]] = affine_map<()[s0, s1] -> (s0, 4, s1 * 4, s1 * 4)>
// CHECK-DAG: #[[M1:.*]] = affine_map<()[s0, s1] -> (s0, 4, s1 * 2, s1 * 2)>

// Windows on an image of any size that is large enough for the kernel.
// CHECK-LABEL: func.func @windows(
func.func @windows(%x: tensor<?x3x?x?xf32> {inlay.dims = affine_map<()[s0, s1] -> (s0, 3, s1 * 8, s1 * 8)>},
                   %w: tensor<4x3x3x3xf32>)
    attributes {inlay.symbols = [#inlay.symbol<"b", 1 to 8>, #inlay.symbol<"n", 1 to 64>]} {
  // CHECK: inlay.conv {{.*}}{inlay.dims = [#[[M0]]]}
  %conv = inlay.conv %x, %w stride [2, 2] padding [1, 1] dilation [1, 1] groups 1
    : (tensor<?x3x?x?xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x?xf32>
  // CHECK: inlay.max_pool {{.*}}{inlay.dims = [#[[M1]]]}
  %pool = inlay.max_pool %conv kernel [2, 2] stride [2, 2] padding [0, 0] dilation [1, 1]
    : (tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  return
}

// -----

// CHECK-DAG: #[[U:.*]] = affine_map<()[s0, s1] -> (s0, 2)>

// A dim of an argument without an expression becomes a new symbol. Dims that would require two of these symbols to be
// equal stay unknown.
// CHECK-LABEL: func.func @unsaid(
// CHECK-SAME:    inlay.dims = #[[U]]
// CHECK-SAME:    inlay.dims = affine_map<()[s0, s1] -> (s1, 2)>
// CHECK-SAME:    inlay.symbols = [#inlay.symbol<"arg0[0]", 0 to 9223372036854775807>, #inlay.symbol<"y[0]", 0 to 9223372036854775807>]
func.func @unsaid(%x: tensor<?x2xf32>, %y: tensor<?x2xf32> loc("y")) {
  // CHECK: inlay.relu {{.*}}inlay.dims = [
  %0 = inlay.relu %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
  // CHECK: inlay.add
  // CHECK-NOT: inlay.dims
  %1 = inlay.add %0, %y : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return
}

// -----

// Dims reach the borders of segments.
// CHECK-LABEL: func.func @borders(
func.func @borders(%x: tensor<?xf32> {inlay.dims = affine_map<()[s0] -> (s0)>}) -> tensor<?xf32>
    attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>]} {
  // CHECK: inlay.segment {{.*}}attributes {inlay.dims = [#[[MAP:.*]], #[[MAP]]]}
  %r = inlay.segment #inlay.declared<"npu", ["*"]>(%x) : (tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: tensor<?xf32>):
    %0 = inlay.relu %a : (tensor<?xf32>) -> tensor<?xf32>
    inlay.yield %0 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// A tensor that is read at indices must have elements, so the minimum of its size becomes 1, unless there may be no
// indices.
// CHECK-LABEL: func.func @tables(
// CHECK-SAME:    inlay.symbols = [#inlay.symbol<"n", 1 to 8>, #inlay.symbol<"m", 0 to 8>, #inlay.symbol<"k", 0 to 8>]
func.func @tables(%x: tensor<?x3xf32> {inlay.dims = affine_map<()[s0, s1, s2] -> (s0, 3)>},
                  %y: tensor<?x3xf32> {inlay.dims = affine_map<()[s0, s1, s2] -> (s1, 3)>},
                  %z: tensor<?x3xf32> {inlay.dims = affine_map<()[s0, s1, s2] -> (s2, 3)>}, %i: tensor<2xi64>,
                  %j: tensor<?xi64> {inlay.dims = affine_map<()[s0, s1, s2] -> (s1)>})
    attributes {inlay.symbols = [#inlay.symbol<"n", 0 to 8>, #inlay.symbol<"m", 0 to 8>, #inlay.symbol<"k", 0 to 8>]} {
  %0 = inlay.index_select %x, %i dim 0 : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1 = inlay.index_select %y, %j dim 0 : (tensor<?x3xf32>, tensor<?xi64>) -> tensor<?x3xf32>
  %2 = inlay.relu %z : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// The dims of every second row and of the rows between them have the form in which other ops state half a size.
// CHECK-DAG: #[[HALVES:.*]] = affine_map<()[s0] -> (s0 floordiv 2, 8)>
// CHECK-LABEL: func.func @halves
func.func @halves(%x: tensor<?x4xf32> {inlay.dims = affine_map<()[s0] -> (s0, 4)>}) -> tensor<?x8xf32>
    attributes {inlay.symbols = [#inlay.symbol<"n", 2 to 64>]} {
  %even = inlay.slice %x dim 0 start 0 end 9223372036854775807 step 2 : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // A frontend that knows that `n` is even says that both halves have one size.
  %half = inlay.reshape %even shape [?, 4] sizes affine_map<()[s0] -> (s0 floordiv 2)>
    : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %odd = inlay.slice %x dim 0 start 1 end 9223372036854775807 step 2 : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: inlay.cat {{.*}} {inlay.dims = [#[[HALVES]]]}
  %both = inlay.cat %half, %odd dim 1 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %both : tensor<?x8xf32>
}
