// RUN: inlay-opt %s --inlay-convert-graph-to-linalg --split-input-file | FileCheck %s

// Any index reads an element of the table.
// CHECK-LABEL: func.func @embedding(
// CHECK-SAME:    %[[TABLE:.*]]: tensor<9x4xf32>, %[[INDICES:.*]]: tensor<3xi64>)
func.func @embedding(%w: tensor<9x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  // CHECK:      linalg.generic {{.*}} ins(%[[INDICES]] : tensor<3xi64>)
  // CHECK-NEXT: ^bb0(%[[RAW:.*]]: i64, %{{.*}}: f32):
  // CHECK:        %[[LAST:.*]] = arith.constant 8 : i64
  // CHECK-NEXT:   %[[LOW:.*]] = arith.minsi %[[RAW]], %[[LAST]]
  // CHECK:        %[[IN:.*]] = arith.maxsi %[[LOW]], %{{.*}}
  // CHECK-NEXT:   %[[ROW:.*]] = arith.index_cast %[[IN]] : i64 to index
  // CHECK-NEXT:   tensor.extract %[[TABLE]][%[[ROW]], %{{.*}}]
  %0 = inlay.embedding %w, %i : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// Negative indices count from the end. Narrow indices are widened first.
// CHECK-LABEL: func.func @index(
func.func @index(%x: tensor<300x2xf32>, %i: tensor<3xi8>) -> tensor<3x2xf32> {
  // CHECK: %[[WIDE:.*]] = arith.extsi %{{.*}} : i8 to i32
  // CHECK: %[[NEGATIVE:.*]] = arith.cmpi slt, %[[WIDE]]
  // CHECK: %[[FROM_END:.*]] = arith.addi %[[WIDE]]
  // CHECK: arith.select %[[NEGATIVE]], %[[FROM_END]], %[[WIDE]]
  %0 = inlay.index %x, %i dims [0] : (tensor<300x2xf32>, tensor<3xi8>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// Each element of the result searches for the values that are written to it.
// CHECK-LABEL: func.func @scatter(
// CHECK-SAME:    %[[INPUT:.*]]: tensor<4xf32>, %[[INDEX:.*]]: tensor<3xi64>, %[[SOURCE:.*]]: tensor<3xf32>)
func.func @scatter(%x: tensor<4xf32>, %i: tensor<3xi64>, %s: tensor<3xf32>) -> tensor<4xf32> {
  // CHECK:      linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[INDEX]], %[[SOURCE]] : {{.*}}) outs(%[[INPUT]] :
  // CHECK-NEXT: ^bb0(%[[RAW:.*]]: i64, %[[NEXT:.*]]: f32, %[[NOW:.*]]: f32):
  // CHECK-NEXT:   %[[PLACE:.*]] = linalg.index 0
  // CHECK-NEXT:   %[[NUMBER:.*]] = arith.index_cast %[[PLACE]] : index to i64
  // CHECK-NEXT:   %[[HIT:.*]] = arith.cmpi eq, %[[RAW]], %[[NUMBER]]
  // CHECK-NEXT:   arith.select %[[HIT]], %[[NEXT]], %[[NOW]]
  %0 = inlay.scatter %x, %i, %s dim 0 : (tensor<4xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The loops over the places of dynamic dims have the size of the indices.
// CHECK-LABEL: func.func @put_dynamic(
// CHECK-SAME:    %[[INPUT:.*]]: tensor<?x4xf32> {{.*}}, %[[VALUES:.*]]: tensor<?x?xf32> {{.*}}, %[[INDEX:.*]]: tensor<?xi64>
// CHECK:      %[[LAST:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[INDEX]], %{{.*}} : tensor<?xi64>, tensor<?xi32>) outs(%{{.*}} : tensor<4xi32>)
// CHECK:      linalg.generic {{.*}} ins(%[[INPUT]], %[[LAST]] : tensor<?x4xf32>, tensor<4xi32>) outs(%{{.*}} : tensor<?x4xf32>)
// CHECK:        tensor.extract %[[VALUES]]
func.func @put_dynamic(%x: tensor<?x4xf32> {inlay.dims = affine_map<()[b, n] -> (b, 4)>},
                       %v: tensor<?x?xf32> {inlay.dims = affine_map<()[b, n] -> (b, n)>},
                       %i: tensor<?xi64> {inlay.dims = affine_map<()[b, n] -> (n)>}) -> tensor<?x4xf32>
    attributes {inlay.symbols = [#inlay.symbol<"b", 1 to 8>, #inlay.symbol<"n", 1 to 4>]} {
  %0 = inlay.index_put %x, %v, %i dims [1] {inlay.dims = [affine_map<()[b, n] -> (b, 4)>]}
    : (tensor<?x4xf32>, tensor<?x?xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// A product, a mask by position, and a softmax whose rows are divided last.
// CHECK-LABEL: func.func @causal(
func.func @causal(%q: tensor<2x3x4xf16>, %k: tensor<2x5x4xf16>) -> tensor<2x3x4xf16> {
  // CHECK: linalg.fill {{.*}} -> tensor<2x3x5xf32>
  // CHECK: arith.cmpi ule
  // CHECK: arith.maximumf
  // CHECK: math.exp
  // CHECK: arith.divf
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %0 = inlay.scaled_dot_product_attention %q, %k, %k scale 0.5 is_causal
    : (tensor<2x3x4xf16>, tensor<2x5x4xf16>, tensor<2x5x4xf16>) -> tensor<2x3x4xf16>
  return %0 : tensor<2x3x4xf16>
}

// -----

// The scores of 2,500 queries would take 80 MB, so the queries are computed in two parts.
// CHECK-LABEL: func.func @long(
// CHECK-SAME:    %[[Q:.*]]: tensor<2500x4xf32>, %[[K:.*]]: tensor<8000x4xf32>, %[[M:.*]]: tensor<2500x8000xf32>)
func.func @long(%q: tensor<2500x4xf32>, %k: tensor<8000x4xf32>, %m: tensor<2500x8000xf32>) -> tensor<2500x4xf32> {
  // CHECK: tensor.extract_slice %[[Q]][0, 0] [1250, 4] [1, 1]
  // CHECK: tensor.extract_slice %[[M]][0, 0] [1250, 8000] [1, 1]
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1250x8000xf32>)
  // CHECK: %[[FIRST:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [1250, 4] [1, 1]
  // CHECK: tensor.extract_slice %[[Q]][1250, 0] [1250, 4] [1, 1]
  // CHECK: tensor.extract_slice %[[M]][1250, 0] [1250, 8000] [1, 1]
  // CHECK: %[[ALL:.*]] = tensor.insert_slice %{{.*}} into %[[FIRST]][1250, 0] [1250, 4] [1, 1]
  // CHECK: return %[[ALL]]
  %0 = inlay.scaled_dot_product_attention %q, %k, %k, %m scale 0.5
    : (tensor<2500x4xf32>, tensor<8000x4xf32>, tensor<8000x4xf32>, tensor<2500x8000xf32>) -> tensor<2500x4xf32>
  return %0 : tensor<2500x4xf32>
}
