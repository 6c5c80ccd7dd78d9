// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes as Python values, and back. What Python has no value for is an AttributeHandle.

#ifndef INLAY_PYTHON_ATTRIBUTES_H
#define INLAY_PYTHON_ATTRIBUTES_H

#include "Graph.h"

#include <functional>

namespace inlay::python {

struct AttributeHandle {
  std::shared_ptr<Context> context;
  mlir::Attribute attribute;
};

/// Raises ArgumentTypeError that names `what` for a value that no attribute stands for. `tensor` makes an attribute of
/// a value; without it there can be none.
mlir::Attribute toAttribute(nanobind::handle value, Context &context, const std::string &what,
                            const std::function<mlir::Attribute(mlir::Value)> &tensor = nullptr);

/// `tensor` gives the object for a tensor's number. In a `structure` a unit is None, else True.
nanobind::object fromAttribute(mlir::Attribute attribute, const std::shared_ptr<Context> &context,
                               bool structure = false,
                               const std::function<nanobind::object(int64_t)> &tensor = nullptr);

/// The arguments of a run.
mlir::DictionaryAttr toDictionary(nanobind::dict values, Context &context, const std::string &what);

/// Raises ArgumentValueError if the text is no type.
mlir::Type toType(const std::string &text, mlir::MLIRContext *context);

void bindAttributes(nanobind::module_ &m);

} // namespace inlay::python

#endif // INLAY_PYTHON_ATTRIBUTES_H
