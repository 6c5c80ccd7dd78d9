// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern managers for Python. MLIR calls the Python functions of patterns and does not support exceptions. An
// exception is therefore stored, ends the run as an error of the rewriter, and is raised again outside MLIR. The Python
// manager owns the functions, so that the garbage collector sees all references.

#include "Attributes.h"
#include "Errors.h"
#include "InterpreterLock.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Rewrite/AnalysisPatternManager.h"
#include "inlay/Rewrite/Explain.h"
#include "inlay/Rewrite/Library.h"
#include "inlay/Rewrite/RuleCheck.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include "llvm/Support/raw_ostream.h"

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

/// One run of a manager. Python functions find the current graph and arguments here.
struct Run {
  Run(Graph &graph, DictionaryAttr args) : graph(graph), args(args), outer(current) { current = this; }
  ~Run() { current = outer; }

  /// Stores an exception that a Python function raised and adds a note with the location.
  std::string keep(nb::python_error &raised, const std::string &label, Operation *op) {
    std::string where = "in pattern '" + label + "'";
    if (op)
      where += (" at '" + op->getName().getStringRef() + "' \"" + graph.getName(op) + "\"").str();
    nb::object value = nb::borrow(raised.value());
    if (nb::hasattr(value, "add_note"))
      value.attr("add_note")(where);
    std::string text = std::string(nb::cast<std::string>(nb::str(nb::borrow(raised.type()).attr("__name__")))) + ": " +
                       nb::cast<std::string>(nb::str(value));
    error.emplace(std::move(raised));
    return text;
  }

  /// Calls `function`, which may raise. Returns false if it or an earlier function raised.
  template <typename Function>
  bool call(const std::string &label, Operation *op, std::string &why, Function function) {
    if (error) {
      why = "another function raised";
      return false;
    }
    try {
      function();
      return true;
    } catch (nb::python_error &raised) {
      why = keep(raised, label, op);
    } catch (const std::exception &raised) {
      why = raised.what();
      PyErr_SetString(PyExc_RuntimeError, raised.what());
      nb::python_error again;
      keep(again, label, op);
    }
    return false;
  }

  void rethrow() {
    if (error)
      throw nb::python_error(std::move(*error));
  }

  Graph &graph;
  DictionaryAttr args;
  std::optional<nb::python_error> error;
  Run *outer;
  static thread_local Run *current;
};

thread_local Run *Run::current = nullptr;

constexpr const char *kMatching =
    "a pattern must not change the graph while it matches or analyzes: do it in 'rewrite'";

/// A pattern that is a Python class. `match(op)` returns True, False, the reason of a failure as a string, or the
/// matched ops. `rewrite(op)` returns true if it changed the graph.
class PythonPattern : public PatternAnalyzer {
public:
  struct Functions {
    nb::handle match, rewrite, matchAndRewrite, analyze; ///< Owned by the Python manager; null for none.
  };

  PythonPattern(std::string label, RootSet roots, unsigned benefit, Functions functions)
      : PatternAnalyzer(std::move(roots), benefit), label(std::move(label)), functions(functions) {}

  PatternAnalyzer *asAnalyzer() override { return functions.analyze.is_valid() ? this : nullptr; }

  LogicalResult match(Operation *op, Match &match, const MatchContext &context) const override {
    if (!functions.match.is_valid())
      return context.fail("the pattern doesn't override match");
    Run &run = *Run::current;
    Graph::Scope scope(run.graph, nullptr, op, kMatching);
    std::string why;
    bool matches = false;
    run.call(label, op, why, [&] {
      nb::object result = functions.match(run.graph.handle(op));
      if (nb::isinstance<nb::str>(result)) {
        why = nb::cast<std::string>(result);
      } else if (nb::isinstance<nb::list>(result)) {
        matches = true;
        for (nb::handle matched : result)
          match.ops.push_back(nb::cast<OpHandle &>(matched).get());
      } else {
        matches = nb::cast<bool>(result);
      }
    });
    return matches ? success() : why.empty() ? failure() : context.fail(why);
  }

  LogicalResult rewrite(const Match &match, GraphRewriter &rewriter) const override {
    return change(functions.rewrite, match.root, rewriter);
  }

  LogicalResult matchAndRewrite(Operation *op, GraphRewriter &rewriter, const MatchContext &context) const override {
    if (functions.matchAndRewrite.is_valid())
      return change(functions.matchAndRewrite, op, rewriter);
    return GraphPattern::matchAndRewrite(op, rewriter, context);
  }

