// RUN: inlay-opt %s -split-input-file -verify-diagnostics

func.func @attention_of_vectors(%q: tensor<8xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x3xf32>) {
  // expected-error @+2 {{'inlay.scaled_dot_product_attention' op expected query, key and value of one float type and rank 2 or more, but got 'tensor<8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 1.0 : (tensor<8xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x3xf32>)
    -> tensor<8xf32>
  return
}

// -----

func.func @attention_of_integers(%q: tensor<2x8xi32>, %k: tensor<2x8xi32>, %v: tensor<2x8xi32>) {
  // expected-error @+2 {{expected query, key and value of one float type}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 1.0 : (tensor<2x8xi32>, tensor<2x8xi32>, tensor<2x8xi32>)
    -> tensor<2x8xi32>
  return
}

// -----

func.func @attention_widths(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x3xf32>) {
  // expected-error @+2 {{expected query and key to have equal last dims, but got 'tensor<2x4x8x16xf32>' and 'tensor<2x4x6x8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 1.0 : (tensor<2x4x8x16xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x3xf32>)
    -> tensor<2x4x8x3xf32>
  return
}

// -----

func.func @attention_lengths(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x7x3xf32>) {
  // expected-error @+2 {{expected as many keys as values, but got 'tensor<2x4x6x16xf32>' and 'tensor<2x4x7x3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 1.0 : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x7x3xf32>)
    -> tensor<2x4x8x3xf32>
  return
}

// -----

func.func @attention_scale(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x3xf32>) {
  // expected-error @+2 {{expected a finite scale, but got}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 0x7FF0000000000000 : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x3xf32>)
    -> tensor<2x4x8x3xf32>
  return
}

// -----

func.func @attention_causal_and_masked(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x3xf32>, %m: tensor<8x6xf32>) {
  // expected-error @+2 {{expected is_causal or a mask, but got both}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scaled_dot_product_attention %q, %k, %v, %m scale 1.0 is_causal : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x3xf32>, tensor<8x6xf32>)
    -> tensor<2x4x8x3xf32>
  return
}

// -----

func.func @attention_heads(%q: tensor<2x4x8x16xf32>, %k: tensor<2x3x6x16xf32>, %v: tensor<2x3x6x3xf32>) {
  // expected-error @+2 {{expected the heads of query (4) to be a multiple of those of key and value (3)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 1.0 enable_gqa : (tensor<2x4x8x16xf32>, tensor<2x3x6x16xf32>, tensor<2x3x6x3xf32>)
    -> tensor<2x4x8x3xf32>
  return
}

// -----

func.func @attention_without_heads(%q: tensor<8x16xf32>, %k: tensor<6x16xf32>, %v: tensor<6x3xf32>) {
  // expected-error @+2 {{expected operands of rank 3 or more with enable_gqa, but got 'tensor<8x16xf32>' and dims [6, 16]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 1.0 enable_gqa : (tensor<8x16xf32>, tensor<6x16xf32>, tensor<6x3xf32>)
    -> tensor<8x3xf32>
  return
}

// -----

func.func @attention_batches(%q: tensor<2x4x8x16xf32>, %k: tensor<3x4x6x16xf32>, %v: tensor<2x4x6x3xf32>) {
  // expected-error @+2 {{expected leading dims that broadcast, but got}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scaled_dot_product_attention %q, %k, %v scale 1.0 : (tensor<2x4x8x16xf32>, tensor<3x4x6x16xf32>, tensor<2x4x6x3xf32>)
    -> tensor<2x4x8x3xf32>
  return
}

// -----

func.func @attention_mask_type(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x3xf32>, %m: tensor<8x6xf64>) {
  // expected-error @+2 {{expected a mask of i1 or 'f32', but got 'tensor<8x6xf64>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scaled_dot_product_attention %q, %k, %v, %m scale 1.0 : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x3xf32>, tensor<8x6xf64>)
    -> tensor<2x4x8x3xf32>
  return
}

// -----

func.func @attention_mask_dims(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x3xf32>, %m: tensor<8x5xf32>) {
  // expected-error @+2 {{expected a mask that broadcasts to dims [2, 4, 8, 6], but got 'tensor<8x5xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.scaled_dot_product_attention %q, %k, %v, %m scale 1.0 : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x3xf32>, tensor<8x5xf32>)
    -> tensor<2x4x8x3xf32>
  return
}

// -----

func.func @group_norm_integers(%x: tensor<2x6xi32>, %w: tensor<6xi32>) {
  // expected-error @+2 {{'inlay.group_norm' op expected an input of floats of rank 2 or more, but got 'tensor<2x6xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.group_norm %x, %w, %w groups 3 eps 1.0e-5 : (tensor<2x6xi32>, tensor<6xi32>, tensor<6xi32>)
    -> tensor<2x6xi32>
  return
}

// -----

func.func @group_norm_groups(%x: tensor<2x6xf32>, %w: tensor<6xf32>) {
  // expected-error @+2 {{expected groups to divide the channels (6), but got 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.group_norm %x, %w, %w groups 4 eps 1.0e-5 : (tensor<2x6xf32>, tensor<6xf32>, tensor<6xf32>)
    -> tensor<2x6xf32>
  return
}

// -----

func.func @group_norm_no_groups(%x: tensor<2x6xf32>, %w: tensor<6xf32>) {
  // expected-error @+2 {{expected groups to divide the channels (6), but got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.group_norm %x, %w, %w groups 0 eps 1.0e-5 : (tensor<2x6xf32>, tensor<6xf32>, tensor<6xf32>)
    -> tensor<2x6xf32>
  return
}

// -----

func.func @group_norm_bias(%x: tensor<2x6xf32>, %w: tensor<6xf32>, %b: tensor<3xf32>) {
  // expected-error @+2 {{expected bias to be a vector of 6 x 'f32', but got 'tensor<3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.group_norm %x, %w, %b groups 3 eps 1.0e-5 : (tensor<2x6xf32>, tensor<6xf32>, tensor<3xf32>)
    -> tensor<2x6xf32>
  return
}

// -----

func.func @rms_norm_integers(%x: tensor<2x6xi32>, %w: tensor<6xi32>) {
  // expected-error @+2 {{'inlay.rms_norm' op expected an input of floats, but got 'tensor<2x6xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.rms_norm %x, %w eps 1.0e-5 : (tensor<2x6xi32>, tensor<6xi32>) -> tensor<2x6xi32>
  return
}

// -----

func.func @rms_norm_dims(%x: tensor<2x6xf32>, %w: tensor<5xf32>) {
  // expected-error @+2 {{expected weight to have the trailing dims of 'tensor<2x6xf32>', but got 'tensor<5xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = inlay.rms_norm %x, %w eps 1.0e-5 : (tensor<2x6xf32>, tensor<5xf32>) -> tensor<2x6xf32>
  return
}
