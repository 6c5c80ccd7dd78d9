// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Graph.h"
#include "Attributes.h"
#include "Errors.h"
#include "Resources.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Execution/HostRunner.h"
#include "inlay/Rewrite/CreateOp.h"
#include "inlay/Support/Suggest.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

namespace nb = nanobind;
using namespace mlir;
using namespace inlay;
using namespace inlay::python;

//===-- Context, diagnostics ------------------------------------------------------------------------------------===//

Context::Context() : context(makeRewriteRegistry()) {
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
}

std::shared_ptr<Context> Context::get() {
  static std::weak_ptr<Context> shared; // Guarded by the interpreter lock.
  std::shared_ptr<Context> context = shared.lock();
  if (!context)
    shared = context = std::make_shared<Context>();
  return context;
}

Diagnostics::Diagnostics(MLIRContext *context)
    : handler(context, [this, thread = llvm::get_threadid()](Diagnostic &diagnostic) -> LogicalResult {
        if (llvm::get_threadid() != thread)
          return failure();
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return success();
        llvm::raw_string_ostream stream(text);
        if (!text.empty())
          stream << '\n';
        if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>(); file && file.getLine())
          stream << file.getFilename().getValue() << ':' << file.getLine() << ':' << file.getColumn() << ": ";
        if (StringRef name = getLocationName(diagnostic.getLocation()); !name.empty())
          stream << '\'' << name << "': ";
        stream << diagnostic;
        return success();
      }) {}

//===-- Handles -------------------------------------------------------------------------------------------------===//

OpCell::~OpCell() {
  if (op)
    graph.cells.erase(op);
}

void python::raiseErased(const char *what) {
  raiseError("ErasedError", std::string("expected ") + what +
                                " that is in its module, but it was removed; a handle is valid only as long as its op");
}

static bool isIn(Operation *op, Operation *module) {
  while (Operation *parent = op->getParentOp())
    op = parent;
  return op == module;
}

bool OpHandle::isLive() const { return cell->op && isIn(cell->op, graph->get()); }

Operation *OpHandle::get() const {
  if (!isLive())
    raiseErased("an op");
  return cell->op;
}

Value ValueHandle::get() const {
  if (!owner.isLive())
    raiseErased("a tensor");
  Operation *op = owner.cell->op;
  if (region < 0)
    return op->getResult(number);
  Region &blocks = op->getRegion(region);
  if (block >= static_cast<size_t>(llvm::range_size(blocks)))
    raiseErased("a tensor");
  Block &its = *std::next(blocks.begin(), block);
  if (number >= its.getNumArguments())
    raiseErased("a tensor");
  return its.getArgument(number);
}

OpHandle Graph::handle(Operation *op) {
  OpCell *&cell = cells[op];
  if (cell)
    return {shared_from_this(), cell->shared_from_this()};
  auto made = std::make_shared<OpCell>(*this, op);
  cell = made.get();
  return {shared_from_this(), std::move(made)};
}

ValueHandle Graph::handle(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    return {handle(result.getOwner()), -1, 0, result.getResultNumber()};
  auto argument = cast<BlockArgument>(value);
  Region *region = argument.getOwner()->getParent();
  auto block = std::distance(region->begin(), Region::iterator(argument.getOwner()));
  return {handle(region->getParentOp()), static_cast<int>(region->getRegionNumber()), static_cast<unsigned>(block),
          argument.getArgNumber()};
}

nb::object Graph::handleOrNone(Value value) { return value ? nb::cast(handle(value)) : nb::none(); }

void Graph::forgetOne(Operation *gone) {
  if (auto it = cells.find(gone); it != cells.end()) {
    it->second->op = nullptr;
    cells.erase(it);
  }
  if (auto it = names.find(gone); it != names.end()) {
    opsByName.erase(it->second);
    names.erase(it);
  }
  if (signatures)
    signatures->forget(gone);
}

void Graph::forget(Operation *op) {
  op->walk([this](Operation *gone) { forgetOne(gone); });
}

//===-- The module ----------------------------------------------------------------------------------------------===//

Graph::Graph(std::shared_ptr<Context> context) : context(std::move(context)) {}

