// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan: the stitched program as data, a list of steps over numbered buffers. The compiler and the container reader
// produce the same structure. The executor interprets it without knowing how it was made.

#ifndef INLAY_RUNTIME_CORE_PLAN_H
#define INLAY_RUNTIME_CORE_PLAN_H

#include "inlay/Runtime/Core/Symbol.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace inlay::rt {

/// Element types of tensors that cross a border. Bool takes one byte (0 or 1).
enum class ElementType : uint8_t { Bool, I8, I16, I32, I64, F16, BF16, F32, F64 };

/// Returns the bytes of one element.
size_t byteWidth(ElementType type);

/// Returns the name that users see: "float32", "int64", "bool", ...
const char *name(ElementType type);

/// A dense row-major tensor. Each dim is an expression of the program's input dims; static dims are constants.
struct TensorType {
  ElementType element = ElementType::F32;
  std::vector<Expr> dims;
};

/// Returns the bytes of a tensor with these dims, or an error if a dim is negative or the product overflows.
StatusOr<size_t> byteSize(ElementType element, const std::vector<int64_t> &dims);

/// Returns the type as text: "float32[1x3x224x224]", or "float32" for rank 0.
std::string toString(ElementType element, const std::vector<int64_t> &dims);

/// Returns the type as text with the symbols' names, "float32[batch x 10]"; a dim of no symbol is '?'.
std::string toString(const TensorType &type, const std::vector<Symbol> &symbols);

/// Returns the dims for these inputs.
StatusOr<std::vector<int64_t>> evaluateDims(const TensorType &type, const InputDims &inputs);

/// The origin of a buffer's memory.
enum class BufferKind : uint8_t {
  Input,     ///< Argument `index` of the caller; read only.
  Output,    ///< Result `index`.
  Constant,  ///< `Plan::constants[index]`; read only, uploaded once if a device uses it.
  Temporary, ///< Memory of one call in flight.
  State      ///< State `index`: memory of a session, which keeps its contents between calls.
};

/// The memory in which a step expects a buffer. On a device with unified memory both are the same bytes.
enum class MemorySpace : uint8_t { Host, Device };

/// A numbered buffer of the plan. `name` is its name in the graph, for messages ("x", "fc.weight").
struct Buffer {
  BufferKind kind = BufferKind::Temporary;
  MemorySpace space = MemorySpace::Host;
  uint32_t index = 0;
  TensorType type;
  std::string name;
};

/// The bytes of a constant. `owner` keeps them alive, for example a mapped file or a framework's tensor.
struct Constant {
  const void *data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner;
  std::string key = {}; ///< The name of a weight; empty for other constants.
  /// If `order` is not empty, the device stores the elements permuted: `dims` are the sizes of the dims, and dim i on
  /// the device is dim `order[i]` here.
  std::vector<uint64_t> dims = {};
  std::vector<uint32_t> order = {};

  /// Replaces the bytes by those of a constant of the same size. All other members stay.
  void replaceBytes(const Constant &other) {
    data = other.data;
    owner = other.owner;
  }
};

/// The access of a kernel to one of its buffers. It decides where barriers are needed.
enum class Access : uint8_t { Read, Write, ReadWrite };

/// The view that a kernel has of a buffer. Texels are elements of a read-only uniform texel buffer: one f32, or four.
enum class BindingKind : uint8_t { Storage, ScalarTexels, VectorTexels };

/// A compute kernel: a SPIR-V module with one entry point. Binding i of set 0 has access `bindings[i]` and kind
/// `kinds[i]`. `pushConstants` counts 32-bit words.
struct Kernel {
  std::string name; ///< For messages; contains the user's calls that the kernel came from.
  std::vector<uint32_t> spirv;
  std::vector<Access> bindings;
  uint32_t pushConstants = 0;
  std::array<uint32_t, 3> block = {1, 1, 1}; ///< Workgroup size.
  std::vector<std::string> requirements; ///< Device features that it needs: "float16", "int8", "int64", "float64", ...
  std::vector<BindingKind> kinds = {};   ///< One per binding, or empty if all bindings are storage buffers.

  BindingKind kind(size_t binding) const { return kinds.empty() ? BindingKind::Storage : kinds[binding]; }
};

