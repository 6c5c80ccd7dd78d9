// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binds graphs and handles for Python. inlay._graph.module wraps them in a convenient interface.

#include "Attributes.h"
#include "Errors.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Support/Extract.h"
#include "inlay/Support/ToText.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;
using namespace inlay;
using namespace inlay::python;

namespace {

template <typename Range>
nb::list listOf(Graph &graph, Range &&things) {
  nb::list list;
  for (auto thing : things)
    list.append(graph.handle(thing));
  return list;
}

nb::list listOps(Graph &graph) {
  nb::list list;
  graph.get()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<ModuleOp, func::FuncOp, func::ReturnOp>(op))
      list.append(graph.handle(op));
  });
  return list;
}

nb::list listFunctions(Graph &graph) {
  nb::list list;
  for (auto function : graph.get().getOps<func::FuncOp>())
    list.append(function.getName().str());
  return list;
}

/// Returns the ops that use the value, without duplicates, in the order of their block. A function's return does not
/// count.
nb::list listUsers(const ValueHandle &self) {
  Value value = self.get();
  llvm::SetVector<Operation *> users;
  for (Operation *user : value.getUsers())
    if (!isa<func::ReturnOp>(user))
      users.insert(user);
  SmallVector<Operation *> sorted = users.takeVector();
  if (llvm::all_of(sorted, [&](Operation *user) { return user->getBlock() == sorted.front()->getBlock(); }))
    llvm::sort(sorted, [](Operation *left, Operation *right) { return left->isBeforeInBlock(right); });
  return listOf(*self.owner.graph, sorted);
}

nb::object getShape(const ValueHandle &self) {
  auto type = dyn_cast<RankedTensorType>(self.get().getType());
  if (!type)
    return nb::none();
  nb::list dims;
  for (int64_t dim : type.getShape())
    dims.append(ShapedType::isDynamic(dim) ? -1 : dim);
  return nb::tuple(dims);
}

std::string getElement(const ValueHandle &self) { return toText(getElementTypeOrSelf(self.get().getType())); }

std::string getLocation(const OpHandle &self) {
  auto file = self.get()->getLoc()->findInstanceOf<FileLineColLoc>();
  return file ? (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str()
              : std::string();
}

std::string getValueName(const ValueHandle &self) {
  Value value = self.get();
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument) {
    Operation *op = value.getDefiningOp();
    std::string name = self.owner.graph->getName(op).str();
    return op->getNumResults() == 1 ? name : name + ":" + std::to_string(self.number);
  }
  StringRef name = getLocationName(argument.getLoc());
  return name.empty() ? "arg" + std::to_string(argument.getArgNumber()) : name.str();
}

bool isInput(const ValueHandle &self) {
  auto argument = dyn_cast<BlockArgument>(self.get());
  return argument && isa_and_nonnull<func::FuncOp>(argument.getOwner()->getParentOp());
}

bool isOutput(const ValueHandle &self) {
  return llvm::any_of(self.get().getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); });
}

nb::dict getAttributes(const OpHandle &self) {
  nb::dict dict;
  for (NamedAttribute attribute : self.get()->getAttrs())
    dict[attribute.getName().str().c_str()] = fromAttribute(attribute.getValue(), self.graph->shareContext());
  return dict;
}

nb::object getAttribute(const OpHandle &self, const std::string &name) {
  Attribute attribute = self.get()->getAttr(name);
  return attribute ? fromAttribute(attribute, self.graph->shareContext()) : nb::none();
}

/// Extracts the ops to a separate module. Returns its text, and the values that are the arguments and the results of
/// its only function.
nb::tuple extract(Graph &graph, const std::vector<OpHandle> &handles) {
  SmallVector<Operation *> ops;
  for (const OpHandle &handle : handles)
    ops.push_back(handle.get());
  if (ops.empty() || llvm::any_of(ops, [&](Operation *op) { return op->getBlock() != ops.front()->getBlock(); }))
    raiseError("ArgumentValueError", "expected one or more ops of one block");
  llvm::sort(ops, [](Operation *left, Operation *right) { return left->isBeforeInBlock(right); });
  OwningOpRef<ModuleOp> module = ModuleOp::create(graph.get().getLoc());
  Extracted extracted = extractFunction(ops, graph.get().getLoc(), "forward");
  extracted.function.setPublic();
  module->push_back(extracted.function);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().enableDebugInfo());
  return nb::make_tuple(text, listOf(graph, extracted.arguments), listOf(graph, extracted.results));
}

/// Returns the key of a constant, or its elements as bytes with one byte per bool. Returns None for an op that is not a
/// constant.
nb::object getConstant(const OpHandle &self) {
  Attribute value;
  if (!matchPattern(self.get(), m_Constant(&value)))
    return nb::none();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return nb::cast(resource.getRawHandle().getKey().str());
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || !dense.getElementType().isIntOrFloat())
    return nb::none();
  unsigned width = llvm::divideCeil(dense.getElementType().getIntOrFloatBitWidth(), 8);
  std::string bytes;
  auto append = [&](const APInt &bits) {
    uint64_t word = bits.getZExtValue();
    bytes.append(reinterpret_cast<const char *>(&word), width); // Little-endian, like all supported hosts.
  };
  if (isa<FloatType>(dense.getElementType()))
    for (const APFloat &number : dense.getValues<APFloat>())
      append(number.bitcastToAPInt());
  else
    for (const APInt &number : dense.getValues<APInt>())
      append(number);
  return nb::bytes(bytes.data(), bytes.size());
}

