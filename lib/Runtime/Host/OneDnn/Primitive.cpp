// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wraps primitives and reorders of oneDNN. Gemm.cpp and Convolution.cpp describe the operations.

#include "Primitive.h"
#include "Runtime/Host/Support/Memory.h"

#include <omp.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

namespace inlay::rt::host::onednn {

// Never destroyed, because primitives refer to them.
static std::atomic<dnnl_engine_t> theEngine{nullptr};
static std::atomic<dnnl_stream_t> theStream{nullptr};

/// Stores the result of `create(&object)` in `shared` unless it has one. Takes no lock, which a fork could leave
/// locked.
template <auto destroy, typename T, typename Create>
static bool createOnce(std::atomic<T> &shared, const Create &create) {
  if (shared)
    return true;
  T made = nullptr, other = nullptr;
  if (create(&made) != dnnl_success)
    return false;
  if (!shared.compare_exchange_strong(other, made)) // another thread was first
    destroy(made);
  return true;
}

bool open() {
  auto createEngine = [](dnnl_engine_t *made) { return dnnl_engine_create(made, dnnl_cpu, 0); };
  auto createStream = [](dnnl_stream_t *made) {
    return dnnl_stream_create(made, theEngine, dnnl_stream_default_flags);
  };
  return createOnce<dnnl_engine_destroy>(theEngine, createEngine) &&
         createOnce<dnnl_stream_destroy>(theStream, createStream);
}

dnnl_engine_t engine() { return theEngine; }
dnnl_stream_t stream() { return theStream; }

Status toStatus(dnnl_status_t status, const char *what) {
  if (status == dnnl_success)
    return Status::ok();
  StatusCode code = status == dnnl_out_of_memory ? StatusCode::ResourceExhausted : StatusCode::Internal;
  std::string reason = status == dnnl_out_of_memory ? "no memory" : "status " + std::to_string(status);
  return {code, "oneDNN's " + std::string(what) + " failed: " + reason};
}

OneThread::OneThread() : before_(omp_get_max_threads()) {
  if (before_ != 1)
    omp_set_num_threads(1);
}

OneThread::~OneThread() {
  if (before_ != 1)
    omp_set_num_threads(before_);
}

Attributes makeAttributes(bool accumulates) {
  dnnl_primitive_attr_t made = nullptr;
  if (dnnl_primitive_attr_create(&made) != dnnl_success)
    return nullptr;
  Attributes attributes(made);
  if (dnnl_primitive_attr_set_scratchpad_mode(made, dnnl_scratchpad_mode_user) != dnnl_success)
    return nullptr;
  if (!accumulates)
    return attributes;
  dnnl_post_ops_t postOps = nullptr;
  if (dnnl_post_ops_create(&postOps) != dnnl_success)
    return nullptr;
  bool isSet = dnnl_post_ops_append_sum(postOps, 1.0f) == dnnl_success &&
               dnnl_primitive_attr_set_post_ops(made, postOps) == dnnl_success;
  dnnl_post_ops_destroy(postOps);
  return isSet ? std::move(attributes) : nullptr;
}

StatusOr<std::unique_ptr<Primitive>> Primitive::finish(PrimitiveDesc desc) {
  auto made = std::make_unique<Primitive>();
  const char *info = nullptr;
  dnnl_primitive_desc_query(desc.get(), dnnl_query_impl_info_str, 0, &info);
  if (info && std::string_view(info).substr(0, 3) == "ref")
    return std::unique_ptr<Primitive>();
  dnnl_primitive_t primitive = nullptr;
  if (dnnl_status_t status = dnnl_primitive_create(&primitive, desc.get()); status != dnnl_success)
    return toStatus(status, "creation of a primitive");
  made->primitive_.reset(primitive);
  made->desc_ = std::move(desc);
  if (const dnnl_memory_desc_t *scratch = made->desc(dnnl_query_scratchpad_md)) {
    made->scratchDesc_ = *scratch;
    made->scratchBytes_ = dnnl_memory_desc_get_size(scratch);
  }
  return made;
}

StatusOr<std::unique_ptr<Primitive>> Primitive::make(const_dnnl_op_desc_t op, const Attributes &attributes) {
  OneThread oneThread;
  if (!attributes)
    return Status(StatusCode::ResourceExhausted, "oneDNN has no memory");
  dnnl_primitive_desc_t desc = nullptr;
  dnnl_status_t status = dnnl_primitive_desc_create(&desc, op, attributes.get(), engine(), nullptr);
  if (status == dnnl_unimplemented || status == dnnl_invalid_arguments)
    return std::unique_ptr<Primitive>();
  if (status != dnnl_success)
    return toStatus(status, "description of a primitive");
  return finish(PrimitiveDesc(desc));
}

StatusOr<std::unique_ptr<Primitive>> Primitive::makeReorder(const dnnl_memory_desc_t &from,
                                                            const dnnl_memory_desc_t &to) {
  OneThread oneThread;
  Attributes attributes = makeAttributes(/*accumulates=*/false);
  if (!attributes)
    return Status(StatusCode::ResourceExhausted, "oneDNN has no memory");
  dnnl_primitive_desc_t desc = nullptr;
  dnnl_status_t status = dnnl_reorder_primitive_desc_create(&desc, &from, engine(), &to, engine(), attributes.get());
  if (status != dnnl_success)
    return toStatus(status, "description of a reorder");
  PrimitiveDesc owner(desc);
  auto made = std::make_unique<Primitive>();
  dnnl_primitive_t primitive = nullptr;
  if (status = dnnl_primitive_create(&primitive, desc); status != dnnl_success)
    return toStatus(status, "creation of a reorder");
  made->primitive_.reset(primitive);
  made->desc_ = std::move(owner);
  if (const dnnl_memory_desc_t *scratch = made->desc(dnnl_query_scratchpad_md)) {
    made->scratchDesc_ = *scratch;
    made->scratchBytes_ = dnnl_memory_desc_get_size(scratch);
  }
  return made;
}

const dnnl_memory_desc_t *Primitive::desc(dnnl_query_t what) const {
  return dnnl_primitive_desc_query_md(desc_.get(), what, 0);
}

Status Primitive::run(const Argument *arguments, size_t count) const {
  constexpr size_t kMaxArguments = 4;
  static Scratch scratch;
  OneThread oneThread;
  std::array<Owner<dnnl_memory_t, dnnl_memory_destroy>, kMaxArguments> owners;
  std::array<dnnl_exec_arg_t, kMaxArguments> passed;
  Argument all[kMaxArguments];
  size_t used = 0;
  for (; used < count && used < kMaxArguments; ++used)
    all[used] = arguments[used];
  if (scratchBytes_ > 0) {
    void *memory = scratch.reserve(scratchBytes_);
    if (!memory)
      return {StatusCode::ResourceExhausted, "no memory for oneDNN's scratch"};
    all[used++] = {DNNL_ARG_SCRATCHPAD, &scratchDesc_, memory};
  }
  for (size_t i = 0; i < used; ++i) {
    dnnl_memory_t memory = nullptr;
    dnnl_status_t status = dnnl_memory_create(&memory, all[i].desc, engine(), const_cast<void *>(all[i].data));
    if (status != dnnl_success)
      return toStatus(status, "memory");
    owners[i].reset(memory);
    passed[i] = {all[i].index, memory};
  }
  return toStatus(dnnl_primitive_execute(primitive_.get(), stream(), static_cast<int>(used), passed.data()),
                  "primitive");
}

std::string toBytes(const dnnl_memory_desc_t &desc) {
  return std::string(reinterpret_cast<const char *>(&desc), sizeof(desc));
}

} // namespace inlay::rt::host::onednn
