// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the functions that patterns call by name, and registers those that always exist. Predicates.cpp and
// DimFunctions.cpp implement most of these.

#include "inlay/Rewrite/NativeFunctions.h"

using namespace mlir;
using namespace inlay;

LogicalResult NativeCall::fail(const Twine &why) const {
  if (whyNot && whyNot->empty())
    *whyNot = why.str();
  return failure();
}

/// take_regions(new, old): moves the regions of the old op to the new one. The ops in them stay unchanged.
static LogicalResult takeRegions(NativeCall &call) {
  auto *to = call.get<Operation *>(0), *from = call.get<Operation *>(1);
  if (!to || !from || to->getNumRegions() < from->getNumRegions())
    return call.fail("expected an op with as many regions as the one that they are taken from");
  for (auto [target, source] : llvm::zip(to->getRegions(), from->getRegions()))
    call.rewriter->inlineRegionBefore(source, target, target.end());
  return success();
}

bool NativeFunctions::isLocal(StringRef name) {
  static constexpr StringLiteral names[] = {"absent", "arg",         "constant",      "dim",          "dim_between",
                                            "dtype",  "halves",      "identity_dims", "last_dim",     "multiple_of",
                                            "only",   "rank",        "same_dim",      "same_shape",   "same_type",
                                            "splat",  "splat_value", "static_shape",  "trailing_dims"};
  return llvm::is_contained(names, name);
}

NativeFunctions::NativeFunctions() {
  addPredicates(*this);
  addDimFunctions(*this);
  addRewrite("take_regions", takeRegions);
  addRewrite("arg", getConstraints().find("arg")->second);
}
