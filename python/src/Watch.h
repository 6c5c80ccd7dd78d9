// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check that Python values are still the same objects, for Python.

#ifndef INLAY_PYTHON_WATCH_H
#define INLAY_PYTHON_WATCH_H

#include <nanobind/nanobind.h>

namespace inlay::python {

void bindWatch(nanobind::module_ &m);

} // namespace inlay::python

#endif // INLAY_PYTHON_WATCH_H
