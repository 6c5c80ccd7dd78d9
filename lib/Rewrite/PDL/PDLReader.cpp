// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads patterns from text. Captures are named after the values in the text, and only the parser's state has these
// names.

#include "CompiledPattern.h"

#include "inlay/Rewrite/PDLPattern.h"
#include "inlay/Support/Suggest.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/PDL/IR/PDL.h"

#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace inlay;

/// Attaches to each op of a matching part the name that its result has in the text.
static void noteNames(const AsmParserState &state, MLIRContext *context) {
  for (const AsmParserState::OperationDefinition &definition : state.getOpDefs()) {
    Operation *op = definition.op;
    if (!isa_and_nonnull<pdl::PatternOp>(op->getParentOp()) || definition.resultGroups.size() != 1 ||
        op->getNumResults() != 1 || op->hasAttr("capture"))
      continue;
    SMRange range = definition.resultGroups.front().definition.loc;
    StringRef name(range.Start.getPointer(), range.End.getPointer() - range.Start.getPointer());
    if (name.consume_front("%") && !name.empty() && !llvm::isDigit(name.front()))
      op->setAttr("capture", StringAttr::get(context, name));
  }
}

/// Reports names of ops and functions that do not exist. A pattern with such a name would silently never match.
static LogicalResult checkNames(pdl::PatternOp pattern, const NativeFunctions &functions) {
  MLIRContext *context = pattern.getContext();
  WalkResult result = pattern->walk([&](Operation *op) -> WalkResult {
    if (auto operation = dyn_cast<pdl::OperationOp>(op); operation && operation.getOpName()) {
      StringRef name = *operation.getOpName();
      Dialect *dialect = context->getOrLoadDialect(name.split('.').first);
      bool known = RegisteredOperationName::lookup(name, context) ||
                   (dialect ? dialect->allowsUnknownOperations() : context->allowsUnregisteredDialects());
      if (!known) {
        std::vector<std::string> names;
        for (RegisteredOperationName registered : context->getRegisteredOperations())
          names.push_back(registered.getStringRef().str());
        return op->emitError("unknown op '") << name << "'" << suggest(name, names);
      }
    }
    auto check = [&](StringRef name, const llvm::StringMap<NativeFunction> &map, StringRef what) -> WalkResult {
      if (map.contains(name))
        return WalkResult::advance();
      std::vector<std::string> names;
      for (const auto &entry : map)
        names.push_back(entry.getKey().str());
      return op->emitError("unknown ") << what << " '" << name << "'" << suggest(name, names);
    };
    if (auto constraint = dyn_cast<pdl::ApplyNativeConstraintOp>(op))
      return check(constraint.getName(), functions.getConstraints(), "constraint");
    if (auto rewrite = dyn_cast<pdl::ApplyNativeRewriteOp>(op))
      return check(rewrite.getName(), functions.getRewrites(), "rewrite function");
    if (auto rewrite = dyn_cast<pdl::RewriteOp>(op); rewrite && rewrite.getName())
      return check(*rewrite.getName(), functions.getRewrites(), "rewrite function");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Returns the names of the run's arguments that the pattern reads by a constant name.
static std::vector<std::string> getArgNames(pdl::PatternOp pattern) {
  std::vector<std::string> names;
  pattern->walk([&](Operation *op) {
    auto constraint = dyn_cast<pdl::ApplyNativeConstraintOp>(op);
    auto rewrite = dyn_cast<pdl::ApplyNativeRewriteOp>(op);
    if (!(constraint && constraint.getName() == "arg") && !(rewrite && rewrite.getName() == "arg"))
      return;
    auto attribute = op->getNumOperands() ? op->getOperand(0).getDefiningOp<pdl::AttributeOp>() : nullptr;
    if (auto name = attribute ? dyn_cast_or_null<StringAttr>(attribute.getValueAttr()) : nullptr)
      names.push_back(name.str());
  });
  return names;
}

static FailureOr<std::unique_ptr<PDLPattern>> compile(pdl::PatternOp source, unsigned number,
                                                      std::shared_ptr<OwningOpRef<ModuleOp>> module,
                                                      const NativeFunctions &functions) {
  if (failed(checkNames(source, functions)))
    return failure();
  DenseMap<Value, unsigned> slotOf;
  auto program = MatchProgram::compile(source, functions, slotOf);
  if (failed(program))
    return failure();
  auto replacement = Replacement::compile(source, functions, slotOf, *program);
  if (failed(replacement))
    return failure();
  program->finish();
  RootSet roots;
  auto root = cast<pdl::OperationOp>(program->slots[program->ops.front()].source);
  if (root.getOpName())
    roots.names.push_back(root.getOpName()->str());
  std::string name = source.getSymName() ? source.getSymName()->str() : "pattern" + std::to_string(number);
  bool looksAround =
      llvm::any_of(program->natives, [](const NativeStep &native) { return !NativeFunctions::isLocal(native.name); });
  auto compiled = std::make_shared<CompiledPattern>(CompiledPattern{
      std::move(module), source, std::move(*program), std::move(*replacement), getArgNames(source), looksAround});
  return std::make_unique<PDLPattern>(std::move(name), source.getBenefit(), std::move(roots), std::move(compiled));
}

FailureOr<std::vector<std::unique_ptr<PDLPattern>>>
inlay::readPDL(StringRef text, StringRef textName, MLIRContext *context, const NativeFunctions &functions) {
  context->getOrLoadDialect<pdl::PDLDialect>();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, textName), SMLoc());
  auto module = std::make_shared<OwningOpRef<ModuleOp>>(ModuleOp::create(UnknownLoc::get(context)));
  Block parsed;
  AsmParserState state;
  if (failed(parseAsmSourceFile(sources, &parsed, ParserConfig(context), &state)))
    return failure();
  noteNames(state, context);
  (*module)->getBody()->getOperations().splice((*module)->getBody()->end(), parsed.getOperations());
  std::vector<pdl::PatternOp> sourcesInOrder;
  (**module)->walk([&](pdl::PatternOp source) { sourcesInOrder.push_back(source); });
  if (sourcesInOrder.empty())
    return emitError(FileLineColLoc::get(context, textName, 1, 1), "expected patterns (pdl.pattern), but got none");
  std::vector<std::unique_ptr<PDLPattern>> patterns;
  for (pdl::PatternOp source : sourcesInOrder) {
    auto pattern = compile(source, patterns.size(), module, functions);
    if (failed(pattern))
      return failure();
    patterns.push_back(std::move(*pattern));
  }
  return patterns;
}