/// One dispatch of an engine. `buffers` are numbers within the engine: first its arguments, then its scratch buffers.
struct Dispatch {
  uint32_t kernel = 0;
  std::vector<uint32_t> buffers;
  std::array<Expr, 3> grid; ///< Number of workgroups.
  std::vector<Expr> pushConstants;
  std::vector<std::string> calls = {}; ///< The user's calls, or the ops, that it came from; for profiles.
};

/// A segment converted for Vulkan: a kernel table and a list of dispatches in program order.
struct Engine {
  std::string name;
  uint32_t arguments = 0;    ///< Number of buffers that a launch passes.
  std::vector<Expr> scratch; ///< Byte sizes of the engine's intermediate buffers.
  std::vector<Kernel> kernels;
  std::vector<Dispatch> dispatches;
  /// Number of the host function that computes the same result; -1 if there is none. It runs when the device fails. Its
  /// arguments are the buffers of the launch, followed by its scratch buffers.
  int32_t hostVersion = -1;
};

/// The kind of a kernel of a host function.
enum class HostKernelKind : uint8_t {
  Loops,            ///< A loop in the function's code, run in chunks.
  Contraction,      ///< Sums of products of two operands, by a library.
  Convolution,      ///< A convolution of one to three spatial dims, by a library.
  Attention,        ///< softmax(scale * Q K^T + mask) V, by a library.
  QuantizedProduct, ///< A product with weights that are codes of 2, 4 or 8 bits, by a library.
  IntegerProduct    ///< A product or convolution of codes of 8 bits, by a library.
};

/// Returns the word for plans and profiles: "loops", "contraction", "convolution", "attention", "quantized_product",
/// "integer_product".
const char *name(HostKernelKind kind);

/// An operation that a library kernel applies to each element of its result. Kinds from `Add` on take an operand. Kinds
/// from `AddChannels` on exist for convolutions only; their operand has one element per channel.
enum class PostOpKind : uint8_t {
  Relu,
  Clip,
  Gelu,
  GeluTanh,
  Silu,
  Sigmoid,
  Tanh,
  HardSwish,
  HardSigmoid,
  Add,
  Mul,
  AddChannels,
  MulChannels
};

/// Returns the word for plans: "relu", "clip", "gelu", "gelu_tanh", ...
const char *name(PostOpKind kind);

struct PostOp {
  PostOpKind kind = PostOpKind::Relu;
  float low = 0, high = 0; ///< Limits of Clip.
};

enum class MaskKind : uint8_t {
  None,
  Added,   ///< f32 values that are added to the scaled scores.
  Selected ///< bool values; scores at false become minus infinity.
};

/// The type of the scales or offsets of quantized weights.
enum class QuantizedElement : uint8_t {
  F32,
  F16,
  BF16,
  Code ///< Integers of 8 bits, signed if the codes are signed.
};

/// Number of sizes of a QuantizedProduct.
constexpr int64_t kQuantizedSizes = 21;

/// The offsets of codes in an IntegerProduct.
enum class IntegerOffsets : uint8_t {
  None,
  Floats, ///< f32 with integers.
  Codes   ///< Integers of 8 bits, signed if the codes are signed.
};

/// The elements of the result of an IntegerProduct.
enum class IntegerResult : uint8_t {
  F32,
  F64,  ///< Without post-ops.
  Codes ///< Quantized as by `inlay.quantize`, with one scale.
};

/// The first sizes of an IntegerProduct. Each is one 64-bit integer, and a bool is 0 or 1.
struct IntegerSizes {
  int64_t batch;           ///< m of a product.
  int64_t groups;          ///< 1 for a product.
  int64_t inputs, outputs; ///< Channels per group: k and n of a product.
  int64_t dims;            ///< Spatial dims: 0 for a product, 1 or 2.
  int64_t isInputSigned, isWeightSigned;
  int64_t isWeightTransposed;          ///< 1 if W is [k, n].
  int64_t isPerRow;                    ///< 1 if X has a scale for each row of a product, not one.
  int64_t isPerChannel;                ///< 1 if W has a scale for each output channel, not one.
  int64_t inputOffsets, weightOffsets; ///< An IntegerOffsets; as many as scales.
  int64_t result;                      ///< An IntegerResult.
  int64_t isResultSigned;
  int64_t resultOffsets; ///< An IntegerOffsets.
  int64_t low, high;     ///< Limits of the codes of the result.
  int64_t isInverse;     ///< 1 if the scale of the result is its inverse.
};
constexpr int64_t kIntegerSizes = sizeof(IntegerSizes) / sizeof(int64_t);