  void analyze(const Match &match) override {
    Run &run = *Run::current;
    Graph::Scope scope(run.graph, nullptr, match.root, kMatching);
    std::string why;
    run.call(label, match.root, why, [&] {
      nb::list ops;
      for (Operation *op : match.ops)
        ops.append(run.graph.handle(op));
      functions.analyze(ops);
    });
  }

private:
  LogicalResult change(nb::handle function, Operation *op, GraphRewriter &rewriter) const {
    Run &run = *Run::current;
    Graph::Scope scope(run.graph, &rewriter, op);
    std::string why;
    bool changed = false;
    if (!run.call(label, op, why, [&] { changed = nb::cast<bool>(function(run.graph.handle(op))); }))
      rewriter.refuse(why);
    else if (changed)
      scope.finish();
    return success(changed && !rewriter.hasError());
  }

  std::string label;
  Functions functions;
};

nb::object toPython(Graph &graph, const PDLValue &value) {
  if (!value)
    return nb::none();
  if (auto *op = value.dyn_cast<Operation *>())
    return nb::cast(graph.handle(op));
  if (auto tensor = value.dyn_cast<Value>())
    return nb::cast(graph.handle(tensor));
  if (auto attribute = value.dyn_cast<Attribute>())
    return fromAttribute(attribute, graph.shareContext());
  nb::list list;
  if (auto values = value.dyn_cast<ValueRange>())
    for (Value element : *values)
      list.append(graph.handle(element));
  return list;
}

/// Wraps a Python function as a constraint. It returns True, False, or the reason of a failure as a string.
NativeFunction makeConstraint(std::string label, nb::handle function) {
  return [label = std::move(label), function](NativeCall &call) -> LogicalResult {
    Run &run = *Run::current;
    Graph::Scope scope(run.graph, nullptr, nullptr, kMatching);
    Operation *op = nullptr;
    if (auto value = call.get<Value>(0))
      op = value.getDefiningOp();
    std::string why;
    bool holds = false;
    run.call(label, op, why, [&] {
      nb::list operands;
      for (const PDLValue &operand : call.operands)
        operands.append(toPython(run.graph, operand));
      nb::object result = function(operands);
      if (nb::isinstance<nb::str>(result))
        why = nb::cast<std::string>(result);
      else
        holds = nb::cast<bool>(result);
    });
    return holds ? success() : why.empty() ? failure() : call.fail(why);
  };
}

nb::object toPython(Graph &graph, const Capture &capture) {
  return std::visit(
      [&](const auto &thing) -> nb::object {
        using T = std::decay_t<decltype(thing)>;
        if constexpr (std::is_same_v<T, Operation *>) {
          return nb::cast(graph.handle(thing));
        } else if constexpr (std::is_same_v<T, Value>) {
          return nb::cast(graph.handle(thing));
        } else if constexpr (std::is_same_v<T, Attribute>) {
          return fromAttribute(thing, graph.shareContext());
        } else if constexpr (std::is_same_v<T, SmallVector<Value>>) {
          nb::list list;
          for (Value element : thing)
            list.append(graph.handle(element));
          return list;
        } else {
          return nb::none();
        }
      },
      capture);
}

/// Interfaces and traits by which a pattern may select its roots.
const std::pair<const char *, bool (*)(OperationName)> kInterfaces[] = {
    {"pointwise", [](OperationName name) { return name.hasInterface<PointwiseOpInterface>(); }},
    {"aten_named", [](OperationName name) { return name.hasInterface<AtenNamedOpInterface>(); }},
    {"infer_type", [](OperationName name) { return name.hasInterface<InferTypeOpInterface>(); }},
    {"memory_effects", [](OperationName name) { return name.hasInterface<MemoryEffectOpInterface>(); }},
    {"region_branch", [](OperationName name) { return name.hasInterface<RegionBranchOpInterface>(); }},
    {"loop_like", [](OperationName name) { return name.hasInterface<LoopLikeOpInterface>(); }},
    {"constant_like", [](OperationName name) { return name.hasTrait<OpTrait::ConstantLike>(); }},
    {"commutative", [](OperationName name) { return name.hasTrait<OpTrait::IsCommutative>(); }},
};

