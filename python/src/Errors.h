// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Raises exceptions of inlay.errors from C++.

#ifndef INLAY_PYTHON_ERRORS_H
#define INLAY_PYTHON_ERRORS_H

#include <nanobind/nanobind.h>

#include <string>

namespace inlay::python {

/// Raises the exception with that name in inlay.errors.
[[noreturn]] inline void raiseError(const char *name, const std::string &message) {
  namespace nb = nanobind;
  nb::object error = nb::module_::import_("inlay.errors").attr(name)(message);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

} // namespace inlay::python

#endif // INLAY_PYTHON_ERRORS_H
