// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes graphs of single layers in the shapes of real models.

#include "Cases.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace inlay::bench;

using Dims = std::vector<int64_t>;

static std::string makeType(const Dims &dims, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t dim : dims)
    text += std::to_string(dim) + "x";
  return text + element + ">";
}

static size_t countBytes(const Dims &dims, const std::string &element) {
  size_t bytes = element == "i8" ? 1 : element == "f16" ? 2 : 4;
  for (int64_t dim : dims)
    bytes *= static_cast<size_t>(dim);
  return bytes;
}

namespace {
/// A layer with one result. Its op names the inputs and then the weights %0, %1, ..., and writes `$in` for their types
/// and `$out` for the type of the result.
struct Layer {
  std::string name, op;
  std::vector<Dims> inputs, weights;
  Dims result;
};
} // namespace

static void replaceAll(std::string &text, const std::string &key, const std::string &value) {
  for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + value.size()))
    text.replace(at, key.size(), value);
}

static Case makeCase(const Layer &layer, const std::string &element) {
  Case made{layer.name + "-" + element, "", {}};
  std::vector<std::string> types, arguments;
  std::string constants;
  for (const Dims &dims : layer.inputs) {
    types.push_back(makeType(dims, element));
    arguments.push_back("%" + std::to_string(types.size() - 1) + ": " + types.back());
  }
  for (const Dims &dims : layer.weights) {
    types.push_back(makeType(dims, element));
    std::string key = "w" + std::to_string(types.size() - 1);
    made.constants.push_back({key, countBytes(dims, element)});
    constants +=
        llvm::formatv("  %{0} = inlay.constant dense_resource<{1}> : {2}\n", types.size() - 1, key, types.back());
  }
  std::string op = layer.op, result = makeType(layer.result, element);
  replaceAll(op, "$in", llvm::join(types, ", "));
  replaceAll(op, "$out", result);
  made.text = llvm::formatv("func.func public @forward({0}) -> {1} {{\n{2}  %r = {3}\n  return %r : {1}\n}\n",
                            llvm::join(arguments, ", "), result, constants, op);
  return made;
}

/// Returns a linear layer with one row and packed weights of `bits` bits in blocks of 32.
static Case makePackedLinear(int64_t size, int64_t bits) {
  const Dims codes{size, size * bits / 8}, scales{size, size / 32}, row{1, size};
  Case made{llvm::formatv("linear-1x{0}x{0}-i{1}", size, bits),
            "",
            {{"codes", countBytes(codes, "i8")}, {"scales", countBytes(scales, "f16")}}};
  made.text = llvm::formatv(R"(func.func public @forward(%0: {0}) -> {0} {{
  %1 = inlay.constant dense_resource<codes> : {1}
  %2 = inlay.constant dense_resource<scales> : {2}
  %3 = inlay.dequantize %1, %2 code "i{3}" block [1, 32] to f32 : ({1}, {2}) -> {4}
  %r = inlay.linear %0, %3 : ({0}, {4}) -> {0}
  return %r : {0}
}
)",
                            makeType(row, "f32"), makeType(codes, "i8"), makeType(scales, "f16"), bits,
                            makeType({size, size}, "f32"));
  return made;
}

/// Returns a residual block of two 3x3 convolutions, and a 1x1 convolution before it, whose kernel changes the layout.
static Case makeResidualBlock(int64_t channels, int64_t size, const std::string &element) {
  const Dims image{1, channels, size, size}, square{channels, channels, 3, 3}, point{channels, channels, 1, 1},
      line{channels};
  Case made{llvm::formatv("residual-block-{0}-{1}-{2}", channels, size, element),
            "",
            {{"square", countBytes(square, element)},
             {"point", countBytes(point, element)},
             {"bias", countBytes(line, element)}}};
  made.text = llvm::formatv(R"(func.func public @forward(%0: {0}) -> {0} {{
  %w = inlay.constant dense_resource<square> : {1}
  %p = inlay.constant dense_resource<point> : {2}
  %b = inlay.constant dense_resource<bias> : {3}
  %1 = inlay.conv %0, %p, %b stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : ({0}, {2}, {3}) -> {0}
  %2 = inlay.conv %1, %w, %b stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : ({0}, {1}, {3}) -> {0}
  %3 = inlay.relu %2 : ({0}) -> {0}
  %4 = inlay.conv %3, %w, %b stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : ({0}, {1}, {3}) -> {0}
  %5 = inlay.add %4, %1 : ({0}, {0}) -> {0}
  %6 = inlay.relu %5 : ({0}) -> {0}
  return %6 : {0}
}
)",
                            makeType(image, element), makeType(square, element), makeType(point, element),
                            makeType(line, element));
  return made;
}

std::vector<Case> inlay::bench::makeCases() {
  const Dims heads{1, 12, 512, 64}, image{1, 64, 56, 56}, long1{4194304};
  const Layer layers[] = {
      {"matmul-1024", "inlay.matmul %0, %1 : ($in) -> $out", {{1024, 1024}, {1024, 1024}}, {}, {1024, 1024}},
      {"matmul-4096", "inlay.matmul %0, %1 : ($in) -> $out", {{4096, 4096}, {4096, 4096}}, {}, {4096, 4096}},
      {"linear-1x4096x4096", "inlay.linear %0, %1 : ($in) -> $out", {{1, 4096}}, {{4096, 4096}}, {1, 4096}},
      {"linear-4x4096x1000", "inlay.linear %0, %1, %2 : ($in) -> $out", {{4, 4096}}, {{1000, 4096}, {1000}}, {4, 1000}},
      {"conv3x3-64-64-56",
       "inlay.conv %0, %1, %2 stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : ($in) -> $out",
       {image},
       {{64, 64, 3, 3}, {64}},
       image},
      {"softmax-512x1000", "inlay.softmax %0 dim 1 : ($in) -> $out", {{512, 1000}}, {}, {512, 1000}},
      {"layer-norm-512x768",
       "inlay.layer_norm %0, %1, %2 eps 1.0e-5 : ($in) -> $out",
       {{512, 768}},
       {{768}, {768}},
       {512, 768}},
      {"attention-12x512x64",
       "inlay.scaled_dot_product_attention %0, %1, %2 scale 0.125 : ($in) -> $out",
       {heads, heads, heads},
       {},
       heads},
      {"add-4m", "inlay.add %0, %1 : ($in) -> $out", {long1, long1}, {}, long1},
  };
  std::vector<Case> cases;
  for (const char *element : {"f32", "f16"})
    for (const Layer &layer : layers)
      cases.push_back(makeCase(layer, element));
  for (int64_t bits : {4, 8})
    cases.push_back(makePackedLinear(4096, bits));
  for (const char *element : {"f32", "f16"})
    cases.push_back(makeResidualBlock(64, 56, element));
  return cases;
}
