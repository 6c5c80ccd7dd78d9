// RUN: inlay-opt %s --inlay-convert-form-library-calls --split-input-file | FileCheck %s

// Weights are marked as constants. The map of the bias has its one dim.
// CHECK-DAG: #[[$X:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$W:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-DAG: #[[$Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @linear
// CHECK-SAME: (%[[X:.*]]: tensor<32x64xf32>, %[[W:.*]]: tensor<16x64xf32> {plan.constant}, %[[B:.*]]: tensor<16xf32> {plan.constant})
// CHECK: %[[E:.*]] = tensor.empty() : tensor<32x16xf32>
// CHECK: %[[R:.*]] = plan.library_call contraction(%[[X]], %[[W]], %[[B]]) into %[[E]] {config = {bias}, constants = array<i64: 1, 2>, maps = [#[[$X]], #[[$W]], #[[$B]], #[[$Y]]], post_ops = [#plan.post_op<relu>]}
// CHECK-NEXT: return %[[R]]
func.func @linear(%x: tensor<32x64xf32>, %w: tensor<16x64xf32> {plan.constant}, %b: tensor<16xf32> {plan.constant})
    -> tensor<32x16xf32> {
  %0 = inlay.linear %x, %w, %b : (tensor<32x64xf32>, tensor<16x64xf32>, tensor<16xf32>) -> tensor<32x16xf32>
  %1 = inlay.relu %0 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  return %1 : tensor<32x16xf32>
}

// -----

