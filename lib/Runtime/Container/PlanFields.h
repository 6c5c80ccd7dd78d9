// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fields of a plan in the order of the section "plan". The writer and the reader share this description.
//
// A coder is called with one value after the other. `Ref<T>` is the type by which it takes a T. The structured binding
// in front of each list names all members of a structure, so a new member does not compile until it is stored.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_PLANFIELDS_H
#define INLAY_LIB_RUNTIME_CONTAINER_PLANFIELDS_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt {

template <typename Coder, typename T>
using Ref = typename Coder::template Ref<T>;

/// Sections that hold data which is too large for the section "plan".
enum class Pool : uint8_t { Spirv, Host, Foreign };

template <typename Coder>
void fields(Coder &coder, Ref<Coder, TensorType> type) {
  auto &[element, dims] = type;
  coder.choice(element, ElementType::F64, "an element type");
  coder(dims);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, Buffer> buffer) {
  auto &[kind, space, index, type, name] = buffer;
  coder.choice(kind, BufferKind::State, "a kind of buffer");
  coder.choice(space, MemorySpace::Device, "a memory space");
  coder(index, type, name);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, Symbol> symbol) {
  auto &[name, min, max, input, dim, scale, offset] = symbol;
  coder(name, min, max, input, dim, scale, offset);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, Access> access) {
  coder.choice(access, Access::ReadWrite, "an access");
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, BindingKind> kind) {
  coder.choice(kind, BindingKind::VectorTexels, "a kind of binding");
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, Kernel> kernel) {
  auto &[name, spirv, bindings, pushConstants, block, requirements, kinds] = kernel;
  coder(name);
  coder.pooled(Pool::Spirv, spirv);
  coder(bindings, pushConstants, block, requirements, kinds);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, Dispatch> dispatch) {
  auto &[kernel, buffers, grid, pushConstants, calls] = dispatch;
  coder(kernel, buffers, grid, pushConstants, calls);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, Engine> engine) {
  auto &[name, arguments, scratch, kernels, dispatches, hostVersion] = engine;
  coder(name, arguments, scratch, kernels, dispatches, hostVersion);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, PostOp> postOp) {
  auto &[kind, low, high] = postOp;
  coder.choice(kind, PostOpKind::MulChannels, "a kind of post-op");
  coder(low, high);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, HostKernel> kernel) {
  auto &[name, kind, buffers, loops, constants, postOps, hasBias, accumulates, channelsLast, mask, isCausal, scale,
         calls] = kernel;
  coder(name);
  coder.choice(kind, HostKernelKind::IntegerProduct, "a kind of host kernel");
  coder(buffers, loops, constants, postOps, hasBias, accumulates, channelsLast);
  coder.choice(mask, MaskKind::Selected, "a kind of mask");
  coder(isCausal, scale, calls);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, HostFunction> function) {
  auto &[symbol, arguments, access, sizes, kernels, scratch, unsharedScratch] = function;
  coder(symbol, arguments, access, sizes, kernels, scratch, unsharedScratch);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, HostObject> object) {
  auto &[cpu, features, code] = object;
  coder(cpu, features);
  coder.pooled(Pool::Host, code);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, HostCode> code) {
  auto &[triple, objects, functions] = code;
  coder(triple, objects, functions);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, ForeignEngine> engine) {
  auto &[name, runner, payload, arguments, inputs] = engine;
  coder(name, runner);
  coder.pooled(Pool::Foreign, payload);
  coder(arguments, inputs);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, Callback> callback) {
  auto &[name, inputs, sizes] = callback;
  coder(name, inputs, sizes);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, Step> step) {
  auto &[kind, callee, buffers, after, name, segment, calls, bodies, limit] = step;
  coder.choice(kind, StepKind::For, "a kind of step");
  coder(callee, buffers, after, name, segment, calls, bodies, limit);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, Condition> condition) {
  auto &[text, margin] = condition;
  coder(text, margin);
}

template <typename Coder>
void fields(Coder &coder, Ref<Coder, Plan> plan) {
  auto &[name, buffers, inputs, outputs, states, symbols, conditions, constants, engines, hostCode, callbacks,
         foreignEngines, steps] = plan;
  coder(name, buffers, inputs, outputs, states, symbols, conditions, constants, engines, hostCode, callbacks,
        foreignEngines, steps);
}

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_PLANFIELDS_H
