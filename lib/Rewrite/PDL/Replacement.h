// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The replacing half of a pattern: ops to make, and what they take the place of. What matched ops carry that the
// pattern doesn't speak of is kept: attributes move to the op that makes the root's replacement, locations are joined.

#ifndef INLAY_LIB_REWRITE_PDL_REPLACEMENT_H
#define INLAY_LIB_REWRITE_PDL_REPLACEMENT_H

#include "MatchProgram.h"

namespace inlay {

struct Action {
  enum Kind : uint8_t {
    Create,  ///< op a
    Result,  ///< value a is result c of op b
    Results, ///< values a are the results of op b
    List,    ///< values or types a are those of `operands` in a row
    Native,  ///< call c
    Replace, ///< op a by `operands`, or by the results of op b if `whole`
    Erase,   ///< op a
  };
  Kind kind;
  bool whole = false;
  unsigned a = 0, b = 0, c = 0;
  llvm::SmallVector<unsigned, 4> operands;

  // Create alone:
  std::optional<mlir::OperationName> name;
  llvm::SmallVector<std::pair<mlir::StringAttr, unsigned>, 2> attributes;
  llvm::SmallVector<unsigned, 4> types;
  int replaces = -1;    ///< the matched op whose results these become, whose types they have if none are given
  int regionsFrom = -1; ///< the matched op whose regions it takes
  mlir::Operation *source = nullptr;
  /// An op of the attributes, where they are always the same: to copy them from.
  std::shared_ptr<mlir::Operation> model;
};

class Replacement {
public:
  /// Reads the rewrite of `pattern`; `slots` grows by what it makes.
  static mlir::FailureOr<Replacement> compile(mlir::pdl::PatternOp pattern, const NativeFunctions &functions,
                                              llvm::DenseMap<mlir::Value, unsigned> &slotOf, MatchProgram &program);

  /// The attributes that the root's replacement has to take over. Fails, and says why, if two disagree or nothing can.
  mlir::FailureOr<llvm::SmallVector<mlir::NamedAttribute, 2>>
  getCarried(const MatchProgram &program, const Bindings &bindings, std::string *whyNot) const;

  /// Fails without an error where the new ops can stand nowhere: an op between those that match is in the way.
  mlir::LogicalResult apply(const MatchProgram &program, Bindings &bindings,
                            llvm::ArrayRef<mlir::NamedAttribute> carried, GraphRewriter &rewriter) const;

  llvm::ArrayRef<NativeStep> getNatives() const { return natives; }

private:
  friend class ReplacementCompiler;

  std::vector<Action> actions;
  std::vector<NativeStep> natives;
  std::vector<std::pair<unsigned, mlir::StringAttr>> mentioned; ///< attributes that the pattern speaks of, by op slot
  unsigned root = 0;
  bool hasTaker = false;     ///< a new op takes the place of the root
  bool takesSeveral = false; ///< more than one op is replaced or erased
  bool dropsAttributes = false;
  /// All that it does is to make ops, none of which uses the root, and to put results of these in the root's place:
  /// they are there wherever the root is.
  bool isInPlace = false;
};

} // namespace inlay

#endif // INLAY_LIB_REWRITE_PDL_REPLACEMENT_H
