// REQUIRES: vulkan
// DEFINE: %{n} =
// DEFINE: %{k} =
// DEFINE: %{run} = env INLAY_VULKAN_ASSUME_GPU=1 inlay-run %s --targets=vulkan,host --require-full-compilation \
// DEFINE:   --require-device --compare --input-shape=x7:1xk=1..3000 --input-shape=w7:n=1..70xk=1..3000 --size=n=%{n} \
// DEFINE:   --size=k=%{k} | FileCheck %s
// REDEFINE: %{n} = 37
// REDEFINE: %{k} = 2501
// RUN: %{run}
// REDEFINE: %{n} = 1
// REDEFINE: %{k} = 3
// RUN: %{run}
// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[4-9]|[1-9][0-9]))}} of the largest element

// Products with few rows on a GPU: sums in whole iterations, with a remainder, in vectors and in single elements; sums
// that several subgroups share, and one that is too long for a kernel; partial tiles; a bias before and a relu after the
// product; sizes known only at run time.

func.func public @forward(%x0: tensor<1x512xf32>, %w0: tensor<64x512xf32>, %x1: tensor<1x1000xf32>, %w1:
    tensor<37x1000xf32>, %b1: tensor<37xf32>, %x2: tensor<3x64xf32>, %w2: tensor<130x64xf32>, %b2: tensor<130xf32>,
    %x3: tensor<8x36xf32>, %w3: tensor<20x36xf32>, %x4: tensor<1x2x333xf32>, %w4: tensor<29x333xf32>, %b4:
    tensor<29xf32>, %x5: tensor<1x70000xf32>, %w5: tensor<2x70000xf32>, %b5: tensor<2xf32>, %x6: tensor<2x16xf32>,
    %w6: tensor<1x16xf32>, %x7: tensor<1x?xf32>, %w7: tensor<?x?xf32>, %x8: tensor<1x4096xf16>, %w8:
    tensor<5x4096xf16>, %b8: tensor<5xf16>, %x9: tensor<5x132xf16>, %w9: tensor<31x132xf16>, %x10: tensor<1x99xf16>,
    %w10: tensor<40x99xf16>, %b10: tensor<40xf16>) -> (tensor<1x64xf32>, tensor<1x37xf32>, tensor<3x130xf32>,
    tensor<8x20xf32>, tensor<1x2x29xf32>, tensor<1x2xf32>, tensor<2x1xf32>, tensor<1x?xf32>, tensor<1x5xf16>,
    tensor<5x31xf16>, tensor<1x40xf16>) {
  %0 = inlay.linear %x0, %w0 : (tensor<1x512xf32>, tensor<64x512xf32>) -> tensor<1x64xf32>
  %1 = inlay.linear %x1, %w1, %b1 : (tensor<1x1000xf32>, tensor<37x1000xf32>, tensor<37xf32>) -> tensor<1x37xf32>
  %2 = inlay.linear %x2, %w2, %b2 : (tensor<3x64xf32>, tensor<130x64xf32>, tensor<130xf32>) -> tensor<3x130xf32>
  %r2 = inlay.relu %2 : (tensor<3x130xf32>) -> tensor<3x130xf32>
  %3 = inlay.linear %x3, %w3 : (tensor<8x36xf32>, tensor<20x36xf32>) -> tensor<8x20xf32>
  %r3 = inlay.relu %3 : (tensor<8x20xf32>) -> tensor<8x20xf32>
  %4 = inlay.linear %x4, %w4, %b4 : (tensor<1x2x333xf32>, tensor<29x333xf32>, tensor<29xf32>) -> tensor<1x2x29xf32>
  %r4 = inlay.relu %4 : (tensor<1x2x29xf32>) -> tensor<1x2x29xf32>
  %5 = inlay.linear %x5, %w5, %b5 : (tensor<1x70000xf32>, tensor<2x70000xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %6 = inlay.linear %x6, %w6 : (tensor<2x16xf32>, tensor<1x16xf32>) -> tensor<2x1xf32>
  %7 = inlay.linear %x7, %w7 : (tensor<1x?xf32>, tensor<?x?xf32>) -> tensor<1x?xf32>
  %8 = inlay.linear %x8, %w8, %b8 : (tensor<1x4096xf16>, tensor<5x4096xf16>, tensor<5xf16>) -> tensor<1x5xf16>
  %r8 = inlay.relu %8 : (tensor<1x5xf16>) -> tensor<1x5xf16>
  %9 = inlay.linear %x9, %w9 : (tensor<5x132xf16>, tensor<31x132xf16>) -> tensor<5x31xf16>
  %10 = inlay.linear %x10, %w10, %b10 : (tensor<1x99xf16>, tensor<40x99xf16>, tensor<40xf16>) -> tensor<1x40xf16>
  return %0, %1, %r2, %r3, %r4, %5, %6, %7, %r8, %9, %10 : tensor<1x64xf32>, tensor<1x37xf32>, tensor<3x130xf32>,
      tensor<8x20xf32>, tensor<1x2x29xf32>, tensor<1x2xf32>, tensor<2x1xf32>, tensor<1x?xf32>, tensor<1x5xf16>,
      tensor<5x31xf16>, tensor<1x40xf16>
}