// Permutations of the keys and of the result become part of the maps. A dim of size 1 is repeated.
// CHECK-DAG: #[[$Q:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>
// CHECK-DAG: #[[$K:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
// CHECK-DAG: #[[$S:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d3)>
// CHECK-LABEL: func.func @scores
// CHECK-SAME: (%[[Q:.*]]: tensor<1x4x8x16xf32>, %[[K:.*]]: tensor<2x4x8x16xf32>)
// CHECK-NOT: inlay.permute
// CHECK: plan.library_call contraction(%[[Q]], %[[K]]) into %{{.*}} {maps = [#[[$Q]], #[[$K]], #[[$S]]]}
// CHECK-SAME: -> tensor<2x8x4x8xf32>
func.func @scores(%q: tensor<1x4x8x16xf32>, %k: tensor<2x4x8x16xf32>) -> tensor<2x8x4x8xf32> {
  %0 = inlay.permute %k dims [0, 1, 3, 2] : (tensor<2x4x8x16xf32>) -> tensor<2x4x16x8xf32>
  %1 = inlay.matmul %q, %0 : (tensor<1x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = inlay.permute %1 dims [0, 2, 1, 3] : (tensor<2x4x8x8xf32>) -> tensor<2x8x4x8xf32>
  return %2 : tensor<2x8x4x8xf32>
}

// -----

// A product of three cyclically permuted dims: its dims 0, 1 and 2 are dims 1, 2 and 0 of the operand.
// CHECK-DAG: #[[$A:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d0, d1)>
// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK-DAG: #[[$R:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d0)>
// CHECK-LABEL: func.func @circle
// CHECK: plan.library_call contraction(%{{.*}}, %{{.*}}) into %{{.*}} {constants = array<i64: 1>, maps = [#[[$A]], #[[$B]], #[[$R]]]}
func.func @circle(%a: tensor<16x4x8xf32>, %b: tensor<16x32xf32> {plan.constant}) -> tensor<8x32x4xf32> {
  %0 = inlay.permute %a dims [1, 2, 0] : (tensor<16x4x8xf32>) -> tensor<4x8x16xf32>
  %1 = inlay.matmul %0, %b : (tensor<4x8x16xf32>, tensor<16x32xf32>) -> tensor<4x8x32xf32>
  %2 = inlay.permute %1 dims [1, 2, 0] : (tensor<4x8x32xf32>) -> tensor<8x32x4xf32>
  return %2 : tensor<8x32x4xf32>
}

// -----

// The call absorbs the ops that follow in order if they broadcast to the result. The last one has a second use.
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-DAG: #[[$SCALAR:.*]] = affine_map<(d0, d1, d2) -> ()>
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1, d2) -> (d0, 0)>
// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[Z:[a-z0-9]*]]: tensor<32x1xf32>, %[[V:[a-z0-9]*]]: tensor<16xf32>
// CHECK: %[[S:.*]] = inlay.constant dense<2.000000e+00>
// CHECK: %[[R:.*]] = plan.library_call contraction(%{{.*}}, %{{.*}}, %[[S]], %[[Z]], %[[V]]) into
// CHECK-SAME: maps = [#{{[a-z0-9]+}}, #{{[a-z0-9]+}}, #[[$SCALAR]], #[[$COLUMN]], #[[$ROW]], #{{[a-z0-9]+}}]
// CHECK-SAME: post_ops = [#plan.post_op<gelu>, #plan.post_op<mul>, #plan.post_op<add>, #plan.post_op<silu>, #plan.post_op<mul>]
// CHECK: inlay.tanh %[[R]]
// CHECK: inlay.add %[[R]]
func.func @chain(%x: tensor<32x64xf32>, %w: tensor<16x64xf32>, %z: tensor<32x1xf32>, %v: tensor<16xf32>)
    -> tensor<32x16xf32> {
  %two = inlay.constant dense<2.0> : tensor<f32>
  %0 = inlay.linear %x, %w : (tensor<32x64xf32>, tensor<16x64xf32>) -> tensor<32x16xf32>
  %1 = inlay.gelu %0 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %2 = inlay.mul %1, %two : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %3 = inlay.add %z, %2 : (tensor<32x1xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %4 = inlay.sigmoid %3 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %5 = inlay.mul %3, %4 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %6 = inlay.mul %5, %v : (tensor<32x16xf32>, tensor<16xf32>) -> tensor<32x16xf32>
  %7 = inlay.tanh %6 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %8 = inlay.add %6, %7 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %8 : tensor<32x16xf32>
}

// -----

// The tanh form of gelu, as users write it.
// CHECK-LABEL: func.func @gelu_tanh
// CHECK: plan.library_call contraction({{.*}}post_ops = [#plan.post_op<gelu_tanh>]
// CHECK-NEXT: return
func.func @gelu_tanh(%x: tensor<32x64xf32>, %w: tensor<16x64xf32>) -> tensor<32x16xf32> {
  %0 = inlay.linear %x, %w : (tensor<32x64xf32>, tensor<16x64xf32>) -> tensor<32x16xf32>
  %1 = inlay.mul %0, %0 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %2 = inlay.mul %1, %0 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %cubic = inlay.constant dense<4.471500e-02> : tensor<f32>
  %3 = inlay.mul %2, %cubic : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %4 = inlay.add %3, %0 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %scale = inlay.constant dense<0.797884583> : tensor<f32>
  %5 = inlay.mul %4, %scale : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %6 = inlay.tanh %5 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %half = inlay.constant dense<5.000000e-01> : tensor<f32>
  %7 = inlay.mul %0, %half : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %one = inlay.constant dense<1.000000e+00> : tensor<f32>
  %8 = inlay.add %6, %one : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %9 = inlay.mul %7, %8 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %9 : tensor<32x16xf32>
}

// -----

// The tanh form of gelu, as importers write it.
// CHECK-LABEL: func.func @gelu_sigmoid
// CHECK: plan.library_call contraction({{.*}}post_ops = [#plan.post_op<gelu_tanh>]
// CHECK-NEXT: return
func.func @gelu_sigmoid(%x: tensor<32x64xf32>, %w: tensor<16x64xf32>) -> tensor<32x16xf32> {
  %0 = inlay.linear %x, %w : (tensor<32x64xf32>, tensor<16x64xf32>) -> tensor<32x16xf32>
  %1 = inlay.mul %0, %0 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %2 = inlay.mul %1, %0 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %cubic = inlay.constant dense<4.471500e-02> : tensor<f32>
  %3 = inlay.mul %2, %cubic : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %4 = inlay.add %3, %0 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %scale = inlay.constant dense<1.595769166> : tensor<f32>
  %5 = inlay.mul %4, %scale : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %6 = inlay.sigmoid %5 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %7 = inlay.mul %0, %6 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %7 : tensor<32x16xf32>
}

// -----

// The window: groups, then size, stride, dilation and padding of each dim. The addend is computed after the
// convolution.
// CHECK-LABEL: func.func @convolution
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x16x16xf32>, %[[W:.*]]: tensor<8x2x3x5xf32> {plan.constant}, %[[B:.*]]: tensor<8xf32>)
// CHECK: %[[N:.*]] = inlay.neg
// CHECK: %[[R:.*]] = plan.library_call convolution(%[[X]], %[[W]], %[[B]], %[[N]]) into %{{.*}} {config = {bias}, constants = array<i64: 1>, post_ops = [#plan.post_op<add>, #plan.post_op<relu>], window = array<i64: 2, 3, 2, 1, 1, 5, 2, 2, 4>}
// CHECK-NEXT: return %[[R]]
func.func @convolution(%x: tensor<1x4x16x16xf32>, %w: tensor<8x2x3x5xf32> {plan.constant}, %b: tensor<8xf32>)
    -> tensor<1x8x8x8xf32> {
  %0 = inlay.conv %x, %w, %b stride [2, 2] padding [1, 4] dilation [1, 2] groups 2
    : (tensor<1x4x16x16xf32>, tensor<8x2x3x5xf32>, tensor<8xf32>) -> tensor<1x8x8x8xf32>
  %1 = inlay.constant dense<1.0> : tensor<1x8x8x8xf32>
  %2 = inlay.neg %1 : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %3 = inlay.add %2, %0 : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %4 = inlay.relu %3 : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %4 : tensor<1x8x8x8xf32>
}