RootSet makeRoots(std::vector<std::string> names, const std::vector<std::string> &interfaces) {
  RootSet roots;
  if (names.empty() && interfaces.empty()) {
    roots.accepts = [](OperationName name) {
      return name.getStringRef() != "func.func" && name.getStringRef() != "func.return";
    };
    return roots;
  }
  roots.names.assign(names.begin(), names.end());
  SmallVector<bool (*)(OperationName)> accepts;
  for (const std::string &interface : interfaces)
    for (auto [name, accept] : kInterfaces)
      if (interface == name)
        accepts.push_back(accept);
  if (!accepts.empty())
    roots.accepts = [accepts](OperationName name) {
      return llvm::any_of(accepts, [&](auto accept) { return accept(name); });
    };
  return roots;
}

RewriteDriver toDriver(const std::string &name) {
  return name == "sweep" ? RewriteDriver::Sweep : name == "greedy" ? RewriteDriver::Greedy : RewriteDriver::Fixpoint;
}

void raiseIf(llvm::Error error) {
  if (error)
    raiseError("ArgumentValueError", llvm::toString(std::move(error)));
}

/// A checker that can expand the plugins of Inlay's libraries.
class Checker {
public:
  Checker(Context &context, nb::dict args) {
    raiseIf(inlay::addLibrary(meanings, "expansions", &context.context));
    RuleCheckOptions options;
    options.args = toDictionary(args, context, "argument");
    options.meanings = &meanings;
    checker.emplace(*GraphRunner::get(&context.context), options);
  }

  RuleChecker &operator*() { return *checker; }
  RuleChecker *operator->() { return &*checker; }

private:
  RewritePatternManager meanings;
  std::optional<RuleChecker> checker;
};

/// Draws graph `number` that a PDL pattern matches. Returns its text and the size that stands for its unknown sizes, or
/// None and the reason why there is none.
nb::tuple drawGraph(const std::string &pdl, nb::dict args, unsigned number) {
  std::shared_ptr<Context> context = Context::get();
  RewritePatternManager manager;
  raiseIf(manager.addPDL(pdl, "<example>", &context->context));
  const PDLPattern &pattern = *manager.get(manager.getLabels().front())->asPDL();
  RuleChecker::Drawn drawn = Checker(*context, args)->draw(pattern, number);
  if (!drawn.module)
    return nb::make_tuple(nb::none(), drawn.whyNot);
  std::string text;
  llvm::raw_string_ostream stream(text);
  drawn.module->print(stream, OpPrintingFlags().enableDebugInfo());
  return nb::make_tuple(text, drawn.unknownSize);
}

/// Checks a pattern that changed `before` to `after`. Returns the error and the text of both graphs, empty if there is
/// no error, and true if the result is certain: not all graphs can be run.
nb::tuple compareGraphs(const std::string &label, Graph &before, Graph &after, nb::dict args, int64_t unknownSize) {
  RuleVerdict verdict =
      Checker(*before.shareContext(), args)->compareGraphs(before.get(), after.get(), label, unknownSize);
  return nb::make_tuple(verdict.text, verdict.instance, verdict.kind != RuleVerdict::CantRun);
}

class Manager {
public:
  Manager() : context(Context::get()) {}

  std::vector<std::string> addPDL(const std::string &text, const std::string &name, const std::string &prefix) {
    checkIdle();
    std::vector<std::string> before = labels();
    raiseIf(manager.addPDL(text, name, &context->context, prefix));
    std::vector<std::string> added;
    for (std::string &label : labels())
      if (!llvm::is_contained(before, label))
        added.push_back(std::move(label));
    return added;
  }

  /// Adds the rules of a library and returns their labels.
  std::vector<std::string> addLibrary(const std::string &name) {
    checkIdle();
    std::vector<std::string> before = labels(), added;
    raiseIf(inlay::addLibrary(manager, name, &context->context));
    for (std::string &label : labels())
      if (!llvm::is_contained(before, label))
        added.push_back(std::move(label));
    return added;
  }

  /// Runs a pattern that calls no Python function against its replacement. Returns the error and the graph that shows
  /// it, empty if the rule holds.
  nb::tuple check(const std::string &label, nb::dict args) {
    AtWork atWork(*this);
    Checker checker(*context, args);
    const GraphPattern &pattern = *manager.get(label);
    RuleVerdict verdict;
    {
      Unlocked unlocked;
      verdict = checker->checkPattern(pattern, label);
    }
    return nb::make_tuple(verdict.text, verdict.instance);
  }

