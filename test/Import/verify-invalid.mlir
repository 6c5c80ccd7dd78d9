// RUN: inlay-opt %s --inlay-import-verify --split-input-file --verify-diagnostics

func.func @missing() -> tensor<2xf32> {
  // expected-error @+1 {{expected bytes for weight 'w', but none were given}}
  %w = inlay.constant dense_resource<w> : tensor<2xf32>
  return %w : tensor<2xf32>
}

// -----

func.func @short() -> tensor<2xf32> {
  // expected-error @+1 {{expected 8 bytes for weight 'w', but got 4}}
  %w = inlay.constant dense_resource<w> : tensor<2xf32>
  return %w : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F"
    }
  }
#-}
