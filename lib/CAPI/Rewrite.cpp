// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements inlay-c/Rewrite.h, the C API of rewriting, on the C++ pattern managers. The C API of running programs
// is in lib/Runtime/CAPI/Runtime.cpp.

#include "inlay-c/Rewrite.h"

#include "inlay/Rewrite/Explain.h"
#include "inlay/Rewrite/RewritePatternManager.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;
using namespace inlay;

namespace {
/// A pattern that calls C functions.
struct CallbackPattern : GraphPattern {
  CallbackPattern(RootSet roots, unsigned benefit, InlayPatternCallbacks callbacks, void *userData)
      : GraphPattern(std::move(roots), benefit), callbacks(callbacks), userData(userData) {}
  ~CallbackPattern() override {
    if (callbacks.destroy)
      callbacks.destroy(userData);
  }

  LogicalResult match(Operation *op, Match &, const MatchContext &context) const override {
    return success(!callbacks.match || callbacks.match(wrap(op), wrap(Attribute(context.args)), userData));
  }

  LogicalResult rewrite(const Match &match, GraphRewriter &rewriter) const override {
    return success(callbacks.rewrite && callbacks.rewrite(wrap(match.root), {&rewriter}, userData));
  }

  InlayPatternCallbacks callbacks;
  void *userData;
};
} // namespace

static RewritePatternManager *unwrap(InlayPatternManager manager) {
  return static_cast<RewritePatternManager *>(manager.ptr);
}

static GraphRewriter *unwrap(InlayRewriter rewriter) { return static_cast<GraphRewriter *>(rewriter.ptr); }

static MlirLogicalResult report(llvm::Error error, MlirStringCallback callback, void *userData) {
  if (!error)
    return mlirLogicalResultSuccess();
  std::string text = llvm::toString(std::move(error));
  if (callback)
    callback(wrap(StringRef(text)), userData);
  return mlirLogicalResultFailure();
}

InlayPatternManager inlayPatternManagerCreate() { return {new RewritePatternManager()}; }

void inlayPatternManagerDestroy(InlayPatternManager manager) { delete unwrap(manager); }

MlirLogicalResult inlayPatternManagerAddPDL(InlayPatternManager manager, MlirContext context, MlirStringRef text,
                                            MlirStringRef textName, MlirStringCallback error, void *userData) {
  return report(unwrap(manager)->addPDL(unwrap(text), unwrap(textName), unwrap(context)), error, userData);
}

MlirLogicalResult inlayPatternManagerAdd(InlayPatternManager manager, MlirStringRef label, intptr_t numRoots,
                                         const MlirStringRef *roots, unsigned benefit, InlayPatternCallbacks callbacks,
                                         void *userData, MlirStringCallback error, void *errorUserData) {
  RootSet rootSet;
  for (intptr_t i = 0; i < numRoots; ++i)
    rootSet.names.push_back(unwrap(roots[i]).str());
  auto pattern = std::make_unique<CallbackPattern>(std::move(rootSet), benefit, callbacks, userData);
  return report(unwrap(manager)->add(unwrap(label), std::move(pattern)), error, errorUserData);
}

bool inlayPatternManagerHas(InlayPatternManager manager, MlirStringRef label) {
  return unwrap(manager)->get(unwrap(label)) != nullptr;
}

bool inlayPatternManagerRemove(InlayPatternManager manager, MlirStringRef label) {
  return unwrap(manager)->remove(unwrap(label));
}

int64_t inlayPatternManagerSetEnabled(InlayPatternManager manager, MlirStringRef glob, bool enabled) {
  llvm::Expected<unsigned> count = unwrap(manager)->setEnabled(unwrap(glob), enabled);
  if (count)
    return *count;
  llvm::consumeError(count.takeError());
  return -1;
}

InlayPatternStatistics inlayPatternManagerGetStatistics(InlayPatternManager manager, MlirStringRef label) {
  PatternStatistics statistics = unwrap(manager)->getStatistics(unwrap(label));
  return {statistics.tried, statistics.matched, statistics.rewritten, statistics.rejected};
}

int64_t inlayPatternManagerRewrite(InlayPatternManager manager, MlirOperation root, InlayRewriteOptions options) {
  RewriteOptions run;
  run.args = dyn_cast_or_null<DictionaryAttr>(unwrap(options.args));
  run.driver = static_cast<RewriteDriver>(options.driver);
  run.limit = options.limit;
  FailureOr<uint64_t> count = unwrap(manager)->rewrite(unwrap(root), run);
  return succeeded(count) ? static_cast<int64_t>(*count) : -1;
}

MlirLogicalResult inlayPatternManagerAnalyze(InlayPatternManager manager, MlirOperation root, MlirAttribute args,
                                             bool (*found)(MlirStringRef, MlirOperation, void *), void *userData) {
  return wrap(unwrap(manager)->analyze(
      unwrap(root), dyn_cast_or_null<DictionaryAttr>(unwrap(args)),
      [&](StringRef label, Match &match) { return found(wrap(label), wrap(match.root), userData); }));
}

MlirLogicalResult inlayPatternManagerExplain(InlayPatternManager manager, MlirStringRef label, MlirOperation root,
                                             MlirAttribute args, MlirStringCallback text, void *userData) {
  GraphPattern *pattern = unwrap(manager)->get(unwrap(label));
  if (!pattern)
    return mlirLogicalResultFailure();
  std::string sentence =
      explain(*pattern, unwrap(root), dyn_cast_or_null<DictionaryAttr>(unwrap(args))).str(unwrap(label));
  text(wrap(StringRef(sentence)), userData);
  return mlirLogicalResultSuccess();
}

void inlayRewriterInsert(InlayRewriter rewriter, MlirOperation before, MlirOperation op) {
  unwrap(rewriter)->setInsertionPoint(unwrap(before));
  unwrap(rewriter)->insert(unwrap(op));
}

void inlayRewriterReplace(InlayRewriter rewriter, MlirOperation op, intptr_t numValues, const MlirValue *values) {
  SmallVector<Value> unwrapped;
  for (intptr_t i = 0; i < numValues; ++i)
    unwrapped.push_back(unwrap(values[i]));
  unwrap(rewriter)->replaceOp(unwrap(op), unwrapped);
}

void inlayRewriterErase(InlayRewriter rewriter, MlirOperation op) { unwrap(rewriter)->eraseOp(unwrap(op)); }

void inlayRewriterSetOperand(InlayRewriter rewriter, MlirOperation op, intptr_t number, MlirValue value) {
  Operation *target = unwrap(op);
  if (number < 0 || number >= static_cast<intptr_t>(target->getNumOperands()))
    return unwrap(rewriter)->refuse("expected an operand number below " + Twine(target->getNumOperands()) +
                                    ", but got " + Twine(number));
  unwrap(rewriter)->modifyOpInPlace(target, [&] { target->setOperand(number, unwrap(value)); });
}

void inlayRewriterRefuse(InlayRewriter rewriter, MlirStringRef why) { unwrap(rewriter)->refuse(unwrap(why)); }
