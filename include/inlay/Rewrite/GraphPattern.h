// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graph patterns: rules that match ops of a graph and may replace them. A pattern is a C++ class or is read from PDL
// (PDLPattern.h).

#ifndef INLAY_REWRITE_GRAPHPATTERN_H
#define INLAY_REWRITE_GRAPHPATTERN_H

#include "inlay/Rewrite/GraphRewriter.h"
#include "inlay/Rewrite/Match.h"

#include <functional>

namespace inlay {

class PDLPattern;
class PatternAnalyzer;
class UserIndex;

/// The ops that a pattern is tried on: ops with one of the `names` (registered or not) and ops whose name `accepts`
/// accepts, for example by an interface or a trait. If both are empty, the set contains every op.
struct RootSet {
  llvm::SmallVector<std::string, 1> names;
  std::function<bool(mlir::OperationName)> accepts;

  bool contains(mlir::OperationName name) const;

  /// Returns the set of ops that implement an interface or have a trait.
  template <typename Interface>
  static RootSet withInterface() {
    return {{}, [](mlir::OperationName name) { return name.hasInterface<Interface>(); }};
  }
  template <template <typename> class Trait>
  static RootSet withTrait() {
    return {{}, [](mlir::OperationName name) { return name.hasTrait<Trait>(); }};
  }
};

/// The state of a run that a pattern may read while it matches.
struct MatchContext {
  mlir::DictionaryAttr args;     ///< Arguments of the run; may be null.
  bool acrossSegments = false;   ///< True if a match may reach out of the segment of its root.
  std::string *whyNot = nullptr; ///< If not null, receives the reason why the pattern did not match.
  UserIndex *users = nullptr;    ///< Users of values that have many users; may be null.
  /// If not null, set to true if matching stopped because there are too many ways to match.
  bool *gaveUp = nullptr;

  mlir::Attribute getArg(llvm::StringRef name) const { return args ? args.get(name) : mlir::Attribute(); }
  mlir::LogicalResult fail(const llvm::Twine &why) const;
};

/// A pattern overrides `match` and `rewrite`, or `matchAndRewrite`. `match` must not change the graph. The changes of a
/// rewrite that fails are undone completely. rewriter.replaceOp requires replacement values of the same types.
class GraphPattern {
public:
  explicit GraphPattern(RootSet roots, unsigned benefit = 1) : roots(std::move(roots)), benefit(benefit) {}
  virtual ~GraphPattern();

  const RootSet &getRoots() const { return roots; }
  unsigned getBenefit() const { return benefit; }

  /// Returns this pattern as a PDLPattern, or null if it is not one.
  virtual const PDLPattern *asPDL() const { return nullptr; }
  /// Returns this pattern as a PatternAnalyzer, or null if it is not one.
  virtual PatternAnalyzer *asAnalyzer() { return nullptr; }

  virtual mlir::LogicalResult match(mlir::Operation *op, Match &match, const MatchContext &context) const;
  virtual mlir::LogicalResult rewrite(const Match &match, GraphRewriter &rewriter) const;

  /// Calls `match`, then `rewrite` with the match, unless overridden.
  virtual mlir::LogicalResult matchAndRewrite(mlir::Operation *op, GraphRewriter &rewriter,
                                              const MatchContext &context) const;

private:
  RootSet roots;
  unsigned benefit;
};

} // namespace inlay

#endif // INLAY_REWRITE_GRAPHPATTERN_H