  /// Adds a PDL pattern. `functions` are the constraints that the text calls, by name.
  void addTraced(const std::string &label, const std::string &text, std::optional<unsigned> benefit,
                 nb::dict functions) {
    checkIdle();
    for (auto [name, function] : functions) {
      manager.getFunctions().addConstraint(nb::cast<std::string>(name), makeConstraint(label, function));
      callsPython = true;
    }
    std::vector<std::unique_ptr<PDLPattern>> patterns;
    {
      Diagnostics diagnostics(&context->context);
      auto read = readPDL(text, label, &context->context, manager.getFunctions());
      if (failed(read) || read->size() != 1)
        raiseError("ArgumentValueError", "pattern '" + label + "' can't be read: " + diagnostics.str());
      patterns = std::move(*read);
    }
    raiseIf(manager.add(label, std::move(patterns.front()), benefit));
  }

  void addClass(const std::string &label, std::vector<std::string> names, const std::vector<std::string> &interfaces,
                unsigned benefit, nb::handle match, nb::handle rewrite, nb::handle both, nb::handle analyze) {
    checkIdle();
    auto orNull = [](nb::handle function) { return function.is_none() ? nb::handle() : function; };
    callsPython = true;
    raiseIf(
        manager.add(label, std::make_unique<PythonPattern>(label, makeRoots(std::move(names), interfaces), benefit,
                                                           PythonPattern::Functions{orNull(match), orNull(rewrite),
                                                                                    orNull(both), orNull(analyze)})));
  }

  std::vector<std::string> labels() const {
    std::vector<std::string> result;
    for (StringRef label : manager.getLabels())
      result.push_back(label.str());
    return result;
  }

  /// Returns the PDL text of a pattern that is not a class.
  std::string getPDL(const std::string &label) const { return manager.get(label)->asPDL()->getText(); }

  bool remove(const std::string &label) {
    checkIdle();
    return manager.remove(label);
  }

  bool isEnabled(const std::string &label) const { return manager.isEnabled(label); }

  unsigned setEnabled(const std::string &glob, bool enabled) {
    checkIdle();
    llvm::Expected<unsigned> count = manager.setEnabled(glob, enabled);
    if (!count)
      raiseIf(count.takeError());
    return *count;
  }

  nb::tuple statistics(const std::string &label) const {
    PatternStatistics counts = manager.getStatistics(label);
    return nb::make_tuple(counts.tried, counts.matched, counts.rewritten, counts.rejected);
  }

  /// Returns the number of rewrites and the trace as JSON, which is empty without `trace`.
  nb::tuple rewrite(const std::shared_ptr<Graph> &graph, nb::dict args, const std::string &driver, int64_t limit,
                    double budget, bool removeDeadCode, bool acrossSegments, bool trace, bool checkEach) {
    AtWork atWork(*this);
    Graph::Busy busy(*graph);
    llvm::json::Array firings;
    RewriteOptions options;
    options.args = toDictionary(args, *context, "argument");
    std::optional<Checker> checker;
    if (checkEach)
      options.checker = &*checker.emplace(*context, args);
    options.driver = toDriver(driver);
    options.limit = limit;
    options.budget = budget;
    options.removeDeadCode = removeDeadCode;
    options.acrossSegments = acrossSegments;
    options.trace = trace ? &firings : nullptr;
    // Handles must not be accessed without the interpreter lock. They are updated after the run; until then no other
    // thread can use them.
    std::vector<Operation *> freed;
    options.freeing = [&](Operation *op) {
      if (callsPython)
        graph->forget(op);
      else
        op->walk([&](Operation *gone) { freed.push_back(gone); });
    };
    Run run(*graph, options.args);
    if (callsPython) {
      graph->nameOnce();
      options.interrupted = [&] { return run.error ? std::string("a Python function raised") : std::string(); };
    }
    Diagnostics diagnostics(&context->context);
    ModuleOp module = graph->get();
    auto count = [&] {
      if (callsPython)
        return manager.rewrite(module, options);
      Unlocked unlocked;
      return manager.rewrite(module, options);
    }();
    for (Operation *gone : freed)
      graph->forgetOne(gone);
    graph->forgetSignatures();
    run.rethrow();
    if (failed(count))
      raiseError("RewriteError", diagnostics.str());
    std::string text;
    if (trace)
      llvm::raw_string_ostream(text) << llvm::json::Value(std::move(firings));
    return nb::make_tuple(*count, text);
  }