// -----

// A convolution with one window is a product of the channels with the weight.
// CHECK-DAG: #[[$PX:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)>
// CHECK-DAG: #[[$PW:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d4, d2, d3)>
// CHECK-DAG: #[[$PB:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1)>
// CHECK-DAG: #[[$PY:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @one_place
// CHECK: plan.library_call contraction(%{{.*}}, %{{.*}}, %{{.*}}) into %{{.*}} {config = {bias}, constants = array<i64: 1>, maps = [#[[$PX]], #[[$PW]], #[[$PB]], #[[$PY]]], post_ops = [#plan.post_op<relu>]}
func.func @one_place(%x: tensor<2x96x1x1xf32>, %w: tensor<24x96x1x1xf32> {plan.constant}, %b: tensor<24xf32>)
    -> tensor<2x24x1x1xf32> {
  %0 = inlay.conv %x, %w, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1
      : (tensor<2x96x1x1xf32>, tensor<24x96x1x1xf32>, tensor<24xf32>) -> tensor<2x24x1x1xf32>
  %1 = inlay.relu %0 : (tensor<2x24x1x1xf32>) -> tensor<2x24x1x1xf32>
  return %1 : tensor<2x24x1x1xf32>
}

// A convolution with padding is not.
// CHECK-LABEL: func.func @places_around
// CHECK: plan.library_call convolution
func.func @places_around(%x: tensor<2x96x1x1xf32>, %w: tensor<24x96x1x1xf32>) -> tensor<2x24x3x3xf32> {
  %0 = inlay.conv %x, %w stride [1, 1] padding [1, 1] dilation [1, 1] groups 1
      : (tensor<2x96x1x1xf32>, tensor<24x96x1x1xf32>) -> tensor<2x24x3x3xf32>
  return %0 : tensor<2x24x3x3xf32>
}

// Nor is a convolution whose only window lies in the padding.
// CHECK-LABEL: func.func @steps_past
// CHECK: plan.library_call convolution
func.func @steps_past(%x: tensor<16x96x1x1xf32>, %w: tensor<24x96x1x1xf32>) -> tensor<16x24x1x1xf32> {
  %0 = inlay.conv %x, %w stride [3, 3] padding [1, 1] dilation [1, 1] groups 1
      : (tensor<16x96x1x1xf32>, tensor<24x96x1x1xf32>) -> tensor<16x24x1x1xf32>
  return %0 : tensor<16x24x1x1xf32>
}

