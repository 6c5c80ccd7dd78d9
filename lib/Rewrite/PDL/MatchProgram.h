// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pattern compiled to a list of steps over slots, each a check or a binding, that starts at the root. Where operands
// may stand in another order, or an op is looked for among the users of a value, a step is a choice, and a later step
// that fails comes back to it. The steps of one pattern run on the stack of one loop, however deep the pattern is.

#ifndef INLAY_LIB_REWRITE_PDL_MATCHPROGRAM_H
#define INLAY_LIB_REWRITE_PDL_MATCHPROGRAM_H

#include "inlay/Rewrite/GraphPattern.h"
#include "inlay/Rewrite/NativeFunctions.h"

#include "mlir/Dialect/PDL/IR/PDLOps.h"

#include "llvm/ADT/DenseMap.h"

namespace inlay {

enum class SlotKind : uint8_t { Operation, Value, Attribute, Type, Values, Types };

/// What each slot holds, once and for all.
struct Slot {
  SlotKind kind;
  std::string name;               ///< as the pattern's text has it; may be empty
  const void *constant = nullptr; ///< of an attribute or type that the pattern gives
  mlir::Operation *source;        ///< the op of the pattern that it stands for
};

struct MatchProgram;

/// What the slots hold in one match: pointers, and the elements of lists.
class Bindings {
public:
  /// Empties all slots but those of constants.
  void reset(const MatchProgram &program);

  const void *&operator[](unsigned slot) { return pointers[slot]; }
  const void *operator[](unsigned slot) const { return pointers[slot]; }
  mlir::Operation *op(unsigned slot) const {
    return static_cast<mlir::Operation *>(const_cast<void *>(pointers[slot]));
  }
  mlir::Value value(unsigned slot) const { return mlir::Value::getFromOpaquePointer(pointers[slot]); }
  mlir::Attribute attribute(unsigned slot) const { return mlir::Attribute::getFromOpaquePointer(pointers[slot]); }
  mlir::Type type(unsigned slot) const { return mlir::Type::getFromOpaquePointer(pointers[slot]); }
  llvm::SmallVector<mlir::Value> &values(unsigned slot) { return valueLists[slot]; }
  llvm::SmallVector<mlir::Type> &types(unsigned slot) { return typeLists[slot]; }

  /// Marks a list slot as bound.
  void setList(unsigned slot) { pointers[slot] = this; }

private:
  llvm::SmallVector<const void *, 16> pointers;
  llvm::SmallDenseMap<unsigned, llvm::SmallVector<mlir::Value>, 2> valueLists;
  llvm::SmallDenseMap<unsigned, llvm::SmallVector<mlir::Type>, 2> typeLists;
};

struct Step {
  enum Kind : uint8_t {
    Name,          ///< op a is called `name`
    OperandCount,  ///< op a has b operands, or at least b if `open`
    ResultCount,   ///< op a has b results, or at least b if `open`
    Attribute,     ///< op a's attribute `text` is slot b
    NoAttributes,  ///< op a has no inherent attributes but those of list c
    AttributeType, ///< attribute a has type b
    ResultType,    ///< op a's result c has type b
    ResultTypes,   ///< op a's results from c on, all but the last d, have types b
    ValueType,     ///< value a has type b
    ValueTypes,    ///< values a have types b
    Operand,       ///< op a's operand c (counted from the end if `open`) is b
    Operands,      ///< op a's operands from c on, all but the last d, are b
    Definition,    ///< value a is result c of op b, which lies where the match may reach
    Definitions,   ///< values a are all results of op b
    Result,        ///< op a's result c is b
    Results,       ///< op a's results are b
    Uses,          ///< op a's results are used as often as list c says
    NoRegions,     ///< op a has no regions
    Native,        ///< call c gives success
    Equal,         ///< slots a and b are equal
    AsWritten,     ///< the two operands of op a stand as written: holds always, for what explains to look at
    Shape,         ///< Name, OperandCount b, ResultCount c (kAny for any) and, unless `open`, NoRegions of op a
    Order,         ///< choice: the two operands of op a stand as written, or the other way round
    User,          ///< choice: op b, none of those of list d, uses value a as operand c
  };
  static constexpr unsigned kAny = ~0u;

  bool isChoice() const { return kind >= Order; }

  Kind kind;
  bool bind = false; ///< the first to see its slot: fills it instead of comparing
  bool open = false;
  int order = -1; ///< Operand: the Order step that says which one
  unsigned a = 0, b = 0, c = 0, d = 0;
  const void *name = nullptr;
  mlir::StringAttr text;
  mlir::Operation *source = nullptr; ///< the pattern's op, for what explains
};

struct NativeStep {
  const NativeFunction *function;
  std::string name;
  llvm::SmallVector<unsigned, 4> operands, results;
  bool negated = false;
};

struct MatchProgram {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<NativeStep> natives;
  std::vector<llvm::SmallVector<unsigned, 2>> useCounts;
  std::vector<llvm::SmallVector<mlir::StringAttr, 4>> attributeNames;
  std::vector<llvm::SmallVector<unsigned, 4>> earlierOps; ///< slots of ops that are bound before a User step
  llvm::SmallVector<unsigned, 4> ops;                     ///< slots of matched ops, root first
  unsigned depth = 0;                                     ///< of the root over the deepest matched op
  bool looksAtUsers = false;                              ///< has a User step

  // What `finish` makes of the above:
  std::vector<Step> joined; ///< the same steps for who doesn't ask why not: what they ask of one op first is a Shape
  llvm::SmallVector<const void *, 16> constants; ///< by slot
  llvm::SmallVector<unsigned, 1> constantLists;  ///< slots of lists of types that the pattern gives

  /// Reads the matching part of `pattern`, which must outlive the program; emits diagnostics at the pattern's ops.
  static mlir::FailureOr<MatchProgram> compile(mlir::pdl::PatternOp pattern, const NativeFunctions &functions,
                                               llvm::DenseMap<mlir::Value, unsigned> &slotOf);

  /// Call it when all slots and steps are there, those of the replacement too.
  void finish();

  /// After so many ways to match that a second choice offers, a try is given up: nested choices multiply.
  static constexpr unsigned kMaxWays = 4096;

  /// Matches with `root` as the root.
  bool run(mlir::Operation *root, Bindings &bindings, const MatchContext &context) const;

  /// Runs one step that isn't a choice. `orders` are the alternatives taken by Order steps, by step.
  bool check(const Step &step, Bindings &bindings, const MatchContext &context, llvm::ArrayRef<uint8_t> orders,
             std::string *whyNot) const;

private:
  void findEarlierOps();
  void joinSteps();
};

/// Calls a native function on slots and binds its results; the results must be of the kinds that the slots have.
mlir::LogicalResult callNative(const NativeStep &native, llvm::ArrayRef<Slot> slots, Bindings &bindings,
                               mlir::DictionaryAttr args, GraphRewriter *rewriter, std::string *whyNot);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_PDL_MATCHPROGRAM_H