/// Returns value `number`. Negative numbers are rejected; the caller names the kind of value in `what`.
Value pick(ValueRange values, size_t number, const OpHandle &op, const char *what) {
  if (number < values.size())
    return values[number];
  raiseError("ArgumentValueError", "expected the number of an " + std::string(what) + " of '" +
                                       op.get()->getName().getStringRef().str() + "', which has " +
                                       std::to_string(values.size()) + ", but got " + std::to_string(number));
}

void bindOp(nb::module_ &m) {
  nb::class_<OpHandle>(m, "Op")
      .def_prop_ro("graph", [](const OpHandle &self) { return self.graph; })
      .def_prop_ro("kind", [](const OpHandle &self) { return self.get()->getName().getStringRef().str(); })
      .def_prop_ro("reported_kind", [](const OpHandle &self) { return getReportedName(self.get()).str(); })
      .def_prop_ro("name", [](const OpHandle &self) { return self.graph->getName(self.get()).str(); })
      .def("rename", [](const OpHandle &self, const std::string &name) { self.graph->rename(self.get(), name); })
      .def_prop_ro("location", &getLocation)
      .def_prop_ro("operands", [](const OpHandle &self) { return listOf(*self.graph, self.get()->getOperands()); })
      .def_prop_ro("results", [](const OpHandle &self) { return listOf(*self.graph, self.get()->getResults()); })
      .def("operand", [](const OpHandle &self,
                         size_t n) { return self.graph->handle(pick(self.get()->getOperands(), n, self, "input")); })
      .def("result", [](const OpHandle &self,
                        size_t n) { return self.graph->handle(pick(self.get()->getResults(), n, self, "output")); })
      .def_prop_ro("attributes", &getAttributes)
      .def("attribute", &getAttribute)
      .def(
          "set_attribute",
          [](const OpHandle &self, const std::string &name, nb::handle value) {
            self.graph->setAttribute(self, name, value);
          },
          "name"_a, "value"_a.none())
      .def_prop_ro("constant", &getConstant)
      .def_prop_ro("regions", [](const OpHandle &self) { return self.get()->getNumRegions(); })
      .def("mark_removed", [](const OpHandle &self, bool regions) { self.graph->markRemoved(self, regions); })
      .def_prop_ro("is_live", &OpHandle::isLive)
      .def_prop_ro("is_removed",
                   [](const OpHandle &self) { return !self.isLive() || self.graph->isMarkedRemoved(self.get()); })
      .def("__str__", [](const OpHandle &self) { return toText<Operation &>(*self.get()); })
      .def("__eq__",
           [](const OpHandle &self, nb::handle other) {
             return nb::isinstance<OpHandle>(other) && nb::cast<OpHandle &>(other) == self;
           })
      .def("__hash__", [](const OpHandle &self) { return reinterpret_cast<intptr_t>(self.cell.get()) >> 4; });
}

void bindValue(nb::module_ &m) {
  nb::class_<ValueHandle>(m, "Value")
      .def_prop_ro("graph", [](const ValueHandle &self) { return self.owner.graph; })
      .def_prop_ro("name", &getValueName)
      .def_prop_ro("type", [](const ValueHandle &self) { return toText(self.get().getType()); })
      .def_prop_ro("shape", &getShape)
      .def_prop_ro("element", &getElement)
      .def_prop_ro("parent",
                   [](const ValueHandle &self) -> nb::object {
                     Operation *op = self.get().getDefiningOp();
                     return op ? nb::cast(self.owner.graph->handle(op)) : nb::none();
                   })
      .def_prop_ro("number", [](const ValueHandle &self) { return self.number; })
      .def_prop_ro("users", &listUsers)
      .def_prop_ro("is_input", &isInput)
      .def_prop_ro("is_output", &isOutput)
      .def_prop_ro("is_live", [](const ValueHandle &self) { return self.owner.isLive(); })
      .def("__eq__",
           [](const ValueHandle &self, nb::handle other) {
             return nb::isinstance<ValueHandle>(other) && nb::cast<ValueHandle &>(other) == self;
           })
      .def("__hash__", [](const ValueHandle &self) {
        return static_cast<intptr_t>(llvm::hash_combine(self.owner.cell.get(), self.region, self.block, self.number)) >>
               4;
      });
}

} // namespace

void python::bindGraph(nb::module_ &m) {
  bindAttributes(m);
  bindOp(m);
  bindValue(m);
  nb::class_<Graph>(m, "Graph", nb::dynamic_attr())
      .def_static("parse", &Graph::parse, "text"_a, "name"_a = "<input>")
      .def("text", &Graph::print, "locations"_a)
      .def("verify", &Graph::verify)
      .def("extract", &extract, "ops"_a)
      .def("ops", &listOps)
      .def("functions", &listFunctions)
      .def("inputs",
           [](Graph &self, const std::string &function) {
             return listOf(self, self.getFunction(function).getArguments());
           })
      .def("outputs",
           [](Graph &self, const std::string &function) {
             return listOf(self, self.getFunction(function).getBody().back().getTerminator()->getOperands());
           })
      .def("find",
           [](Graph &self, const std::string &name) -> nb::object {
             Operation *op = self.find(name);
             return op ? nb::cast(self.handle(op)) : nb::none();
           })
      .def("begin", &Graph::begin)
      .def("end", &Graph::end, "keep"_a)
      .def("push_insertion_point", &Graph::pushInsertionPoint, "op"_a, "after"_a)
      .def("pop_insertion_point", &Graph::popInsertionPoint)
      .def("create", &Graph::create, "name"_a, "operands"_a, "attributes"_a, "results"_a.none())
      .def("add_input", &Graph::addInput, "name"_a, "type"_a)
      .def("mark_output", &Graph::markOutput, "value"_a)
      .def("move_uses", &Graph::moveUses, "old"_a, "new"_a, "keep"_a, "retype"_a);
}