// CHECK-LABEL: func.func @hard_swish
// CHECK: plan.library_call convolution({{.*}}post_ops = [#plan.post_op<hard_swish>, #plan.post_op<hard_sigmoid>, #plan.post_op<clip, 0.000000e+00 : f32, 6.000000e+00 : f32>]
// CHECK-NEXT: return
func.func @hard_swish(%x: tensor<1x4x16x16xf32>, %w: tensor<8x4x1x1xf32>) -> tensor<1x8x16x16xf32> {
  %three = inlay.constant dense<3.0> : tensor<f32>
  %zero = inlay.constant dense<0.0> : tensor<f32>
  %six = inlay.constant dense<6.0> : tensor<f32>
  %0 = inlay.conv %x, %w stride [1, 1] padding [0, 0] dilation [1, 1] groups 1
    : (tensor<1x4x16x16xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x16x16xf32>
  %1 = inlay.add %0, %three : (tensor<1x8x16x16xf32>, tensor<f32>) -> tensor<1x8x16x16xf32>
  %2 = inlay.maximum %1, %zero : (tensor<1x8x16x16xf32>, tensor<f32>) -> tensor<1x8x16x16xf32>
  %3 = inlay.minimum %2, %six : (tensor<1x8x16x16xf32>, tensor<f32>) -> tensor<1x8x16x16xf32>
  %4 = inlay.mul %0, %3 : (tensor<1x8x16x16xf32>, tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %5 = inlay.div %4, %six : (tensor<1x8x16x16xf32>, tensor<f32>) -> tensor<1x8x16x16xf32>
  %6 = inlay.add %5, %three : (tensor<1x8x16x16xf32>, tensor<f32>) -> tensor<1x8x16x16xf32>
  %7 = inlay.maximum %6, %zero : (tensor<1x8x16x16xf32>, tensor<f32>) -> tensor<1x8x16x16xf32>
  %8 = inlay.minimum %7, %six : (tensor<1x8x16x16xf32>, tensor<f32>) -> tensor<1x8x16x16xf32>
  %9 = inlay.div %8, %six : (tensor<1x8x16x16xf32>, tensor<f32>) -> tensor<1x8x16x16xf32>
  %10 = inlay.maximum %9, %zero : (tensor<1x8x16x16xf32>, tensor<f32>) -> tensor<1x8x16x16xf32>
  %11 = inlay.minimum %10, %six : (tensor<1x8x16x16xf32>, tensor<f32>) -> tensor<1x8x16x16xf32>
  return %11 : tensor<1x8x16x16xf32>
}

// -----

// Constants that differ slightly make a different function: here by 3 and 2 units in the last place.
// CHECK-LABEL: func.func @nearly
// CHECK: plan.library_call contraction
// CHECK-NOT: hard_sigmoid
// CHECK: inlay.div
func.func @nearly(%x: tensor<32x64xf32>, %w: tensor<16x64xf32>) -> tensor<32x16xf32> {
  %three = inlay.constant dense<3.0000005> : tensor<f32>
  %six = inlay.constant dense<6.0> : tensor<f32>
  %zero = inlay.constant dense<0.0> : tensor<f32>
  %0 = inlay.linear %x, %w : (tensor<32x64xf32>, tensor<16x64xf32>) -> tensor<32x16xf32>
  %1 = inlay.add %0, %three : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %2 = inlay.maximum %1, %zero : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %3 = inlay.minimum %2, %six : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %4 = inlay.div %3, %six : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  return %4 : tensor<32x16xf32>
}

// A convolution absorbs no operand that is smaller than its result.
// CHECK-LABEL: func.func @broadcast
// CHECK: %[[R:.*]] = plan.library_call convolution(%{{[a-z0-9]*}}, %{{[a-z0-9]*}}) into
// CHECK-NOT: post_ops
// CHECK: inlay.mul %[[R]]
func.func @broadcast(%x: tensor<1x4x16x16xf32>, %w: tensor<8x4x1x1xf32>, %s: tensor<8x1x1xf32>)
    -> tensor<1x8x16x16xf32> {
  %0 = inlay.conv %x, %w stride [1, 1] padding [0, 0] dilation [1, 1] groups 1
    : (tensor<1x4x16x16xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x16x16xf32>
  %1 = inlay.mul %0, %s : (tensor<1x8x16x16xf32>, tensor<8x1x1xf32>) -> tensor<1x8x16x16xf32>
  return %1 : tensor<1x8x16x16xf32>
}

// -----

// A reshaped weight is still a constant.
// CHECK-LABEL: func.func @weights
// CHECK: plan.library_call contraction({{.*}}constants = array<i64: 1>
func.func @weights(%x: tensor<32x64xf32>, %w: tensor<64x4x4xf32> {plan.constant}) -> tensor<32x16xf32> {
  %0 = inlay.reshape %w shape [64, 16] : (tensor<64x4x4xf32>) -> tensor<64x16xf32>
  %1 = inlay.matmul %x, %0 : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  return %1 : tensor<32x16xf32>
}

// -----

// Dims that are known only at a call are expressions of the function's symbols.
// CHECK-LABEL: func.func @symbols
// CHECK: %[[N:.*]] = inlay.symbol 0
// CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x4xf32>
// CHECK: plan.library_call contraction(%{{.*}}, %{{.*}}) into %[[E]]
func.func @symbols(%x: tensor<?x8xf32> {inlay.dims = affine_map<()[s0] -> (s0, 8)>}, %w: tensor<4x8xf32>)
    -> (tensor<?x4xf32> {inlay.dims = affine_map<()[s0] -> (s0, 4)>})
    attributes {inlay.symbols = [#inlay.symbol<"batch", 1 to 8>]} {
  %0 = inlay.linear %x, %w {inlay.dims = [affine_map<()[s0] -> (s0, 4)>]}
    : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @attention
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x8x16xf32>, %[[M:.*]]: tensor<8x8xi1>)
// CHECK: %[[M4:.*]] = tensor.expand_shape %[[M]] {{\[}}[0, 1, 2], [3]] output_shape [1, 1, 8, 8]
// CHECK: plan.library_call attention(%[[Q]], %[[Q]], %[[Q]], %[[M4]]) into %{{.*}} {config = {mask = "selected", scale = 2.500000e-01 : f64}}
func.func @attention(%q: tensor<2x4x8x16xf32>, %m: tensor<8x8xi1>) -> tensor<2x4x8x16xf32> {
  %0 = inlay.scaled_dot_product_attention %q, %q, %q, %m scale 0.25
    : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x8xi1>) -> tensor<2x4x8x16xf32>
  return %0 : tensor<2x4x8x16xf32>
}

// -----

// Heads that share keys become the heads of one batch per head of keys.
// CHECK-LABEL: func.func @grouped
// CHECK: %[[Q5:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2], [3], [4]] output_shape [2, 2, 3, 8, 16]
// CHECK: %[[Q:.*]] = tensor.collapse_shape %[[Q5]] {{\[}}[0, 1], [2], [3], [4]] : tensor<2x2x3x8x16xf32> into tensor<4x3x8x16xf32>
// CHECK: %[[K:.*]] = tensor.collapse_shape %{{.*}} : tensor<2x2x1x8x16xf32> into tensor<4x1x8x16xf32>
// CHECK: %[[V:.*]] = tensor.collapse_shape %{{.*}} : tensor<2x2x1x8x16xf32> into tensor<4x1x8x16xf32>
// CHECK: %[[R:.*]] = plan.library_call attention(%[[Q]], %[[K]], %[[V]]) into %{{.*}} {config = {causal, scale = 2.500000e-01 : f64}} : {{.*}} -> tensor<4x3x8x16xf32>
// CHECK: %[[R5:.*]] = tensor.expand_shape %[[R]] {{\[}}[0, 1], [2], [3], [4]] output_shape [2, 2, 3, 8, 16]
// CHECK: tensor.collapse_shape %[[R5]] {{\[}}[0], [1, 2], [3], [4]] : tensor<2x2x3x8x16xf32> into tensor<2x6x8x16xf32>
func.func @grouped(%q: tensor<2x6x8x16xf32>, %k: tensor<2x2x8x16xf32>, %v: tensor<2x2x8x16xf32>)
    -> tensor<2x6x8x16xf32> {
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 0.25 is_causal enable_gqa
    : (tensor<2x6x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>) -> tensor<2x6x8x16xf32>
  return %0 : tensor<2x6x8x16xf32>
}

// A batch norm after a convolution becomes a scale and a shift of each channel, computed from vectors only.
// CHECK-LABEL: func.func @batch_norm
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x6x6xf32>, %[[W:[a-z0-9]+]]: tensor<16x8x3x3xf32>
// CHECK:       %[[SCALE:.*]] = linalg.generic
// CHECK:       %[[SHIFT:.*]] = linalg.generic
// CHECK:       plan.library_call convolution(%[[X]], %[[W]], %[[SCALE]], %[[SHIFT]])
// CHECK-SAME:    post_ops = [#plan.post_op<mul_channels>, #plan.post_op<add_channels>, #plan.post_op<relu>]
// CHECK-NOT:   inlay.batch_norm
func.func @batch_norm(%x: tensor<1x8x6x6xf32>, %w: tensor<16x8x3x3xf32>, %v: tensor<16xf32>) -> tensor<1x16x4x4xf32> {
  %0 = inlay.conv %x, %w stride [1, 1] padding [0, 0] dilation [1, 1] groups 1
    : (tensor<1x8x6x6xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x4x4xf32>
  %1 = inlay.batch_norm %0, %v, %v, %v, %v eps 1.0e-5 : (tensor<1x16x4x4xf32>, tensor<16xf32>, tensor<16xf32>,
    tensor<16xf32>, tensor<16xf32>) -> tensor<1x16x4x4xf32>
  %2 = inlay.relu %1 : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
  return %2 : tensor<1x16x4x4xf32>
}

// -----

// A product of 16-bit floats is a call on f32 if its elements are read often.
// CHECK-LABEL: func.func @halves
// CHECK-SAME: (%[[X:.*]]: tensor<64x64xbf16>, %[[W:.*]]: tensor<64x64xbf16> {plan.constant})
// CHECK-DAG: %[[WIDE_X:.*]] = inlay.cast %[[X]] to f32
// CHECK-DAG: %[[WIDE_W:.*]] = inlay.cast %[[W]] to f32
// CHECK: %[[R:.*]] = plan.library_call contraction(%[[WIDE_X]], %[[WIDE_W]]) {{.*}} -> tensor<64x64xf32>
// CHECK: inlay.cast %[[R]] to bf16
func.func @halves(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16> {plan.constant}) -> tensor<64x64xbf16> {
  %0 = inlay.linear %x, %w : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}

// -----

// Other products of 16-bit floats are generated code, because the conversions would take longer.
// CHECK-LABEL: func.func @few_rows
// CHECK-NEXT: inlay.linear
// CHECK-NEXT: return
func.func @few_rows(%x: tensor<4x512xf16>, %w: tensor<512x512xf16>) -> tensor<4x512xf16> {
  %0 = inlay.linear %x, %w : (tensor<4x512xf16>, tensor<512x512xf16>) -> tensor<4x512xf16>
  return %0 : tensor<4x512xf16>
}

// -----

// A product with dequantized weights reads the codes, also if the weights are permuted. A block of -1 is the whole dim.
// CHECK-LABEL: func.func @quantized
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x64xf32>, %[[C:.*]]: tensor<16x32xi8> {plan.constant}, %[[S:.*]]: tensor<16x1xf16> {plan.constant}, %[[Z:.*]]: tensor<16x1xi8> {plan.constant})
// CHECK-NOT: inlay
// CHECK: plan.library_call quantized_product(%[[X]], %[[C]], %[[S]], %[[Z]]) into %{{.*}} {config = {block = array<i64: 1, 64>, code = "u4", offsets}, constants = array<i64: 1, 2, 3>, post_ops = [#plan.post_op<relu>]}
// CHECK: plan.library_call quantized_product(%{{.*}}, %[[C]], %[[S]], %[[Z]]) into %{{.*}} {config = {block = array<i64: 1, 64>, code = "u4", offsets, transposed}, constants = array<i64: 1, 2, 3>}
func.func @quantized(%x: tensor<2x3x64xf32>, %c: tensor<16x32xi8> {plan.constant},
    %s: tensor<16x1xf16> {plan.constant}, %z: tensor<16x1xi8> {plan.constant}) -> tensor<2x3x64xf32> {
  %w = inlay.dequantize %c, %s, %z code "u4" block [1, -1] to f32
    : (tensor<16x32xi8>, tensor<16x1xf16>, tensor<16x1xi8>) -> tensor<16x64xf32>
  %t = inlay.permute %w dims [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
  %0 = inlay.matmul %x, %t : (tensor<2x3x64xf32>, tensor<64x16xf32>) -> tensor<2x3x16xf32>
  %1 = inlay.relu %0 : (tensor<2x3x16xf32>) -> tensor<2x3x16xf32>
  %2 = inlay.linear %1, %t : (tensor<2x3x16xf32>, tensor<64x16xf32>) -> tensor<2x3x64xf32>
  return %2 : tensor<2x3x64xf32>
}

// -----

// A product of two tensors from codes multiplies the codes, and a quantization of the result becomes part of it.
// CHECK-LABEL: func.func @integers
// CHECK-SAME: (%[[X:.*]]: tensor<32x64xi8>, %[[W:.*]]: tensor<16x64xi8> {plan.constant}, %[[S:.*]]: tensor<1x1xf32>, %[[T:.*]]: tensor<16x1xf32> {plan.constant}, %[[Z:.*]]: tensor<1x1xi8>, %[[B:.*]]: tensor<16xf32>)
// CHECK-NOT: inlay
// CHECK: %[[Y:.*]] = plan.library_call integer_product(%[[X]], %[[S]], %[[Z]], %[[W]], %[[T]], %[[B]], %[[S]], %[[Z]]) into %{{.*}} {config = {bias, input_code = "u8", input_offsets, inverse, limits = array<i64: 0, 255>, result_code = "u8", result_offsets, weight_code = "i8", weight_scales}, constants = array<i64: 3, 4>, post_ops = [#plan.post_op<relu>]}
// CHECK-SAME: -> tensor<32x16xi8>
// CHECK-NEXT: return %[[Y]]
func.func @integers(%x: tensor<32x64xi8>, %w: tensor<16x64xi8> {plan.constant}, %s: tensor<1x1xf32>,
    %t: tensor<16x1xf32> {plan.constant}, %z: tensor<1x1xi8>, %b: tensor<16xf32>) -> tensor<32x16xi8> {
  %0 = inlay.dequantize %x, %s, %z code "u8" block [-1, -1] to f32
    : (tensor<32x64xi8>, tensor<1x1xf32>, tensor<1x1xi8>) -> tensor<32x64xf32>
  %1 = inlay.dequantize %w, %t code "i8" block [1, -1] to f32 : (tensor<16x64xi8>, tensor<16x1xf32>) -> tensor<16x64xf32>
  %2 = inlay.linear %0, %1, %b : (tensor<32x64xf32>, tensor<16x64xf32>, tensor<16xf32>) -> tensor<32x16xf32>
  %3 = inlay.relu %2 : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %4 = inlay.quantize %3, %s, %z code "u8" block [-1, -1] from 0 to 255 inverse
    : (tensor<32x16xf32>, tensor<1x1xf32>, tensor<1x1xi8>) -> tensor<32x16xi8>
  return %4 : tensor<32x16xi8>
}

// -----

// The codes of a reshaped tensor are reshaped. Rows may have scales, and the weight may have a row for each input.
// CHECK-LABEL: func.func @integer_rows
// CHECK: %[[X:.*]] = inlay.reshape %{{.*}} shape [32, 64] : (tensor<32x8x8xi8>) -> tensor<32x64xi8>
// CHECK: plan.library_call integer_product(%[[X]], %{{.*}}) into %{{.*}} {config = {input_code = "i8", transposed, weight_code = "i8"}}
// CHECK: plan.library_call integer_product(%{{.*}}) into %{{.*}} {config = {input_code = "i8", input_scales, transposed, weight_code = "i8"}}
func.func @integer_rows(%x: tensor<32x8x8xi8>, %y: tensor<32x64xi8>, %w: tensor<64x16xi8>, %s: tensor<1x1xf32>,
    %r: tensor<1x1x1xf32>, %t: tensor<32x1xf32>) -> (tensor<32x16xf64>, tensor<32x16xf32>) {
  %0 = inlay.dequantize %x, %r code "i8" block [-1, -1, -1] to f64 : (tensor<32x8x8xi8>, tensor<1x1x1xf32>) -> tensor<32x8x8xf64>
  %1 = inlay.reshape %0 shape [32, 64] : (tensor<32x8x8xf64>) -> tensor<32x64xf64>
  %2 = inlay.dequantize %w, %s code "i8" block [-1, -1] to f64 : (tensor<64x16xi8>, tensor<1x1xf32>) -> tensor<64x16xf64>
  %3 = inlay.matmul %1, %2 : (tensor<32x64xf64>, tensor<64x16xf64>) -> tensor<32x16xf64>
  %4 = inlay.dequantize %y, %t code "i8" block [1, -1] to f32 : (tensor<32x64xi8>, tensor<32x1xf32>) -> tensor<32x64xf32>
  %5 = inlay.dequantize %w, %s code "i8" block [-1, -1] to f32 : (tensor<64x16xi8>, tensor<1x1xf32>) -> tensor<64x16xf32>
  %6 = inlay.matmul %4, %5 : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  return %3, %6 : tensor<32x16xf64>, tensor<32x16xf32>
}

// -----

// A call with one scale can't read an offset of each row.
// CHECK-LABEL: func.func @integer_offset_of_each_row
// CHECK: plan.library_call quantized_product
func.func @integer_offset_of_each_row(%x: tensor<?x64xi8> {inlay.dims = affine_map<()[s0] -> (s0, 64)>}, %w: tensor<64x64xi8>,
                                      %s: tensor<1x1xf32>, %t: tensor<64x1xf32>,
                                      %z: tensor<?x1xf32> {inlay.dims = affine_map<()[s0] -> (s0, 1)>})
    -> (tensor<?x64xf32> {inlay.dims = affine_map<()[s0] -> (s0, 64)>})
    attributes {inlay.symbols = [#inlay.symbol<"rows", 1 to 8>]} {
  %0 = inlay.dequantize %x, %s, %z code "i8" block [1, -1] to f32 {inlay.dims = [affine_map<()[s0] -> (s0, 64)>]}
    : (tensor<?x64xi8>, tensor<1x1xf32>, tensor<?x1xf32>) -> tensor<?x64xf32>
  %1 = inlay.dequantize %w, %t code "i8" block [1, -1] to f32 : (tensor<64x64xi8>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %2 = inlay.linear %0, %1 {inlay.dims = [affine_map<()[s0] -> (s0, 64)>]}
    : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  return %2 : tensor<?x64xf32>
}

// -----

// A convolution of codes, whose floats have another use, so the quantization stays.
// CHECK-LABEL: func.func @integer_window
// CHECK: %[[Y:.*]] = plan.library_call integer_product({{.*}}) into %{{.*}} {config = {input_code = "u8", weight_code = "i8", weight_scales}, window = array<i64: 1, 3, 1, 1, 1, 3, 1, 1, 1>}
// CHECK: inlay.quantize %[[Y]]
func.func @integer_window(%x: tensor<1x16x8x8xi8>, %w: tensor<16x16x3x3xi8>, %s: tensor<1x1x1x1xf32>, %t: tensor<16x1x1x1xf32>)
    -> (tensor<1x16x8x8xf32>, tensor<1x16x8x8xi8>) {
  %0 = inlay.dequantize %x, %s code "u8" block [-1, -1, -1, -1] to f32 : (tensor<1x16x8x8xi8>, tensor<1x1x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1 = inlay.dequantize %w, %t code "i8" block [1, -1, -1, -1] to f32 : (tensor<16x16x3x3xi8>, tensor<16x1x1x1xf32>) -> tensor<16x16x3x3xf32>
  %2 = inlay.conv %0, %1 stride [1, 1] padding [1, 1] dilation [1, 1] groups 1
    : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  %3 = inlay.quantize %2, %s code "u8" block [-1, -1, -1, -1] from 0 to 255 : (tensor<1x16x8x8xf32>, tensor<1x1x1x1xf32>) -> tensor<1x16x8x8xi8>
  return %2, %3 : tensor<1x16x8x8xf32>, tensor<1x16x8x8xi8>
}

// -----

// Scales and minima that are codes stay codes, as in the super-blocks of GGUF. Their scales are elements.
// CHECK-LABEL: func.func @quantized_scales
// CHECK-SAME: (%[[X:.*]]: tensor<1x512xf32>, %[[C:.*]]: tensor<16x256xi8>, %[[S:.*]]: tensor<16x16xi8>, %[[D:.*]]: tensor<16x2xf16>, %[[M:.*]]: tensor<16x16xi8>, %[[E:.*]]: tensor<16x2xf16>)
// CHECK-NOT: inlay
// CHECK: plan.library_call quantized_product(%[[X]], %[[C]], %[[S]], %[[D]], %[[M]], %[[E]]) into %{{.*}} {config = {block = array<i64: 1, 32>, code = "u4", minima, offset_block = array<i64: 1, 8>, offset_code = "u8", offsets, scale_block = array<i64: 1, 8>, scale_code = "u8"}}
func.func @quantized_scales(%x: tensor<1x512xf32>, %c: tensor<16x256xi8>, %s: tensor<16x16xi8>, %d: tensor<16x2xf16>,
    %m: tensor<16x16xi8>, %e: tensor<16x2xf16>) -> tensor<1x16xf32> {
  %scales = inlay.dequantize %s, %d code "u8" block [1, 8] to f32
    : (tensor<16x16xi8>, tensor<16x2xf16>) -> tensor<16x16xf32>
  %minima = inlay.dequantize %m, %e code "u8" block [1, 8] to f32
    : (tensor<16x16xi8>, tensor<16x2xf16>) -> tensor<16x16xf32>
  %w = inlay.dequantize %c, %scales, %minima code "u4" block [1, 32] minima to f32
    : (tensor<16x256xi8>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x512xf32>
  %0 = inlay.linear %x, %w : (tensor<1x512xf32>, tensor<16x512xf32>) -> tensor<1x16xf32>
  return %0 : tensor<1x16xf32>
}

// Scales that are rounded to f16, or that have offsets, are computed before the call.
// CHECK-LABEL: func.func @quantized_scales_of_other_forms
// CHECK: %[[R:.*]] = inlay.dequantize
// CHECK: %[[O:.*]] = inlay.dequantize
// CHECK: plan.library_call quantized_product(%{{.*}}, %{{.*}}, %[[R]], %[[O]]) into %{{.*}} {config = {block = array<i64: 1, 32>, code = "u4", offsets}}
func.func @quantized_scales_of_other_forms(%x: tensor<1x512xf32>, %c: tensor<16x256xi8>, %s: tensor<16x16xi8>,
    %d: tensor<16x2xf16>, %z: tensor<16x2xi8>) -> tensor<1x16xf32> {
  %scales = inlay.dequantize %s, %d code "u8" block [1, 8] to f16
    : (tensor<16x16xi8>, tensor<16x2xf16>) -> tensor<16x16xf16>
  %offsets = inlay.dequantize %s, %d, %z code "u8" block [1, 8] to f32
    : (tensor<16x16xi8>, tensor<16x2xf16>, tensor<16x2xi8>) -> tensor<16x16xf32>
  %w = inlay.dequantize %c, %scales, %offsets code "u4" block [1, 32] to f32
    : (tensor<16x256xi8>, tensor<16x16xf16>, tensor<16x16xf32>) -> tensor<16x512xf32>
  %0 = inlay.linear %x, %w : (tensor<1x512xf32>, tensor<16x512xf32>) -> tensor<1x16xf32>
  return %0 : tensor<1x16xf32>
}

// A product of 16-bit floats with a packed weight is computed in f32, however few rows it has. The kernel rounds the
// weight to the type that it has in the graph.
// CHECK-LABEL: func.func @quantized_half
// CHECK-SAME: (%[[X:.*]]: tensor<1x64xf16>, %[[C:.*]]: tensor<16x32xi8>, %[[S:.*]]: tensor<16x2xf16>)
// CHECK: %[[W:.*]] = inlay.cast %[[X]]
// CHECK-NOT: inlay
// CHECK: %[[R:.*]] = plan.library_call quantized_product(%[[W]], %[[C]], %[[S]]) into %{{.*}} {config = {block = array<i64: 1, 32>, code = "u4", type = f16}}
// CHECK: inlay.cast %[[R]]
func.func @quantized_half(%x: tensor<1x64xf16>, %c: tensor<16x32xi8>, %s: tensor<16x2xf16>) -> tensor<1x16xf16> {
  %w = inlay.dequantize %c, %s code "u4" block [1, 32] to f32
    : (tensor<16x32xi8>, tensor<16x2xf16>) -> tensor<16x64xf32>
  %h = inlay.cast %w to f16 : (tensor<16x64xf32>) -> tensor<16x64xf16>
  %0 = inlay.linear %x, %h : (tensor<1x64xf16>, tensor<16x64xf16>) -> tensor<1x16xf16>
  return %0 : tensor<1x16xf16>
}

// A weight that is rounded to two types has no call with codes.
// CHECK-LABEL: func.func @quantized_twice_rounded
// CHECK: inlay.dequantize
// CHECK: plan.library_call contraction
func.func @quantized_twice_rounded(%x: tensor<8x64xf32>, %c: tensor<16x32xi8>, %s: tensor<16x2xf16>)
    -> tensor<8x16xf32> {
  %w = inlay.dequantize %c, %s code "u4" block [1, 32] to f16
    : (tensor<16x32xi8>, tensor<16x2xf16>) -> tensor<16x64xf16>
  %b = inlay.cast %w to bf16 : (tensor<16x64xf16>) -> tensor<16x64xbf16>
  %f = inlay.cast %b to f32 : (tensor<16x64xbf16>) -> tensor<16x64xf32>
  %0 = inlay.linear %x, %f : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
