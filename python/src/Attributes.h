// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts attributes to Python values and back. An attribute without a Python equivalent is an AttributeHandle.

#ifndef INLAY_PYTHON_ATTRIBUTES_H
#define INLAY_PYTHON_ATTRIBUTES_H

#include "Graph.h"

#include <functional>

namespace inlay::python {

struct AttributeHandle {
  std::shared_ptr<Context> context;
  mlir::Attribute attribute;
};

/// Converts a Python value. Raises an ArgumentTypeError that names `what` if no attribute represents it. `tensor`
/// converts tensors; without it they are errors.
mlir::Attribute toAttribute(nanobind::handle value, Context &context, const std::string &what,
                            const std::function<mlir::Attribute(mlir::Value)> &tensor = nullptr);

/// Converts an attribute to a Python value. `tensor` returns the object for the number of a tensor. A unit attribute is
/// None in a `structure`, else True.
nanobind::object fromAttribute(mlir::Attribute attribute, const std::shared_ptr<Context> &context,
                               bool structure = false,
                               const std::function<nanobind::object(int64_t)> &tensor = nullptr);

/// Converts the arguments of a run.
mlir::DictionaryAttr toDictionary(nanobind::dict values, Context &context, const std::string &what);

/// Parses a type. Raises an ArgumentValueError if the text is not a type.
mlir::Type toType(const std::string &text, mlir::MLIRContext *context);

void bindAttributes(nanobind::module_ &m);

} // namespace inlay::python

#endif // INLAY_PYTHON_ATTRIBUTES_H
