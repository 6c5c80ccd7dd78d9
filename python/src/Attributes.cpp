// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Attributes.h"
#include "Errors.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Support/ToText.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace mlir;
using namespace inlay;
using namespace inlay::python;

/// Returns true if all elements are integers and there is at least one.
static bool areIntegers(nb::handle list) {
  bool some = false;
  for (nb::handle element : list) {
    if (!PyLong_Check(element.ptr()) || PyBool_Check(element.ptr()))
      return false;
    some = true;
  }
  return some;
}

static int64_t toInteger(nb::handle value, const std::string &what) {
  int overflow = 0;
  int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow)
    raiseError("ArgumentValueError", "expected " + what + " to fit 64 bits, but got " + nb::str(value).c_str());
  return number;
}

Attribute python::toAttribute(nb::handle value, Context &context, const std::string &what,
                              const std::function<Attribute(Value)> &tensor) {
  Builder builder(&context.context);
  if (value.is_none())
    return builder.getUnitAttr();
  if (PyBool_Check(value.ptr()))
    return builder.getBoolAttr(value.is(nb::handle(Py_True)));
  if (PyLong_Check(value.ptr()))
    return builder.getI64IntegerAttr(toInteger(value, what));
  if (PyFloat_Check(value.ptr()))
    return builder.getF64FloatAttr(PyFloat_AsDouble(value.ptr()));
  if (PyUnicode_Check(value.ptr()))
    return builder.getStringAttr(nb::cast<std::string>(value));
  if (nb::isinstance<AttributeHandle>(value))
    return nb::cast<AttributeHandle &>(value).attribute;
  if (tensor && nb::isinstance<ValueHandle>(value))
    return tensor(nb::cast<ValueHandle &>(value).get());
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    if (areIntegers(value)) {
      SmallVector<int64_t> numbers;
      for (nb::handle element : value)
        numbers.push_back(toInteger(element, what));
      return builder.getDenseI64ArrayAttr(numbers);
    }
    SmallVector<Attribute> elements;
    for (nb::handle element : value)
      elements.push_back(toAttribute(element, context, what, tensor));
    return builder.getArrayAttr(elements);
  }
  if (PyDict_Check(value.ptr())) {
    NamedAttrList entries;
    for (auto [key, element] : nb::borrow<nb::dict>(value)) {
      if (!PyUnicode_Check(key.ptr()) || nb::len(key) == 0)
        raiseError("ArgumentTypeError", "expected names in " + what + ", but got " + nb::repr(key).c_str());
      entries.set(nb::cast<std::string>(key), toAttribute(element, context, what, tensor));
    }
    return entries.getDictionary(&context.context);
  }
  nb::object plain = nb::module_::import_("inlay._graph.values").attr("encode")(value, what);
  return toAttribute(plain, context, what, tensor);
}

DictionaryAttr python::toDictionary(nb::dict values, Context &context, const std::string &what) {
  NamedAttrList entries;
  for (auto [key, value] : values) {
    if (!PyUnicode_Check(key.ptr()) || nb::len(key) == 0)
      raiseError("ArgumentTypeError", "expected names as keys of " + what + ", but got " + nb::repr(key).c_str());
    std::string name = nb::cast<std::string>(key);
    entries.set(name, toAttribute(value, context, what + " '" + name + "'"));
  }
  return entries.getDictionary(&context.context);
}

nb::object python::fromAttribute(Attribute attribute, const std::shared_ptr<Context> &context, bool structure,
                                 const std::function<nb::object(int64_t)> &tensor) {
  auto again = [&](Attribute nested) { return fromAttribute(nested, context, structure, tensor); };
  if (isa<UnitAttr>(attribute))
    return structure ? nb::none() : nb::cast(true);
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return nb::cast(flag.getValue());
  if (auto number = dyn_cast<IntegerAttr>(attribute); number && number.getValue().getSignificantBits() <= 64)
    return nb::cast(number.getType().isUnsignedInteger() ? static_cast<int64_t>(number.getValue().getZExtValue())
                                                         : number.getValue().getSExtValue());
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return nb::cast(number.getValueAsDouble());
  if (auto text = dyn_cast<StringAttr>(attribute))
    return nb::cast(text.getValue().str());
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    nb::list list;
    for (int64_t number : numbers.asArrayRef())
      list.append(number);
    return list;
  }
  if (auto elements = dyn_cast<ArrayAttr>(attribute)) {
    nb::list list;
    for (Attribute element : elements)
      list.append(again(element));
    return list;
  }
  if (auto entries = dyn_cast<DictionaryAttr>(attribute)) {
    nb::dict dict;
    for (NamedAttribute entry : entries)
      dict[entry.getName().str().c_str()] = again(entry.getValue());
    return dict;
  }
  if (auto number = dyn_cast<TensorAttr>(attribute); number && tensor)
    return tensor(number.getNumber());
  if (isa<TypeAttr>(attribute)) {
    nb::object dtype = nb::module_::import_("inlay._graph.values").attr("decode")(toText(attribute));
    if (!dtype.is_none())
      return dtype;
  }
  return nb::cast(AttributeHandle{context, attribute});
}

Type python::toType(const std::string &text, MLIRContext *context) {
  Diagnostics diagnostics(context);
  if (Type type = parseType(text, context))
    return type;
  raiseError("ArgumentValueError", "expected a type like 'tensor<4x8xf32>', but got '" + text + "'" +
                                       (diagnostics.str().empty() ? "" : ": " + diagnostics.str()));
}

void python::bindAttributes(nb::module_ &m) {
  nb::class_<AttributeHandle>(m, "Attribute")
      .def("__init__",
           [](AttributeHandle *self, const std::string &text) {
             auto context = Context::get();
             Diagnostics diagnostics(&context->context);
             Attribute attribute = parseAttribute(text, &context->context);
             if (!attribute)
               raiseError("ArgumentValueError", "expected an attribute, but got '" + text + "': " + diagnostics.str());
             new (self) AttributeHandle{context, attribute};
           })
      .def("__str__", [](const AttributeHandle &self) { return toText(self.attribute); })
      .def("__repr__", [](const AttributeHandle &self) { return "Attribute('" + toText(self.attribute) + "')"; })
      .def("__eq__",
           [](const AttributeHandle &self, nb::handle other) {
             return nb::isinstance<AttributeHandle>(other) &&
                    nb::cast<AttributeHandle &>(other).attribute == self.attribute;
           })
      .def("__hash__", [](const AttributeHandle &self) {
        return reinterpret_cast<intptr_t>(self.attribute.getAsOpaquePointer()) >> 4;
      });
}