/// A part of a host function that the runtime executes, on several threads or with a library. The code passes `buffers`
/// and `sizes` (64-bit integers) at each call. Elements are f32 except those of masks and quantized weights. Strides
/// count elements. A stride is 0 if an operand does not have that loop or broadcasts along it.
///
///   Contraction  Buffers: A, B, [bias], operands of post-ops, C. Sizes: for each loop its size and the stride of each
///                buffer. Loops that C lacks are summed. If `accumulates` is set, the sums are added to C.
///   Convolution  Buffers: X, W, [bias], operands of post-ops, Y. Sizes: batch, groups, input channels per group,
///                output channels per group, number of spatial dims, then for each of these: input size, output size,
///                kernel size, stride, dilation, padding in front. W is [groups * outputs, inputs, kernel...]. X, Y and
///                operands of post-ops are [batch, channels, spatial...], or [batch, spatial..., channels] if
///                `channelsLast` is set. All are contiguous.
///   Attention    Buffers: Q, K, V, [mask], O. Sizes: batch, heads, queries, keys, channels of K, channels of V, then
///                the strides of Q (batch, heads, queries, channels), of K and V (batch, heads, keys, channels), of the
///                mask if there is one (batch, heads, queries, keys), and of O (batch, heads, queries, channels).
///   QuantizedProduct
///                Buffers: X [m, k], codes, scales, [scales of scales], [offsets], [scales of offsets], [bias],
///                operands of post-ops [m, n], Y [m, n]. All are contiguous. Sizes: m, n, k, 1 if the weight is [k, n]
///                and not [n, k], 1 if there are offsets, 1 if these are minima, the QuantizedElement to which the
///                weight is rounded, then the description of the codes, of the scales and of the offsets: number of
///                bits of a code, 1 if codes are signed, the sizes of a block along n and k. Scales and offsets that
///                are no codes have 0 bits. Last come the QuantizedElement of the scales and of the offsets, or, if
///                these are codes, of their scales. `inlay.dequantize` describes the weight.
///   IntegerProduct
///                Buffers: codes of X, scales of X, [offsets of X], codes of W, scales of W, [offsets of W], [bias],
///                operands of post-ops, [scale of Y, [offset of Y]], Y. All are contiguous. Scales are f32. X and Y are
///                [m, k] and [m, n], or as for a Convolution. W is [n, k], [k, n], or as for a Convolution. Sizes:
///                those of IntegerSizes, in order, then for each spatial dim what a Convolution has.
struct HostKernel {
  std::string name; ///< For messages.
  HostKernelKind kind = HostKernelKind::Loops;
  uint32_t buffers = 0;            ///< Number of buffers that a call passes.
  uint32_t loops = 0;              ///< Number of loops of a Contraction.
  std::vector<uint32_t> constants; ///< Numbers of the buffers that hold the same data at each call: weights.
  std::vector<PostOp> postOps;     ///< For all kinds but Attention, in the order of application.
  bool hasBias = false;
  bool accumulates = false;
  bool channelsLast = false;
  MaskKind mask = MaskKind::None;
  bool isCausal = false; ///< True if query i sees only keys 0 to i.
  double scale = 1;
  std::vector<std::string> calls = {}; ///< The user's calls, or the ops, that it came from; for profiles.
};

/// A segment converted for the host. `symbol` names its code in the plan's host code: void(void *const *buffers).
struct HostFunction {
  std::string symbol;
  uint32_t arguments = 0;
  std::vector<Access> access;           ///< Per argument; if empty, each may be read and written, which costs copies.
  std::vector<Expr> sizes = {};         ///< If not empty, one more pointer leads to these numbers, as 64-bit integers.
  std::vector<HostKernel> kernels = {}; ///< If not empty, the last pointer is to an InlayHostContext.
  std::vector<Expr> scratch = {};       ///< Byte sizes of the last arguments, which are working memory.
  /// Bytes of the working memory if its parts shared nothing. One number, or empty if unknown.
  std::vector<Expr> unsharedScratch = {};
};

