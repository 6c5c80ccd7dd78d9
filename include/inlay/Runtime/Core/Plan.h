// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stitched program as data: steps over numbered buffers. A plan that was just compiled and one that was loaded are
// this same structure; the executor walks it and knows nothing of how it was made.

#ifndef INLAY_RUNTIME_CORE_PLAN_H
#define INLAY_RUNTIME_CORE_PLAN_H

#include "inlay/Runtime/Core/Symbol.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace inlay::rt {

/// Element types that cross a border. Bool takes one byte (0 or 1).
enum class ElementType : uint8_t { Bool, I8, I16, I32, I64, F16, BF16, F32, F64 };

/// Bytes of one element.
size_t byteWidth(ElementType type);

/// The name users see: "float32", "int64", "bool", ...
const char *name(ElementType type);

/// A dense row-major tensor; each dim is an expression of the program's input dims (a constant when static).
struct TensorType {
  ElementType element = ElementType::F32;
  std::vector<Expr> dims;
};

/// Bytes of a tensor of these dims; an error when a dim is negative or the product overflows.
StatusOr<size_t> byteSize(ElementType element, const std::vector<int64_t> &dims);

/// "float32[1x3x224x224]"; "float32" for rank 0.
std::string toString(ElementType element, const std::vector<int64_t> &dims);

/// The same by the symbols' names, "float32[batch x 10]", or with '?' for dims of which there are none.
std::string toString(const TensorType &type, const std::vector<Symbol> &symbols);

/// The dims for these inputs.
StatusOr<std::vector<int64_t>> evaluateDims(const TensorType &type, const InputDims &inputs);

/// Where a buffer's storage comes from.
enum class BufferKind : uint8_t {
  Input,    ///< the caller's tensor number `index`; read only
  Output,   ///< result number `index`
  Constant, ///< `Plan::constants[index]`; read only, uploaded once when a device uses it
  Temporary ///< owned by one call in flight
};

/// Which memory a step expects the buffer in. On a device with unified memory both are the same bytes.
enum class MemorySpace : uint8_t { Host, Device };

/// A numbered buffer of the plan. `name` is the graph's name for it, for messages ("x", "fc.weight").
struct Buffer {
  BufferKind kind = BufferKind::Temporary;
  MemorySpace space = MemorySpace::Host;
  uint32_t index = 0;
  TensorType type;
  std::string name;
};

/// Bytes of a constant. `owner` keeps them alive (a mapped file, a framework's tensor).
struct Constant {
  const void *data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner;
  std::string key = {}; ///< the name of a weight; empty for other constants
  /// If not empty, a device has the elements with the dims, of these sizes, in another order: dim i there is dim
  /// `order[i]` here.
  std::vector<uint64_t> dims = {};
  std::vector<uint32_t> order = {};

  /// Has the bytes of another from now on, of the same size, and stays what it is in all else.
  void replaceBytes(const Constant &other) {
    data = other.data;
    owner = other.owner;
  }
};

/// What one storage buffer of a kernel is used for: decides the barriers.
enum class Access : uint8_t { Read, Write, ReadWrite };

/// How a kernel sees a buffer. Texels are of uniform texel buffers, which are only read: of one f32, or of four.
enum class BindingKind : uint8_t { Storage, ScalarTexels, VectorTexels };

/// A compute kernel: one SPIR-V module with one entry point. Binding i of set 0 has access `bindings[i]` and is what
/// `kinds[i]` says; push constants are `pushConstants` 32-bit words.
struct Kernel {
  std::string name; ///< for messages: with the user's calls that it came from
  std::vector<uint32_t> spirv;
  std::vector<Access> bindings;
  uint32_t pushConstants = 0;
  std::array<uint32_t, 3> block = {1, 1, 1};
  std::vector<std::string> requirements; ///< device features it needs: "float16", "int8", "int64", "float64", ...
  std::vector<BindingKind> kinds = {};   ///< as many as there are bindings, or none: then all are storage buffers

  BindingKind kind(size_t binding) const { return kinds.empty() ? BindingKind::Storage : kinds[binding]; }
};

