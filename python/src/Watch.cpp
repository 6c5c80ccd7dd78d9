// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check at each call that Python values are still the same objects. python/inlay/_program/watch.py explains
// differences.

#include "Watch.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// Returns true if the entry of a dict or the attribute of another object is `expected`. Counts no references of the
/// entry, because that would load memory that nothing else needs.
bool isSame(PyObject *owner, PyObject *key, PyObject *expected) {
  if (PyDict_Check(owner)) {
    PyObject *entry = PyDict_GetItemWithError(owner, key);
    return entry ? entry == expected : (PyErr_Clear(), false);
  }
  nb::object value = nb::steal(PyObject_GetAttr(owner, key));
  if (!value.is_valid())
    PyErr_Clear();
  return value.ptr() == expected;
}

/// Returns true if each entry or attribute is the object in `values`.
bool hasSameValues(nb::tuple owners, nb::tuple keys, nb::tuple values) {
  if (owners.size() != values.size() || keys.size() != values.size())
    return false;
  for (Py_ssize_t i = 0, count = Py_ssize_t(values.size()); i < count; ++i)
    if (!isSame(PyTuple_GetItem(owners.ptr(), i), PyTuple_GetItem(keys.ptr(), i), PyTuple_GetItem(values.ptr(), i)))
      return false;
  return true;
}

/// Returns true if a dict holds the keys and values that `expected` holds in turn.
bool hasSameEntries(PyObject *dict, PyObject *expected) {
  if (PyDict_Size(dict) * 2 != PyTuple_Size(expected))
    return false;
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  for (Py_ssize_t i = 0; PyDict_Next(dict, &position, &key, &value); i += 2) {
    PyObject *wanted = PyTuple_GetItem(expected, i + 1);
    if (key != PyTuple_GetItem(expected, i) || (value != wanted && wanted != Py_Ellipsis))
      return false;
  }
  return true;
}

/// Returns true if a dict of a subclass holds the keys and values that `expected` holds in turn. Such a dict may have
/// an order of its own, as an OrderedDict has.
bool hasSameEntriesInOrder(nb::handle dict, PyObject *expected) {
  Py_ssize_t number = 0, count = PyTuple_Size(expected);
  try {
    for (nb::handle entry : dict.attr("items")()) {
      if (number == count || entry[0].ptr() != PyTuple_GetItem(expected, number))
        return false;
      PyObject *wanted = PyTuple_GetItem(expected, number + 1);
      if (entry[1].ptr() != wanted && wanted != Py_Ellipsis)
        return false;
      number += 2;
    }
  } catch (nb::python_error &) { // The dict changed while it was read, or its class raised an error.
    return false;
  }
  return number == count;
}

/// Returns true if a container other than a dict holds the objects of `expected`.
bool hasSameItems(nb::handle container, PyObject *expected) {
  Py_ssize_t number = 0, count = PyTuple_Size(expected);
  try {
    for (nb::handle item : container) {
      if (number == count || item.ptr() != PyTuple_GetItem(expected, number))
        return false;
      ++number;
    }
  } catch (nb::python_error &) { // The container changed while it was read.
    return false;
  }
  return number == count;
}

/// Returns true if each container holds the objects in the tuple at the same place of `contents`, in that order. The
/// tuple of a dict holds its keys and values in turn; an Ellipsis stands for any value.
bool hasSameContents(nb::tuple containers, nb::tuple contents) {
  if (containers.size() != contents.size())
    return false;
  for (Py_ssize_t i = 0, count = Py_ssize_t(contents.size()); i < count; ++i) {
    PyObject *container = PyTuple_GetItem(containers.ptr(), i), *expected = PyTuple_GetItem(contents.ptr(), i);
    bool isSame = PyDict_CheckExact(container) ? hasSameEntries(container, expected)
                  : PyDict_Check(container)    ? hasSameEntriesInOrder(container, expected)
                                               : hasSameItems(container, expected);
    if (!isSame)
      return false;
  }
  return true;
}

/// Returns true if all dicts are empty.
bool areEmpty(nb::tuple dicts) {
  for (Py_ssize_t i = 0, count = Py_ssize_t(dicts.size()); i < count; ++i)
    if (PyDict_Size(PyTuple_GetItem(dicts.ptr(), i)) != 0)
      return false;
  return true;
}

} // namespace

void inlay::python::bindWatch(nb::module_ &m) {
  m.def("has_same_values", &hasSameValues, "owners"_a, "keys"_a, "values"_a);
  m.def("has_same_contents", &hasSameContents, "containers"_a, "contents"_a);
  m.def("are_empty", &areEmpty, "dicts"_a);
}
