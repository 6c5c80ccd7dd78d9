// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// oneDNN's C API with owners, and a primitive that runs on the thread that calls it.

#ifndef INLAY_LIB_RUNTIME_HOST_ONEDNN_PRIMITIVE_H
#define INLAY_LIB_RUNTIME_HOST_ONEDNN_PRIMITIVE_H

#include "inlay/Runtime/Core/Status.h"

#include <dnnl.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace inlay::rt::host::onednn {

template <auto destroy>
struct Destroy {
  template <typename T>
  void operator()(T *object) const {
    destroy(object);
  }
};
template <typename T, auto destroy>
using Owner = std::unique_ptr<std::remove_pointer_t<T>, Destroy<destroy>>;

using PrimitiveDesc = Owner<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;
using PrimitiveHandle = Owner<dnnl_primitive_t, dnnl_primitive_destroy>;
using Attributes = Owner<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;

/// The engine of the CPU and a stream on it, of this process; null if oneDNN has none.
dnnl_engine_t engine();
dnnl_stream_t stream();

/// "'what' failed: out of memory", ...
Status toStatus(dnnl_status_t status, const char *what);

/// oneDNN's loops run on this thread alone while this lives. What the caller had set for its own OpenMP is put back.
class OneThread {
public:
  OneThread();
  ~OneThread();

private:
  int before_;
};

/// Attributes with scratch memory from us (as else a primitive must run on the thread that made it), and C += if
/// `accumulates`.
Attributes makeAttributes(bool accumulates);

struct Argument {
  int index;
  const dnnl_memory_desc_t *desc;
  const void *data;
};

class Primitive {
public:
  /// Null for a shape that oneDNN doesn't do, or only by its reference code.
  static StatusOr<std::unique_ptr<Primitive>> make(const_dnnl_op_desc_t op, const Attributes &attributes);
  /// The same for reorders.
  static StatusOr<std::unique_ptr<Primitive>> makeReorder(const dnnl_memory_desc_t &from, const dnnl_memory_desc_t &to);

  Status run(const Argument *arguments, size_t count) const;
  const dnnl_memory_desc_t *desc(dnnl_query_t what) const;

private:
  static StatusOr<std::unique_ptr<Primitive>> finish(PrimitiveDesc desc);

  PrimitiveDesc desc_;
  PrimitiveHandle primitive_;
  dnnl_memory_desc_t scratchDesc_{};
  size_t scratchBytes_ = 0;
};

/// Bytes that tell layouts apart.
std::string toBytes(const dnnl_memory_desc_t &desc);

} // namespace inlay::rt::host::onednn

#endif // INLAY_LIB_RUNTIME_HOST_ONEDNN_PRIMITIVE_H
