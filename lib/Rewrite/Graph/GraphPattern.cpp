// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the base class of patterns. PDL/PDLPattern.cpp has patterns from PDL.

#include "inlay/Rewrite/GraphPattern.h"

using namespace mlir;
using namespace inlay;

bool RootSet::contains(OperationName name) const {
  if (accepts && accepts(name))
    return true;
  return (names.empty() && !accepts) || llvm::is_contained(names, name.getStringRef());
}

LogicalResult MatchContext::fail(const Twine &why) const {
  if (whyNot && whyNot->empty())
    *whyNot = why.str();
  return failure();
}

GraphPattern::~GraphPattern() = default;

LogicalResult GraphPattern::match(Operation *, Match &, const MatchContext &context) const {
  return context.fail("the pattern doesn't override match");
}

LogicalResult GraphPattern::rewrite(const Match &, GraphRewriter &rewriter) const {
  rewriter.refuse("the pattern doesn't override rewrite");
  return failure();
}

LogicalResult GraphPattern::matchAndRewrite(Operation *op, GraphRewriter &rewriter, const MatchContext &context) const {
  Match found(op);
  if (failed(match(op, found, context)))
    return failure();
  return rewrite(found, rewriter);
}
