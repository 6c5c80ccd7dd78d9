// REQUIRES: vulkan
// RUN: inlay-run %s --targets=vulkan --require-full-compilation --require-device --compare | FileCheck %s
// RUN: %if swiftshader %{ env VK_DRIVER_FILES=%swiftshader inlay-run %s --targets=vulkan --require-full-compilation --require-device --compare | FileCheck %s %}

// Kernels for a device without any feature keep elements in words.
// RUN: sed "s/^module/module attributes {inlay.targets = [#inlay.vulkan<kind = \"software\">]}/" %s > %t.mlir
// RUN: inlay-run %t.mlir --require-full-compilation --require-device --compare | FileCheck %s

// CHECK: largest difference to the host alone: {{.*, (0\.0e\+00|[0-9.]+e-(0[3-9]|[1-9][0-9]))}} of the largest element

// All narrow element types, with numbers of elements that do not fill words.

module {
  func.func public @forward(%x0: tensor<3x67xbf16>, %y0: tensor<67xbf16>, %w0: tensor<5x67xbf16>, %x1: tensor<3x67xf16>,
      %y1: tensor<67xf16>, %w1: tensor<5x67xf16>, %x2: tensor<3x67xi8>, %y2: tensor<67xi8>, %w2: tensor<5x67xi8>, %x3:
      tensor<3x67xi16>, %y3: tensor<67xi16>, %w3: tensor<5x67xi16>, %x4: tensor<3x67xi1>, %y4: tensor<67xi1>, %w4:
      tensor<5x67xi1>) -> (tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>,
      tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<67xbf16>, tensor<3xbf16>,
      tensor<3x5xbf16>, tensor<3x67xbf16>, tensor<3xbf16>, tensor<67x3xbf16>, tensor<8x67xbf16>, tensor<3x22xbf16>,
      tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>,
      tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>,
      tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<67xf16>, tensor<3xf16>,
      tensor<3x5xf16>, tensor<3x67xf16>, tensor<3xf16>, tensor<67x3xf16>, tensor<8x67xf16>, tensor<3x22xf16>,
      tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>,
      tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xi8>, tensor<3x67xi8>, tensor<3x67xi8>, tensor<3x67xi8>,
      tensor<3x67xi8>, tensor<3x67xi8>, tensor<3x67xi8>, tensor<3x67xi8>, tensor<67xi8>, tensor<3xi8>, tensor<3x5xi8>,
      tensor<3x67xi8>, tensor<3xi8>, tensor<67x3xi8>, tensor<8x67xi8>, tensor<3x22xi8>, tensor<3x67xi16>,
      tensor<3x67xi16>, tensor<3x67xi16>, tensor<3x67xi16>, tensor<3x67xi16>, tensor<3x67xi16>, tensor<3x67xi16>,
      tensor<3x67xi16>, tensor<67xi16>, tensor<3xi16>, tensor<3x5xi16>, tensor<3x67xi16>, tensor<3xi16>,
      tensor<67x3xi16>, tensor<8x67xi16>, tensor<3x22xi16>, tensor<3xi1>, tensor<67x3xi1>, tensor<8x67xi1>,
      tensor<3x22xi1>) {
    %0 = inlay.add %x0, %y0 : (tensor<3x67xbf16>, tensor<67xbf16>) -> tensor<3x67xbf16>
    %1 = inlay.sub %x0, %y0 : (tensor<3x67xbf16>, tensor<67xbf16>) -> tensor<3x67xbf16>
    %2 = inlay.mul %x0, %y0 : (tensor<3x67xbf16>, tensor<67xbf16>) -> tensor<3x67xbf16>
    %3 = inlay.maximum %x0, %y0 : (tensor<3x67xbf16>, tensor<67xbf16>) -> tensor<3x67xbf16>
    %4 = inlay.minimum %x0, %y0 : (tensor<3x67xbf16>, tensor<67xbf16>) -> tensor<3x67xbf16>
    %5 = inlay.abs %x0 : (tensor<3x67xbf16>) -> tensor<3x67xbf16>
    %6 = inlay.neg %x0 : (tensor<3x67xbf16>) -> tensor<3x67xbf16>
    %7 = inlay.relu %x0 : (tensor<3x67xbf16>) -> tensor<3x67xbf16>
    %8 = inlay.sum %x0 dims [0] : (tensor<3x67xbf16>) -> tensor<67xbf16>
    %9 = inlay.sum %x0 dims [1] : (tensor<3x67xbf16>) -> tensor<3xbf16>
    %10 = inlay.linear %x0, %w0 : (tensor<3x67xbf16>, tensor<5x67xbf16>) -> tensor<3x5xbf16>
    %11 = inlay.cumsum %x0 dim 1 : (tensor<3x67xbf16>) -> tensor<3x67xbf16>
    %12 = inlay.amax %x0 dims [1] : (tensor<3x67xbf16>) -> tensor<3xbf16>
    %13 = inlay.permute %x0 dims [1, 0] : (tensor<3x67xbf16>) -> tensor<67x3xbf16>
    %14 = inlay.cat %x0, %w0 dim 0 : (tensor<3x67xbf16>, tensor<5x67xbf16>) -> tensor<8x67xbf16>
    %15 = inlay.slice %x0 dim 1 start 1 end 66 step 3 : (tensor<3x67xbf16>) -> tensor<3x22xbf16>
    %16 = inlay.exp %x0 : (tensor<3x67xbf16>) -> tensor<3x67xbf16>
    %17 = inlay.gelu %x0 : (tensor<3x67xbf16>) -> tensor<3x67xbf16>
    %18 = inlay.sigmoid %x0 : (tensor<3x67xbf16>) -> tensor<3x67xbf16>
    %19 = inlay.tanh %x0 : (tensor<3x67xbf16>) -> tensor<3x67xbf16>
    %20 = inlay.sqrt %x0 : (tensor<3x67xbf16>) -> tensor<3x67xbf16>
    %21 = inlay.reciprocal %x0 : (tensor<3x67xbf16>) -> tensor<3x67xbf16>
    %22 = inlay.softmax %x0 dim 1 : (tensor<3x67xbf16>) -> tensor<3x67xbf16>
    %23 = inlay.layer_norm %x0, %y0, %y0 eps 1.0e-05 : (tensor<3x67xbf16>, tensor<67xbf16>, tensor<67xbf16>) ->
        tensor<3x67xbf16>
    %24 = inlay.add %x1, %y1 : (tensor<3x67xf16>, tensor<67xf16>) -> tensor<3x67xf16>
    %25 = inlay.sub %x1, %y1 : (tensor<3x67xf16>, tensor<67xf16>) -> tensor<3x67xf16>
    %26 = inlay.mul %x1, %y1 : (tensor<3x67xf16>, tensor<67xf16>) -> tensor<3x67xf16>
    %27 = inlay.maximum %x1, %y1 : (tensor<3x67xf16>, tensor<67xf16>) -> tensor<3x67xf16>
    %28 = inlay.minimum %x1, %y1 : (tensor<3x67xf16>, tensor<67xf16>) -> tensor<3x67xf16>
    %29 = inlay.abs %x1 : (tensor<3x67xf16>) -> tensor<3x67xf16>
    %30 = inlay.neg %x1 : (tensor<3x67xf16>) -> tensor<3x67xf16>
    %31 = inlay.relu %x1 : (tensor<3x67xf16>) -> tensor<3x67xf16>
    %32 = inlay.sum %x1 dims [0] : (tensor<3x67xf16>) -> tensor<67xf16>
    %33 = inlay.sum %x1 dims [1] : (tensor<3x67xf16>) -> tensor<3xf16>
    %34 = inlay.linear %x1, %w1 : (tensor<3x67xf16>, tensor<5x67xf16>) -> tensor<3x5xf16>
    %35 = inlay.cumsum %x1 dim 1 : (tensor<3x67xf16>) -> tensor<3x67xf16>
    %36 = inlay.amax %x1 dims [1] : (tensor<3x67xf16>) -> tensor<3xf16>
    %37 = inlay.permute %x1 dims [1, 0] : (tensor<3x67xf16>) -> tensor<67x3xf16>
    %38 = inlay.cat %x1, %w1 dim 0 : (tensor<3x67xf16>, tensor<5x67xf16>) -> tensor<8x67xf16>
    %39 = inlay.slice %x1 dim 1 start 1 end 66 step 3 : (tensor<3x67xf16>) -> tensor<3x22xf16>
    %40 = inlay.exp %x1 : (tensor<3x67xf16>) -> tensor<3x67xf16>
    %41 = inlay.gelu %x1 : (tensor<3x67xf16>) -> tensor<3x67xf16>
    %42 = inlay.sigmoid %x1 : (tensor<3x67xf16>) -> tensor<3x67xf16>
    %43 = inlay.tanh %x1 : (tensor<3x67xf16>) -> tensor<3x67xf16>
    %44 = inlay.sqrt %x1 : (tensor<3x67xf16>) -> tensor<3x67xf16>
    %45 = inlay.reciprocal %x1 : (tensor<3x67xf16>) -> tensor<3x67xf16>
    %46 = inlay.softmax %x1 dim 1 : (tensor<3x67xf16>) -> tensor<3x67xf16>
    %47 = inlay.layer_norm %x1, %y1, %y1 eps 1.0e-05 : (tensor<3x67xf16>, tensor<67xf16>, tensor<67xf16>) ->
        tensor<3x67xf16>
    %48 = inlay.add %x2, %y2 : (tensor<3x67xi8>, tensor<67xi8>) -> tensor<3x67xi8>
    %49 = inlay.sub %x2, %y2 : (tensor<3x67xi8>, tensor<67xi8>) -> tensor<3x67xi8>
    %50 = inlay.mul %x2, %y2 : (tensor<3x67xi8>, tensor<67xi8>) -> tensor<3x67xi8>
    %51 = inlay.maximum %x2, %y2 : (tensor<3x67xi8>, tensor<67xi8>) -> tensor<3x67xi8>
    %52 = inlay.minimum %x2, %y2 : (tensor<3x67xi8>, tensor<67xi8>) -> tensor<3x67xi8>
    %53 = inlay.abs %x2 : (tensor<3x67xi8>) -> tensor<3x67xi8>
    %54 = inlay.neg %x2 : (tensor<3x67xi8>) -> tensor<3x67xi8>
    %55 = inlay.relu %x2 : (tensor<3x67xi8>) -> tensor<3x67xi8>
    %56 = inlay.sum %x2 dims [0] : (tensor<3x67xi8>) -> tensor<67xi8>
    %57 = inlay.sum %x2 dims [1] : (tensor<3x67xi8>) -> tensor<3xi8>
    %58 = inlay.linear %x2, %w2 : (tensor<3x67xi8>, tensor<5x67xi8>) -> tensor<3x5xi8>
    %59 = inlay.cumsum %x2 dim 1 : (tensor<3x67xi8>) -> tensor<3x67xi8>
    %60 = inlay.amax %x2 dims [1] : (tensor<3x67xi8>) -> tensor<3xi8>
    %61 = inlay.permute %x2 dims [1, 0] : (tensor<3x67xi8>) -> tensor<67x3xi8>
    %62 = inlay.cat %x2, %w2 dim 0 : (tensor<3x67xi8>, tensor<5x67xi8>) -> tensor<8x67xi8>
    %63 = inlay.slice %x2 dim 1 start 1 end 66 step 3 : (tensor<3x67xi8>) -> tensor<3x22xi8>
    %64 = inlay.add %x3, %y3 : (tensor<3x67xi16>, tensor<67xi16>) -> tensor<3x67xi16>
    %65 = inlay.sub %x3, %y3 : (tensor<3x67xi16>, tensor<67xi16>) -> tensor<3x67xi16>
    %66 = inlay.mul %x3, %y3 : (tensor<3x67xi16>, tensor<67xi16>) -> tensor<3x67xi16>
    %67 = inlay.maximum %x3, %y3 : (tensor<3x67xi16>, tensor<67xi16>) -> tensor<3x67xi16>
    %68 = inlay.minimum %x3, %y3 : (tensor<3x67xi16>, tensor<67xi16>) -> tensor<3x67xi16>
    %69 = inlay.abs %x3 : (tensor<3x67xi16>) -> tensor<3x67xi16>
    %70 = inlay.neg %x3 : (tensor<3x67xi16>) -> tensor<3x67xi16>
    %71 = inlay.relu %x3 : (tensor<3x67xi16>) -> tensor<3x67xi16>
    %72 = inlay.sum %x3 dims [0] : (tensor<3x67xi16>) -> tensor<67xi16>
    %73 = inlay.sum %x3 dims [1] : (tensor<3x67xi16>) -> tensor<3xi16>
    %74 = inlay.linear %x3, %w3 : (tensor<3x67xi16>, tensor<5x67xi16>) -> tensor<3x5xi16>
    %75 = inlay.cumsum %x3 dim 1 : (tensor<3x67xi16>) -> tensor<3x67xi16>
    %76 = inlay.amax %x3 dims [1] : (tensor<3x67xi16>) -> tensor<3xi16>
    %77 = inlay.permute %x3 dims [1, 0] : (tensor<3x67xi16>) -> tensor<67x3xi16>
    %78 = inlay.cat %x3, %w3 dim 0 : (tensor<3x67xi16>, tensor<5x67xi16>) -> tensor<8x67xi16>
    %79 = inlay.slice %x3 dim 1 start 1 end 66 step 3 : (tensor<3x67xi16>) -> tensor<3x22xi16>
    %80 = inlay.amax %x4 dims [1] : (tensor<3x67xi1>) -> tensor<3xi1>
    %81 = inlay.permute %x4 dims [1, 0] : (tensor<3x67xi1>) -> tensor<67x3xi1>
    %82 = inlay.cat %x4, %w4 dim 0 : (tensor<3x67xi1>, tensor<5x67xi1>) -> tensor<8x67xi1>
    %83 = inlay.slice %x4 dim 1 start 1 end 66 step 3 : (tensor<3x67xi1>) -> tensor<3x22xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23,
        %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45,
        %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67,
        %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83 : tensor<3x67xbf16>,
        tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>,
        tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<67xbf16>, tensor<3xbf16>, tensor<3x5xbf16>, tensor<3x67xbf16>,
        tensor<3xbf16>, tensor<67x3xbf16>, tensor<8x67xbf16>, tensor<3x22xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>,
        tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>, tensor<3x67xbf16>,
        tensor<3x67xbf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>,
        tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<67xf16>, tensor<3xf16>, tensor<3x5xf16>,
        tensor<3x67xf16>, tensor<3xf16>, tensor<67x3xf16>, tensor<8x67xf16>, tensor<3x22xf16>, tensor<3x67xf16>,
        tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>, tensor<3x67xf16>,
        tensor<3x67xf16>, tensor<3x67xi8>, tensor<3x67xi8>, tensor<3x67xi8>, tensor<3x67xi8>, tensor<3x67xi8>,
        tensor<3x67xi8>, tensor<3x67xi8>, tensor<3x67xi8>, tensor<67xi8>, tensor<3xi8>, tensor<3x5xi8>, tensor<3x67xi8>,
        tensor<3xi8>, tensor<67x3xi8>, tensor<8x67xi8>, tensor<3x22xi8>, tensor<3x67xi16>, tensor<3x67xi16>,
        tensor<3x67xi16>, tensor<3x67xi16>, tensor<3x67xi16>, tensor<3x67xi16>, tensor<3x67xi16>, tensor<3x67xi16>,
        tensor<67xi16>, tensor<3xi16>, tensor<3x5xi16>, tensor<3x67xi16>, tensor<3xi16>, tensor<67x3xi16>,
        tensor<8x67xi16>, tensor<3x22xi16>, tensor<3xi1>, tensor<67x3xi1>, tensor<8x67xi1>, tensor<3x22xi1>
  }
}
