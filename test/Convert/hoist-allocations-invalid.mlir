// RUN: inlay-opt %s --inlay-convert-hoist-allocations --verify-diagnostics

func.func @dynamic(%n: index) {
  // expected-error @+1 {{unsupported-shape: expected scratch memory whose size follows from the sizes of inputs, but got 'memref<?xf32>'}}
  %0 = memref.alloc(%n) : memref<?xf32>
  return
}