/// One dispatch of an engine. `buffers` are engine-local numbers: first the engine's arguments, then its scratch.
struct Dispatch {
  uint32_t kernel = 0;
  std::vector<uint32_t> buffers;
  std::array<Expr, 3> grid; ///< workgroups
  std::vector<Expr> pushConstants;
  std::vector<std::string> calls = {}; ///< of the user, that it came from, or ops: for profiles
};

/// A segment converted for Vulkan: a kernel table and a list of dispatches in program order.
struct Engine {
  std::string name;
  uint32_t arguments = 0;    ///< how many buffers a launch passes
  std::vector<Expr> scratch; ///< byte sizes of the engine's own intermediate buffers
  std::vector<Kernel> kernels;
  std::vector<Dispatch> dispatches;
  /// The host function that computes the same over the same buffers, then its scratch, for when the device fails; -1 if
  /// there is none.
  int32_t hostVersion = -1;
};

/// How a kernel of a host function runs.
enum class HostKernelKind : uint8_t {
  Loops,       ///< a loop of the function's own code, over chunks of it
  Contraction, ///< sums of products of two operands, by a library
  Convolution, ///< of two spatial dims at most, by a library
  Attention    ///< softmax(scale * Q K^T + mask) V, by a library
};

/// The word for plans and profiles: "loops", "contraction", "convolution", "attention".
const char *name(HostKernelKind kind);

/// What a library kernel applies to each element of its result, in order. Those from `Add` on take an operand, those
/// from `AddChannels` on, of convolutions alone, one with an element for each channel.
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

/// The word for plans: "relu", "clip", "gelu", "gelu_tanh", ...
const char *name(PostOpKind kind);

struct PostOp {
  PostOpKind kind = PostOpKind::Relu;
  float low = 0, high = 0; ///< Clip
};

enum class MaskKind : uint8_t {
  None,
  Added,   ///< f32, added to the scaled scores
  Selected ///< bool: scores at false are minus infinity
};

/// A part of a host function that the runtime runs: on several threads, or by a library. `buffers` and `sizes`, 64-bit
/// integers, are what the code passes at a call; elements are f32 but for the mask. Strides count elements; 0 where an
/// operand doesn't have that loop or broadcasts along it.
///
///   Contraction  A, B, [bias], the operands of post-ops, C; for each of the loops: its size and each buffer's stride.
///                Loops that C lacks are summed. C += if `accumulates`, which starts from what C holds.
///   Convolution  X, W, [bias], the operands of post-ops, Y; batch, groups, input channels of a group, output channels
///                of a group, number of spatial dims, then for each of these: input size, output size, kernel size,
///                stride, dilation, padding in front. W is [groups * outputs, inputs, kernel...] without gaps; X, Y and
///                operands of post-ops are [batch, channels, spatial...], or [batch, spatial..., channels] if
///                `channelsLast`, without gaps.
///   Attention    Q, K, V, [mask], O; batch, heads, queries, keys, channels of K, channels of V, then the strides of
///                Q (batch, heads, queries, channels), K and V (batch, heads, keys, channels), if there is a mask its
///                (batch, heads, queries, keys), O (batch, heads, queries, channels).
struct HostKernel {
  std::string name; ///< for messages
  HostKernelKind kind = HostKernelKind::Loops;
  uint32_t buffers = 0;            ///< how many a call passes
  uint32_t loops = 0;              ///< Contraction
  std::vector<uint32_t> constants; ///< numbers of buffers that hold the same at each call: weights
  std::vector<PostOp> postOps;     ///< Contraction, Convolution
  bool hasBias = false;
  bool accumulates = false;
  bool channelsLast = false;
  MaskKind mask = MaskKind::None;
  bool isCausal = false; ///< query i sees keys 0 to i
  double scale = 1;
  std::vector<std::string> calls = {}; ///< of the user, that it came from, or ops: for profiles
};