ModuleOp Graph::get() {
  if (user != std::thread::id() && user != std::this_thread::get_id())
    raiseError("RewriteError", "expected exclusive access to the module, but another thread is changing it");
  return *module;
}

std::shared_ptr<Graph> Graph::parse(const std::string &text, const std::string &name) {
  auto graph = std::make_shared<Graph>(Context::get());
  Diagnostics diagnostics(graph->getContext());
  ParserConfig config(graph->getContext());
  graph->module = parseSourceString<ModuleOp>(text, config, name);
  if (!graph->module)
    raiseError("CompileError",
               diagnostics.str().empty() ? "expected a module, but the text can't be parsed" : diagnostics.str());
  keepResourceKeys(*graph->module, text);
  return graph;
}

std::string Graph::print(bool locations) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  if (locations)
    flags.enableDebugInfo();
  get().print(stream, flags);
  return text;
}

void Graph::verify() {
  Diagnostics diagnostics(getContext());
  if (failed(mlir::verify(get())))
    raiseError("CompileError", diagnostics.str());
}

func::FuncOp Graph::getFunction(const std::string &name) {
  std::vector<std::string> names;
  func::FuncOp only;
  unsigned open = 0;
  for (auto function : get().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    names.push_back(function.getName().str());
    if (!name.empty() && function.getName() == name)
      return function;
    if (function.isPublic() || !only)
      only = function;
    open += function.isPublic();
  }
  if (!name.empty())
    raiseError("ArgumentValueError",
               "expected a function of the module, but got '" + name + "'" + suggest(name, names));
  if (names.size() == 1 || open == 1)
    return only;
  if (names.empty())
    raiseError("ArgumentValueError", "expected a module with a function, but it has none");
  raiseError("ArgumentValueError", "expected the name of a function: the module has " + std::to_string(names.size()) +
                                       ", as '" + names[0] + "'");
}

//===-- Names ---------------------------------------------------------------------------------------------------===//

void Graph::give(Operation *op, std::string name) {
  for (auto it = opsByName.find(name); it != opsByName.end(); it = opsByName.find(name)) {
    if (isIn(it->second, *module)) {
      name = (getReportedName(op) + "#" + Twine(nextNumber++)).str();
      continue;
    }
    // The op that replaces an erased op takes its name. The erased op gets a new name if it is restored.
    names.erase(it->second);
    opsByName.erase(it);
  }
  auto it = opsByName.try_emplace(name, op).first;
  names[op] = it->getKey();
}

void Graph::nameAll() {
  for (Operation &function : *get().getBody()) {
    llvm::StringMap<unsigned> counts;
    function.walk([&](Operation *op) { ++counts[getLocationName(op->getLoc())]; });
    unsigned position = 0;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == &function)
        return;
      StringRef name = getLocationName(op->getLoc());
      if (!names.contains(op))
        give(op, !name.empty() && counts[name] == 1 ? name.str() : (getReportedName(op) + "#" + Twine(position)).str());
      ++position;
    });
    nextNumber = std::max(nextNumber, position);
  }
}

void Graph::nameOnce() {
  if (!named)
    nameAll();
  named = true;
}

StringRef Graph::getName(Operation *op) {
  nameOnce();
  if (auto it = names.find(op); it != names.end())
    return it->second;
  StringRef name = getLocationName(op->getLoc());
  give(op, name.empty() ? (getReportedName(op) + "#" + Twine(nextNumber++)).str() : name.str());
  return names.lookup(op);
}

Operation *Graph::find(StringRef name) {
  if (auto it = opsByName.find(name); it != opsByName.end() && handle(it->second).isLive())
    return it->second;
  nameAll();
  auto it = opsByName.find(name);
  return it != opsByName.end() && handle(it->second).isLive() ? it->second : nullptr;
}

