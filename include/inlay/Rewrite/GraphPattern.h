// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What managers hold: a rule that finds something in a graph and may replace it. Written as a class, or read from PDL
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

/// The ops a pattern is tried on: those of `names` (`inlay.relu`, of any dialect, registered or not), those whose name
/// `accepts` (an interface, a trait), or with neither every op.
struct RootSet {
  llvm::SmallVector<std::string, 1> names;
  std::function<bool(mlir::OperationName)> accepts;

  bool contains(mlir::OperationName name) const;

  /// The ops that implement an interface or have a trait.
  template <typename Interface>
  static RootSet withInterface() {
    return {{}, [](mlir::OperationName name) { return name.hasInterface<Interface>(); }};
  }
  template <template <typename> class Trait>
  static RootSet withTrait() {
    return {{}, [](mlir::OperationName name) { return name.hasTrait<Trait>(); }};
  }
};

/// What a pattern may ask of the run that it is tried in.
struct MatchContext {
  mlir::DictionaryAttr args;     ///< of the run; may be null
  bool acrossSegments = false;   ///< whether a match may reach out of the segment of its root
  std::string *whyNot = nullptr; ///< if there, a pattern that doesn't match says why
  UserIndex *users = nullptr;    ///< of values of many users, if the run keeps them
  bool *gaveUp = nullptr;        ///< if there, set where a try ends because there are too many ways to match

  mlir::Attribute getArg(llvm::StringRef name) const { return args ? args.get(name) : mlir::Attribute(); }
  mlir::LogicalResult fail(const llvm::Twine &why) const;
};

/// A pattern overrides `match` and `rewrite`, or `matchAndRewrite`. Matching changes nothing. A rewrite that fails is
/// undone whole. What is replaced with rewriter.replaceOp must be replaced by values of the same type.
class GraphPattern {
public:
  explicit GraphPattern(RootSet roots, unsigned benefit = 1) : roots(std::move(roots)), benefit(benefit) {}
  virtual ~GraphPattern();

  const RootSet &getRoots() const { return roots; }
  unsigned getBenefit() const { return benefit; }

  /// The pattern as one that was read from PDL; null if it is a class.
  virtual const PDLPattern *asPDL() const { return nullptr; }
  /// The pattern as one that collects what it finds; null if it isn't.
  virtual PatternAnalyzer *asAnalyzer() { return nullptr; }

  virtual mlir::LogicalResult match(mlir::Operation *op, Match &match, const MatchContext &context) const;
  virtual mlir::LogicalResult rewrite(const Match &match, GraphRewriter &rewriter) const;

  /// By default `match`, then `rewrite` with what it found.
  virtual mlir::LogicalResult matchAndRewrite(mlir::Operation *op, GraphRewriter &rewriter,
                                              const MatchContext &context) const;

private:
  RootSet roots;
  unsigned benefit;
};

} // namespace inlay

#endif // INLAY_REWRITE_GRAPHPATTERN_H
