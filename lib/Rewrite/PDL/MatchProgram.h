// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pattern compiled to a list of steps over slots. Each step is a check or a binding; the first step is at the root. A
// step is a choice if operands may be swapped or if an op is found among the users of a value. When a later step fails,
// matching backtracks to the last choice. One loop runs all steps of a pattern, so its depth does not affect the stack.

#ifndef INLAY_LIB_REWRITE_PDL_MATCHPROGRAM_H
#define INLAY_LIB_REWRITE_PDL_MATCHPROGRAM_H

#include "inlay/Rewrite/GraphPattern.h"
#include "inlay/Rewrite/NativeFunctions.h"

#include "mlir/Dialect/PDL/IR/PDLOps.h"

#include "llvm/ADT/DenseMap.h"

namespace inlay {

enum class SlotKind : uint8_t { Operation, Value, Attribute, Type, Values, Types };

/// The properties of a slot that are the same in all matches.
struct Slot {
  SlotKind kind;
  std::string name;               ///< Name in the pattern's text; may be empty.
  const void *constant = nullptr; ///< Attribute or type that the pattern fixes; null if none.
  mlir::Operation *source;        ///< Op of the pattern that defines the slot's value.
};

struct MatchProgram;

/// The contents of the slots in one match: pointers, and the elements of lists.
class Bindings {
public:
  /// Clears all slots except those of constants.
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
    Name,          ///< Op a is called `name`.
    OperandCount,  ///< Op a has b operands, or at least b if `open`.
    ResultCount,   ///< Op a has b results, or at least b if `open`.
    Attribute,     ///< Attribute `text` of op a is slot b.
    NoAttributes,  ///< Op a has no inherent attributes except those in list c.
    AttributeType, ///< Attribute a has type b.
    ResultType,    ///< Result c of op a has type b.
    ResultTypes,   ///< The results of op a from c on, except the last d, have types b.
    ValueType,     ///< Value a has type b.
    ValueTypes,    ///< Values a have types b.
    Operand,       ///< Operand c of op a (counted from the end if `open`) is b.
    Operands,      ///< The operands of op a from c on, except the last d, are b.
    Definition,    ///< Value a is result c of op b, and the match may reach b.
    Definitions,   ///< Values a are all results of op b.
    Result,        ///< Result c of op a is b.
    Results,       ///< The results of op a are b.
    Uses,          ///< The results of op a have the numbers of uses in list c.
    NoRegions,     ///< Op a has no regions.
    Native,        ///< Call c succeeds.
    Equal,         ///< Slots a and b are equal.
    AsWritten,     ///< The two operands of op a are in order. Always holds; only explanations read it.
    Shape,         ///< Name, OperandCount b, ResultCount c (kAny for any) and, unless `open`, NoRegions of op a.
    Order,         ///< Choice: the two operands of op a are in order or swapped.
    User,          ///< Choice: op b, which is not in list d, uses value a as operand c.
  };
  static constexpr unsigned kAny = ~0u;

  bool isChoice() const { return kind >= Order; }

  Kind kind;
  bool bind = false; ///< True for the first step that uses its slot: it fills the slot instead of comparing.
  bool open = false;
  int order = -1; ///< For Operand: the Order step that decides the order; -1 for none.
  unsigned a = 0, b = 0, c = 0, d = 0;
  const void *name = nullptr;
  mlir::StringAttr text;
  mlir::Operation *source = nullptr; ///< Op of the pattern, for explanations.
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
  std::vector<llvm::SmallVector<unsigned, 4>> earlierOps; ///< Slots of the ops that are bound before each User step.
  llvm::SmallVector<unsigned, 4> ops;                     ///< Slots of matched ops, root first.
  unsigned depth = 0;                                     ///< Number of levels from the root to the deepest matched op.
  bool looksAtUsers = false;                              ///< True if there is a User step.

  // Computed by `finish`:
  /// Steps for matches without explanations: the first checks of each op are joined into one Shape.
  std::vector<Step> joined;
  llvm::SmallVector<const void *, 16> constants; ///< By slot.
  llvm::SmallVector<unsigned, 1> constantLists;  ///< Slots of lists of types that the pattern fixes.

  /// Compiles the matching part of `pattern`, which must outlive the program. Emits diagnostics at the pattern's ops.
  static mlir::FailureOr<MatchProgram> compile(mlir::pdl::PatternOp pattern, const NativeFunctions &functions,
                                               llvm::DenseMap<mlir::Value, unsigned> &slotOf);

  /// Call this when all slots and steps exist, including those of the replacement.
  void finish();

  /// Maximum number of alternatives of nested choices. A try that exceeds it is given up, because nested choices
  /// multiply.
  static constexpr unsigned kMaxWays = 4096;

  /// Returns true if the pattern matches with `root` as its root.
  bool run(mlir::Operation *root, Bindings &bindings, const MatchContext &context) const;

  /// Runs one step that is not a choice. `orders` has the alternative of each Order step, by step number.
  bool check(const Step &step, Bindings &bindings, const MatchContext &context, llvm::ArrayRef<uint8_t> orders,
             std::string *whyNot) const;

private:
  void findEarlierOps();
  void joinSteps();
};

/// Calls a native function on slots and binds its results. The results must be of the kinds that the slots have.
mlir::LogicalResult callNative(const NativeStep &native, llvm::ArrayRef<Slot> slots, Bindings &bindings,
                               mlir::DictionaryAttr args, GraphRewriter *rewriter, std::string *whyNot);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_PDL_MATCHPROGRAM_H