void Graph::rename(Operation *op, const std::string &name) {
  if (name.empty())
    raiseError("ArgumentValueError", "expected a name, but got an empty one");
  if (Operation *other = find(name); other && other != op)
    raiseError("ArgumentValueError", "expected a unique name, but '" + name + "' is the name of another op");
  GraphRewriter &rewriter = getRewriter();
  // The metadata is kept. The name replaces the locations that were fused.
  DictionaryAttr metadata;
  if (auto fused = dyn_cast<FusedLoc>(op->getLoc()))
    metadata = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata());
  Location loc = NameLoc::get(StringAttr::get(getContext(), name));
  if (metadata)
    loc = FusedLoc::get({loc}, metadata, getContext());
  rewriter.modifyOpInPlace(op, [&] { op->setLoc(loc); });
  if (auto it = names.find(op); it != names.end()) {
    opsByName.erase(it->second);
    names.erase(it);
  }
  give(op, name);
}

const SignatureTable &Graph::getSignatures() {
  ModuleOp module = get();
  if (!signatures)
    signatures.emplace(module);
  return *signatures;
}

void Graph::noteCall(Operation *op) {
  if (signatures)
    signatures->add(op);
}

//===-- Transactions --------------------------------------------------------------------------------------------===//

Graph::Busy::Busy(Graph &graph) : graph(graph) {
  graph.get();
  if (graph.guardRewriter || graph.rewriter || graph.whyNot)
    raiseError("RewriteError", "expected a module that is not being changed; patterns can't run inside "
                               "'with net_guard' or inside another pattern");
  graph.user = std::this_thread::get_id();
}

Graph::Busy::~Busy() { graph.user = {}; }

Graph::Scope::Scope(Graph &graph, GraphRewriter *rewriter, Operation *root, const char *why)
    : graph(graph), outerRewriter(graph.rewriter), outerWhy(graph.whyNot), outerInsertions(graph.insertions.size()),
      outerRemoved(std::move(graph.removed)) {
  graph.rewriter = rewriter;
  graph.whyNot = why;
  graph.removed.clear();
  if (rewriter && root)
    graph.insertions.push_back({graph.handle(root), false});
}

Graph::Scope::~Scope() {
  graph.rewriter = outerRewriter;
  graph.whyNot = outerWhy;
  graph.insertions.resize(outerInsertions);
  graph.removed = std::move(outerRemoved);
}

void Graph::Scope::finish() { graph.removeMarked(); }

void Graph::begin() {
  get();
  if (depth++ > 0 || rewriter || whyNot)
    return;
  nameOnce();
  user = std::this_thread::get_id();
  guardRewriter = std::make_unique<GraphRewriter>(getContext());
  guardRewriter->getJournal().freeing = [this](Operation *op) { forget(op); };
  rewriter = guardRewriter.get();
}

void Graph::end(bool keep) {
  if (--depth > 0 || !guardRewriter)
    return;
  if (keep)
    removeMarked();
  removed.clear();
  std::string error = guardRewriter->takeError();
  if (!keep || !error.empty())
    guardRewriter->getJournal().undoTo(0);
  guardRewriter.reset(); // Commits the changes.
  rewriter = nullptr;
  user = {};
  if (keep && !error.empty())
    raiseError("RewriteError", error);
}

void Graph::removeMarked() {
  // Repeats until nothing changes, because one removed op may use another.
  for (bool progress = true; progress;) {
    progress = false;
    for (Operation *&op : removed) {
      if (!op || (!op->use_empty() && !rewriter->getJournal().isErased(op)))
        continue;
      if (!rewriter->getJournal().isErased(op))
        rewriter->eraseOp(op);
      op = nullptr;
      progress = true;
    }
  }
  for (Operation *op : removed)
    if (op)
      return rewriter->refuse("'" + op->getName().getStringRef() + "' \"" + getName(op) +
                              "\" is marked as removed, but '" + (*op->user_begin())->getName().getStringRef() +
                              "' uses a result of it");
}

GraphRewriter &Graph::getRewriter() {
  get();
  if (whyNot)
    raiseError("RewriteError", whyNot);
  if (!rewriter)
    raiseError("InternalError", "expected a transaction around a change");
  return *rewriter;
}

void Graph::checkRefusal() {
  if (rewriter && rewriter->hasError())
    raiseError("RewriteError", rewriter->takeError());
}

//===-- Changes -------------------------------------------------------------------------------------------------===//

void Graph::pushInsertionPoint(const OpHandle &op, bool after) {
  op.get();
  insertions.push_back({op, after});
}

