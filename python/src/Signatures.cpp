// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recorded calls for Python: recording them, and reading them from the current graph.

#include "Attributes.h"
#include "Errors.h"

#include "inlay/Rewrite/Signature.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;
using namespace inlay;
using namespace inlay::python;

namespace {

/// Records the ops that are built until it is closed. It must be closed before the enclosing transaction ends.
class Recorder {
public:
  Recorder(std::shared_ptr<Graph> owner, const std::string &function) : graph(std::move(owner)) {
    GraphRewriter &rewriter = graph->getRewriter();
    // Journals the module, because recording changes its table of calls.
    rewriter.startOpModification(graph->get());
    recorder = std::make_unique<SignatureRecorder>(rewriter, graph->get(), function);
  }

  void argument(const std::string &name, nb::handle structure) {
    get().argument(name, convert(structure, "argument '" + name + "'"));
  }

  void outputs(nb::handle structure) { get().outputs(convert(structure, "the outputs")); }

  void close() {
    if (!recorder)
      return;
    SmallVector<Operation *> ops(recorder->getOps());
    recorder.reset();
    for (Operation *op : ops)
      graph->noteCall(op);
  }

private:
  SignatureRecorder &get() {
    if (!recorder)
      raiseError("RewriteError", "expected a call that is being recorded, but it is closed");
    return *recorder;
  }

  Attribute convert(nb::handle structure, const std::string &what) {
    SignatureRecorder &open = get();
    return toAttribute(structure, *graph->shareContext(), what, [&](Value value) { return open.tensor(value); });
  }

  std::shared_ptr<Graph> graph;
  std::unique_ptr<SignatureRecorder> recorder;
};

/// Returns the key of the innermost call that `op` is part of, or None.
nb::object findCall(const OpHandle &op) {
  StringAttr call = getInnermostCall(op.get());
  return call ? nb::cast(call.getValue().str()) : nb::none();
}

/// Returns the record of `key` with its current tensors: function, parent, arguments, outputs, ops.
nb::dict readCall(Graph &graph, const std::string &key) {
  std::optional<Signature> call = graph.getSignatures().get(key);
  if (!call)
    raiseError("RewriteError", "expected a recorded call, but got '" + key + "'");
  nb::dict result;
  result["function"] = call->getFunction().str();
  result["parent"] = call->getParent().str();
  auto inputs = [&](int64_t number) { return graph.handleOrNone(call->getInputTensor(number)); };
  auto outputs = [&](int64_t number) { return graph.handleOrNone(call->getOutputTensor(number)); };
  result["arguments"] = fromAttribute(call->getArguments(), graph.shareContext(), /*structure=*/true, inputs);
  result["outputs"] =
      call->getOutputs() ? fromAttribute(call->getOutputs(), graph.shareContext(), true, outputs) : nb::none();
  nb::list ops;
  for (Operation *op : call->getOps())
    ops.append(graph.handle(op));
  result["ops"] = ops;
  return result;
}

nb::list listCalls(Graph &graph) {
  nb::list keys;
  const SignatureTable &table = graph.getSignatures();
  for (StringRef key : table.getKeys())
    if (!table.get(key)->getOps().empty())
      keys.append(key.str());
  return keys;
}

void replaceInput(Graph &graph, const std::string &key, const ValueHandle &from, const ValueHandle &to) {
  GraphRewriter &rewriter = graph.getRewriter();
  if (std::optional<Signature> call = graph.getSignatures().get(key))
    call->replaceInputWith(rewriter, from.get(), to.get());
  graph.checkRefusal();
}

} // namespace

void python::bindSignatures(nb::module_ &m) {
  nb::class_<Recorder>(m, "Recorder")
      .def(nb::init<std::shared_ptr<Graph>, const std::string &>(), "graph"_a, "function"_a)
      .def("argument", &Recorder::argument, "name"_a, "structure"_a.none())
      .def("outputs", &Recorder::outputs, "structure"_a.none())
      .def("close", &Recorder::close);
  m.def("find_call", &findCall, "op"_a);
  m.def("read_call", &readCall, "graph"_a, "key"_a);
  m.def("list_calls", &listCalls, "graph"_a);
  m.def("replace_call_input", &replaceInput, "graph"_a, "key"_a, "old"_a, "new"_a);
}
