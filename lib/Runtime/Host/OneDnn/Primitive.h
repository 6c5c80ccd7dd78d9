// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RAII wrappers of oneDNN's C API, and a primitive that runs on the calling thread.

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

/// Creates the CPU engine of this process and a stream on it, unless they exist. Returns false if oneDNN has none. Must
/// be called before anything else. Thread-safe.
bool open();
/// Return what `open` has created.
dnnl_engine_t engine();
dnnl_stream_t stream();

/// Returns a status with a message such as "oneDNN's <what> failed: no memory".
Status toStatus(dnnl_status_t status, const char *what);

/// Limits oneDNN's loops to this thread during its lifetime. Restores the caller's OpenMP setting afterwards.
class OneThread {
public:
  OneThread();
  ~OneThread();

private:
  int before_;
};

/// Returns attributes with C += if `accumulates`. The caller provides scratch memory; with oneDNN's own a primitive
/// could run only on the thread that created it.
Attributes makeAttributes(bool accumulates);

struct Argument {
  int index;
  const dnnl_memory_desc_t *desc;
  const void *data;
};

class Primitive {
public:
  /// Returns a primitive, or null for a shape that oneDNN doesn't support or supports only with reference code.
  static StatusOr<std::unique_ptr<Primitive>> make(const_dnnl_op_desc_t op, const Attributes &attributes);
  /// Returns a primitive that reorders `from` to `to`.
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

/// Returns bytes that identify a layout.
std::string toBytes(const dnnl_memory_desc_t &desc);

} // namespace inlay::rt::host::onednn

#endif // INLAY_LIB_RUNTIME_HOST_ONEDNN_PRIMITIVE_H