void Graph::popInsertionPoint() {
  if (!insertions.empty())
    insertions.pop_back();
}

void Graph::setInsertionPoint() {
  GraphRewriter &rewriter = getRewriter();
  if (insertions.empty()) {
    Block &body = getFunction("").getBody().front();
    if (body.mightHaveTerminator())
      rewriter.setInsertionPoint(body.getTerminator());
    else
      rewriter.setInsertionPointToEnd(&body);
    return;
  }
  const Insertion &insertion = insertions.back();
  if (!insertion.op.isLive())
    raiseError("RewriteError", "expected to insert at an op of the module, but it was removed");
  if (insertion.after)
    rewriter.setInsertionPointAfter(insertion.op.get());
  else
    rewriter.setInsertionPoint(insertion.op.get());
}

/// Returns the location without the call that it names, because a new op belongs to another call.
static Location withoutCall(Location loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto metadata = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()) : nullptr;
  if (!metadata || !metadata.contains(InlayDialect::kSignatureAttr) || fused.getLocations().size() != 1)
    return loc;
  return withoutCall(fused.getLocations().front());
}

static bool isAvailableAt(Value value, OpBuilder::InsertPoint point) {
  Block *block = point.getBlock();
  if (point.getPoint() != block->end())
    return isAvailable(value, &*point.getPoint());
  return value.getParentBlock() == block || (block->getParentOp() && isAvailable(value, block->getParentOp()));
}

/// Returns the name of the op. Raises an error if no such op can exist.
static OperationName getOpName(const std::string &name, MLIRContext *context) {
  OperationName found(name, context);
  StringRef dialect = StringRef(name).split('.').first;
  if (found.isRegistered() || !context->getLoadedDialect(dialect))
    return found;
  std::vector<std::string> names;
  for (RegisteredOperationName known : context->getRegisteredOperations())
    if (known.getDialectNamespace() == dialect)
      names.push_back(known.getStringRef().str());
  raiseError("ArgumentValueError", "unknown op '" + name + "'" + suggest(name, names));
}

OpHandle Graph::create(const std::string &name, const std::vector<ValueHandle> &operands, nb::dict attributes,
                       std::optional<std::vector<std::string>> results) {
  GraphRewriter &rewriter = getRewriter();
  if (StringRef(name).split('.').second.empty())
    raiseError("ArgumentValueError", "expected an op's full name with its dialect, but got '" + name + "'");
  setInsertionPoint();
  Location loc = insertions.empty() ? UnknownLoc::get(getContext()) : withoutCall(insertions.back().op.get()->getLoc());
  OperationState state(loc, getOpName(name, getContext()));
  for (const ValueHandle &operand : operands) {
    if (operand.owner.graph.get() != this)
      raiseError("ArgumentValueError", "expected operands of '" + name + "' from one module, but got one of another");
    state.operands.push_back(operand.get());
    if (!isAvailableAt(state.operands.back(), rewriter.saveInsertionPoint()))
      raiseError("RewriteError", "operand #" + std::to_string(state.operands.size() - 1) + " of '" + name +
                                     "' is defined after the insertion point or in another region");
  }
  state.addAttributes(toDictionary(attributes, *context, "attribute").getValue());
  if (results)
    for (const std::string &type : *results)
      state.types.push_back(toType(type, getContext()));
  else if (!state.name.hasInterface<InferTypeOpInterface>())
    raiseError("ArgumentTypeError", "expected result types for '" + name + "', because they can't be inferred");
  std::string why;
  Operation *op = createOp(rewriter, state, why);
  if (!op)
    raiseError("RewriteError", "can't make '" + name + "': " + why);
  noteCall(op); // Its attributes may state that it is part of a call.
  OpHandle made = handle(op);
  if (!insertions.empty() && insertions.back().after)
    insertions.back().op = made;
  return made;
}