  /// Returns (label, ops, captures) of each match, or only of those at or below `op` if it is given.
  nb::list analyze(const std::shared_ptr<Graph> &graph, nb::dict args, const OpHandle *op) {
    AtWork atWork(*this);
    Graph::Busy busy(*graph);
    DictionaryAttr arguments = toDictionary(args, *context, "argument");
    Run run(*graph, arguments);
    Diagnostics diagnostics(&context->context);
    nb::list matches;
    auto found = [&](StringRef label, Match &match) {
      nb::list ops;
      for (Operation *matched : match.ops)
        ops.append(graph->handle(matched));
      nb::dict captures;
      for (const auto &[name, capture] : match.captures)
        captures[name.c_str()] = toPython(*graph, capture);
      matches.append(nb::make_tuple(label.str(), ops, captures));
      return !run.error;
    };
    LogicalResult result = success();
    if (!op) {
      result = manager.analyze(graph->get(), arguments, found);
    } else if (succeeded(result = manager.checkArgs(graph->get().getLoc(), arguments))) {
      MatchContext matchContext{arguments, /*acrossSegments=*/true, nullptr, nullptr};
      manager.analyzeAt(op->get(), matchContext, found);
    }
    run.rethrow();
    if (failed(result))
      raiseError("RewriteError", diagnostics.str());
    return matches;
  }

  /// Returns an explanation as a sentence and as JSON. Tries only `ops` as roots if they are given.
  nb::tuple explain(const std::string &label, const std::shared_ptr<Graph> &graph, nb::dict args,
                    std::optional<std::vector<OpHandle>> ops) {
    AtWork atWork(*this);
    Graph::Busy busy(*graph);
    DictionaryAttr arguments = toDictionary(args, *context, "argument");
    Run run(*graph, arguments);
    llvm::DenseSet<Operation *> wanted;
    for (const OpHandle &op : ops ? *ops : std::vector<OpHandle>())
      wanted.insert(op.get());
    Explanation explanation = inlay::explain(*manager.get(label), graph->get(), arguments, [&](Operation *op) {
      return ops ? wanted.contains(op) : !isa<func::FuncOp, func::ReturnOp>(op);
    });
    run.rethrow();
    std::string json;
    llvm::raw_string_ostream(json) << llvm::json::Value(explanation.json(label));
    return nb::make_tuple(explanation.str(label), json);
  }

private:
  /// Marks the manager as running. Its patterns must not change meanwhile.
  struct AtWork {
    explicit AtWork(Manager &manager) : manager(manager) {
      manager.checkIdle();
      manager.working = true;
    }
    ~AtWork() { manager.working = false; }
    Manager &manager;
  };

  void checkIdle() const {
    if (working)
      raiseError("RewriteError", "expected an idle pattern manager, but its patterns are running");
  }

  std::shared_ptr<Context> context;
  RewritePatternManager manager;
  bool callsPython = false, working = false;
};

} // namespace

void python::bindPatterns(nb::module_ &m) {
  nb::class_<Manager>(m, "PatternManager")
      .def(nb::init<>())
      .def("add_pdl", &Manager::addPDL, "text"_a, "name"_a, "prefix"_a)
      .def("add_traced", &Manager::addTraced, "label"_a, "text"_a, "benefit"_a.none(), "functions"_a)
      .def("add_class", &Manager::addClass, "label"_a, "names"_a, "interfaces"_a, "benefit"_a, "match"_a.none(),
           "rewrite"_a.none(), "match_and_rewrite"_a.none(), "analyze"_a.none())
      .def("add_library", &Manager::addLibrary, "name"_a)
      .def("check", &Manager::check, "label"_a, "args"_a)
      .def("labels", &Manager::labels)
      .def("pdl", &Manager::getPDL, "label"_a)
      .def("remove", &Manager::remove)
      .def("set_enabled", &Manager::setEnabled)
      .def("is_enabled", &Manager::isEnabled)
      .def("statistics", &Manager::statistics)
      .def("rewrite", &Manager::rewrite, "graph"_a, "args"_a, "driver"_a, "limit"_a, "budget"_a, "remove_dead_code"_a,
           "across_segments"_a, "trace"_a, "check_each"_a)
      .def("analyze", &Manager::analyze, "graph"_a, "args"_a, "op"_a.none())
      .def("explain", &Manager::explain, "label"_a, "graph"_a, "args"_a, "ops"_a.none());
  m.def("draw_graph", &drawGraph, "pdl"_a, "args"_a, "number"_a);
  m.def("compare_graphs", &compareGraphs, "label"_a, "before"_a, "after"_a, "args"_a, "unknown_size"_a);
  nb::list interfaces;
  for (auto [name, accept] : kInterfaces)
    interfaces.append(name);
  m.attr("root_interfaces") = interfaces;
}
