// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewriting part of a pattern: the ops to create and the ops that they replace. Properties of matched ops that the
// pattern does not mention are kept: attributes move to the op that replaces the root, and locations are fused.

#ifndef INLAY_LIB_REWRITE_PDL_REPLACEMENT_H
#define INLAY_LIB_REWRITE_PDL_REPLACEMENT_H

#include "MatchProgram.h"

namespace inlay {

struct Action {
  enum Kind : uint8_t {
    Create,  ///< Creates op a.
    Result,  ///< Value a is result c of op b.
    Results, ///< Values a are the results of op b.
    List,    ///< Values or types a are the concatenation of `operands`.
    Native,  ///< Calls native function c.
    Replace, ///< Replaces op a with `operands`, or with the results of op b if `whole`.
    Erase,   ///< Erases op a.
  };
  Kind kind;
  bool whole = false;
  unsigned a = 0, b = 0, c = 0;
  llvm::SmallVector<unsigned, 4> operands;

  // Only for Create:
  std::optional<mlir::OperationName> name;
  llvm::SmallVector<std::pair<mlir::StringAttr, unsigned>, 2> attributes;
  llvm::SmallVector<unsigned, 4> types;
  /// Slot of the matched op whose results the new op replaces and whose types it has if none are given; -1 for none.
  int replaces = -1;
  int regionsFrom = -1; ///< Slot of the matched op whose regions it takes; -1 for none.
  mlir::Operation *source = nullptr;
  /// An op with the attributes to copy, if they are the same in all matches; else null.
  std::shared_ptr<mlir::Operation> model;
};

class Replacement {
public:
  /// Compiles the rewrite of `pattern`. Adds slots to `program` for the values that it creates.
  static mlir::FailureOr<Replacement> compile(mlir::pdl::PatternOp pattern, const NativeFunctions &functions,
                                              llvm::DenseMap<mlir::Value, unsigned> &slotOf, MatchProgram &program);

  /// Returns the attributes that the root's replacement must take over. Fails and sets `whyNot` if two of them disagree
  /// or if no op can take them.
  mlir::FailureOr<llvm::SmallVector<mlir::NamedAttribute, 2>>
  getCarried(const MatchProgram &program, const Bindings &bindings, std::string *whyNot) const;

  /// Replaces the matched ops. Fails without an error if the new ops have no valid position, because an unmatched op
  /// lies between the matched ones.
  mlir::LogicalResult apply(const MatchProgram &program, Bindings &bindings,
                            llvm::ArrayRef<mlir::NamedAttribute> carried, GraphRewriter &rewriter) const;

  llvm::ArrayRef<NativeStep> getNatives() const { return natives; }

private:
  friend class ReplacementCompiler;

  std::vector<Action> actions;
  std::vector<NativeStep> natives;
  std::vector<std::pair<unsigned, mlir::StringAttr>> mentioned; ///< Attributes that the pattern mentions, by op slot.
  unsigned root = 0;
  bool hasTaker = false;     ///< True if a new op replaces the root.
  bool takesSeveral = false; ///< True if more than one op is replaced or erased.
  bool dropsAttributes = false;
  /// True if the rewrite only creates ops that do not use the root, and replaces the root with results of these. Such
  /// results are available wherever the root is.
  bool isInPlace = false;
};

} // namespace inlay

#endif // INLAY_LIB_REWRITE_PDL_REPLACEMENT_H