ValueHandle Graph::addInput(const std::string &name, const std::string &type) {
  GraphRewriter &rewriter = getRewriter();
  setInsertionPoint();
  auto function = rewriter.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>();
  if (!function)
    raiseError("RewriteError", "expected an insertion point in a function to add an input");
  auto uses = SymbolTable::getSymbolUses(function.getSymNameAttr(), get());
  if (!uses || !uses->empty())
    raiseError("RewriteError", "can't add an input to a function that is called: '" + function.getName().str() + "'");
  Type wanted = toType(type, getContext());
  rewriter.startOpModification(function);
  Block &entry = function.getBody().front();
  unsigned number = entry.getNumArguments();
  (void)function.insertArgument(number, wanted, {}, NameLoc::get(StringAttr::get(getContext(), name)));
  rewriter.getJournal().addedArgument(&entry);
  return handle(Value(entry.getArgument(number)));
}

void Graph::markOutput(const ValueHandle &value) {
  GraphRewriter &rewriter = getRewriter();
  Value output = value.get();
  func::FuncOp function = getFunction("");
  Operation *terminator = function.getBody().front().getTerminator();
  if (!isAvailable(output, terminator))
    raiseError("RewriteError",
               "expected an output that is defined in the main function, but got a tensor from elsewhere");
  rewriter.modifyOpInPlace(terminator, [&] { terminator->insertOperands(terminator->getNumOperands(), output); });
  rewriter.modifyOpInPlace(function,
                           [&] { (void)function.insertResult(function.getNumResults(), output.getType(), {}); });
}

void Graph::moveUses(const ValueHandle &from, const ValueHandle &to, const std::vector<OpHandle> &except, bool retype) {
  GraphRewriter &rewriter = getRewriter();
  if (from.owner.graph.get() != this || to.owner.graph.get() != this)
    raiseError("ArgumentValueError", "expected tensors of one module, but one is of another");
  Value old = from.get(), by = to.get();
  llvm::SmallPtrSet<Operation *, 8> kept;
  for (const OpHandle &op : except)
    if (op.isLive())
      kept.insert(op.get());
  auto which = [&](OpOperand &use) { return use.getOwner() != by.getDefiningOp() && !kept.contains(use.getOwner()); };
  if (old == by)
    return;
  if (retype)
    moveUsesRetyped(rewriter, old, by, which);
  else
    rewriter.replaceUsesWithIf(old, by, which);
  checkRefusal();
}

void Graph::setAttribute(const OpHandle &handle, const std::string &name, nb::handle value) {
  GraphRewriter &rewriter = getRewriter();
  Operation *op = handle.get();
  std::string what = "attribute '" + name + "' of '" + op->getName().getStringRef().str() + "'";
  Attribute attribute = value.is_none() ? Attribute() : toAttribute(value, *context, what);
  Diagnostics diagnostics(getContext());
  Journal::Mark mark = rewriter.getJournal().mark();
  bool fits = true;
  if (auto info = op->getName().getRegisteredInfo(); info && attribute) {
    NamedAttrList list(op->getAttrDictionary());
    list.set(name, attribute);
    fits = succeeded(info->verifyInherentAttrs(list, [&] { return emitError(op->getLoc()); }));
  }
  if (fits)
    rewriter.modifyOpInPlace(op, [&] {
      if (attribute)
        op->setAttr(name, attribute);
      else
        op->removeAttr(name);
    });
  if (fits && succeeded(mlir::verify(op, /*verifyRecursively=*/false)))
    return noteCall(op);
  rewriter.getJournal().undoTo(mark);
  raiseError("RewriteError", "can't set " + what + ": " + diagnostics.str());
}

void Graph::markRemoved(const OpHandle &handle, bool withRegions) {
  getRewriter();
  Operation *op = handle.get();
  if (op->hasTrait<OpTrait::IsTerminator>() || isa<func::FuncOp, ModuleOp>(op))
    raiseError("RewriteError", "can't remove '" + op->getName().getStringRef().str() + "': the graph needs it");
  if (op->getNumRegions() != 0 && !withRegions)
    raiseError("RewriteError", "'" + op->getName().getStringRef().str() +
                                   "' has regions whose ops would be lost; pass with_regions=True to allow this");
  if (!llvm::is_contained(removed, op))
    removed.push_back(op);
}

bool Graph::isMarkedRemoved(Operation *op) const { return llvm::is_contained(removed, op); }