/// The native code of all host functions for one kind of processor: a relocatable object file.
struct HostObject {
  std::string cpu;                   ///< For messages: "x86-64-v3", "native".
  std::vector<std::string> features; ///< Features that the processor must have, with LLVM's names: "avx2", "fma".
  std::vector<char> code;
};

struct HostCode {
  std::string triple;              ///< Target triple of all objects.
  std::vector<HostObject> objects; ///< Best first; the first one that the processor can run is used.
  std::vector<HostFunction> functions;
};

/// A segment converted by an embedder's target. The caller of `Program::load` provides the runner of that name, which
/// understands the payload.
struct ForeignEngine {
  std::string name;
  std::string runner;
  std::string payload;    ///< Arbitrary bytes.
  uint32_t arguments = 0; ///< Number of buffers that a step passes, all in host memory.
  uint32_t inputs = 0;    ///< Number of leading buffers that are read. The others are written.
};

enum class StepKind : uint8_t {
  LaunchEngine, ///< Runs engines[callee] over buffers.
  CallHost,     ///< Calls hostCode.functions[callee] over buffers.
  Copy,         ///< Copies buffers[0] to buffers[1], which have equal byte sizes.
  Callback,     ///< Calls callbacks[callee] of the framework.
  RunForeign,   ///< Runs foreignEngines[callee] over buffers, by its runner.
  Branch,       ///< Runs bodies[0] if the bool in buffers[0] is true, else bodies[1].
  While,        ///< Runs bodies[0]; while the bool in buffers[0] is then true, runs bodies[1] and bodies[0] again.
  For           ///< Runs bodies[0] with buffers[0] counting from buffers[1] to below buffers[2] in steps of buffers[3].
};

/// Returns the word for profiles: "engine", "host", "copy", "callback", "foreign", "branch", "while", "for".
const char *name(StepKind kind);

/// Returns the number of bodies of a step of this kind.
size_t bodyCount(StepKind kind);

/// One step. It may run once the steps in `after` have run. The order of the list is one legal order.
struct Step {
  StepKind kind = StepKind::Copy;
  uint32_t callee = 0;
  std::vector<uint32_t> buffers;
  std::vector<uint32_t> after;
  std::string name;                    ///< The segment it came from, for messages and profiles.
  int32_t segment = -1;                ///< Number of that segment in the partition report, or -1 if unknown.
  std::vector<std::string> calls = {}; ///< The user's calls that it came from; for profiles.
  std::vector<uint32_t> bodies = {};   ///< Number of the following steps that each body has, nested ones included.
  uint64_t limit = 0;                  ///< While: after this many runs of bodies[1] the loop stops with an error.
};

/// A call into the framework. The leading `inputs` buffers are read, the others are written.
struct Callback {
  std::string name;
  uint32_t inputs = 0;
  std::vector<Expr> sizes = {}; ///< Numbers that the handler gets.
};

/// A condition on the sizes of a call. It holds if `margin` is at least 0.
struct Condition {
  std::string text; ///< For messages, with the names of symbols: "2*rows >= columns".
  Expr margin;
};

/// Returns the number of steps in the list that belong to `step`: 1 plus the steps in its bodies.
size_t countSteps(const Step &step);

/// A whole program. In the list of steps the bodies of a step follow it directly, one after the other.
struct Plan {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<uint32_t> inputs;      ///< Buffer numbers, in the order of the arguments.
  std::vector<uint32_t> outputs;     ///< Buffer numbers, in the order of the results.
  std::vector<uint32_t> states;      ///< Buffer numbers, in the order of the states' numbers.
  std::vector<Symbol> symbols;       ///< Names of open dims in messages, and the ranges that calls must keep to.
  std::vector<Condition> conditions; ///< All must hold at each call.
  std::vector<Constant> constants;
  std::vector<Engine> engines;
  HostCode hostCode;
  std::vector<Callback> callbacks;
  std::vector<ForeignEngine> foreignEngines;
  std::vector<Step> steps;
};

/// Returns the dims of the inputs of a call in which `symbols[i]` has the value `values[i]`. Fails if no dims give
/// these values.
StatusOr<InputDims> inputDimsFor(const Plan &plan, const std::vector<int64_t> &values);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_PLAN_H