/// A segment converted for the host: `symbol` in the plan's host code, called as void(void *const *buffers).
struct HostFunction {
  std::string symbol;
  uint32_t arguments = 0;
  std::vector<Access> access;   ///< per argument; empty means that each may be read and written (costs copies)
  std::vector<Expr> sizes = {}; ///< if there are any, one more pointer leads to these numbers, as 64-bit integers
  std::vector<HostKernel> kernels = {}; ///< if there are any, the last pointer is to an InlayHostContext
  std::vector<Expr> scratch = {};       ///< bytes of the arguments, the last ones, that are memory to work in
  /// Bytes of that if its parts shared no memory; one number, or none if that isn't known.
  std::vector<Expr> unsharedScratch = {};
};

/// Native code of all host functions for one kind of processor: a relocatable object file.
struct HostObject {
  std::string cpu;                   ///< for people: "x86-64-v3", "native"
  std::vector<std::string> features; ///< that the processor must have, by LLVM's names: "avx2", "fma"
  std::vector<char> code;
};

struct HostCode {
  std::string triple;              ///< of all objects
  std::vector<HostObject> objects; ///< best first; the first one that the processor can run is used
  std::vector<HostFunction> functions;
};

/// A segment converted by a target from outside. The runner of that name, which the caller of `Program::load` brings
/// along, knows what the payload means.
struct ForeignEngine {
  std::string name;
  std::string runner;
  std::string payload;    ///< any bytes
  uint32_t arguments = 0; ///< how many buffers a step passes, all in host memory
  uint32_t inputs = 0;    ///< the leading ones are read, the rest are written
};

enum class StepKind : uint8_t {
  LaunchEngine, ///< engines[callee] over buffers
  CallHost,     ///< hostCode.functions[callee] over buffers
  Copy,         ///< buffers[0] -> buffers[1], equal byte size
  Callback,     ///< callbacks[callee], into the framework
  RunForeign,   ///< foreignEngines[callee] over buffers, by its runner
  Branch,       ///< bodies[0] if the bool in buffers[0] is true, else bodies[1]
  While,        ///< bodies[0], and as long as the bool in buffers[0] is true then, bodies[1] and bodies[0] again
  For           ///< bodies[0] with buffers[0] from buffers[1] on, below buffers[2], buffers[3] apart
};

/// The word for profiles: "engine", "host", "copy", "callback", "foreign", "branch", "while", "for".
const char *name(StepKind kind);

/// How many bodies a step of this kind has.
size_t bodyCount(StepKind kind);

/// One step. It may run as soon as the steps in `after` have run; the list itself is one legal order.
struct Step {
  StepKind kind = StepKind::Copy;
  uint32_t callee = 0;
  std::vector<uint32_t> buffers;
  std::vector<uint32_t> after;
  std::string name;                    ///< the segment it came from, for messages and profiles
  int32_t segment = -1;                ///< the number of that segment in the partition report, -1 if none is known
  std::vector<std::string> calls = {}; ///< of the user, that it came from: for profiles
  std::vector<uint32_t> bodies = {};   ///< how many of the steps that follow each body has, those in it counted too
  uint64_t limit = 0;                  ///< While: after so many runs of bodies[1] it is stopped with an error
};

/// A call into the framework: `inputs` leading buffers are read, the rest are written.
struct Callback {
  std::string name;
  uint32_t inputs = 0;
  std::vector<Expr> sizes = {}; ///< numbers that the handler gets
};

/// The number of steps that a step of the list is, with those in its bodies.
size_t countSteps(const Step &step);

/// A whole program. Its list of steps has the bodies of a step right after it, one after the other.
struct Plan {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<uint32_t> inputs;  ///< buffer numbers, in the order of the arguments
  std::vector<uint32_t> outputs; ///< buffer numbers, in the order of the results
  std::vector<Symbol> symbols;   ///< what messages spell dims by, and what a call's dims must keep to
  std::vector<Constant> constants;
  std::vector<Engine> engines;
  HostCode hostCode;
  std::vector<Callback> callbacks;
  std::vector<ForeignEngine> foreignEngines;
  std::vector<Step> steps;
};

/// Dims of the inputs of a call where each symbol has its value of `values`; an error if there are none.
StatusOr<InputDims> inputDimsFor(const Plan &plan, const std::vector<int64_t> &values);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_PLAN_H
