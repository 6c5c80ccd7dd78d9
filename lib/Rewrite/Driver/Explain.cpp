// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs all steps of a match program without stopping at the first failure. The score of an op rises with each step that
// holds and falls with each step that fails. A step counts neither way if an earlier failure left its slot empty.
// `Explanation::str` words the result. The reason of a failed step comes from `MatchProgram::check` in Rewrite/PDL.

#include "inlay/Rewrite/Explain.h"
#include "Rewrite/PDL/CompiledPattern.h"
#include "Trace.h"

#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Rewrite/PDLPattern.h"

using namespace mlir;
using namespace inlay;

namespace {
/// Tries one pattern at one op after another.
class Explainer {
public:
  /// Limit of pairs of operands for which all combinations of orders are tried. Further pairs are tried one by one.
  static constexpr unsigned kMaxOrders = 6;

  Explainer(const PDLPattern &pattern, DictionaryAttr args) : program(pattern.getCompiled().program), context{args} {
    for (auto [number, step] : llvm::enumerate(program.steps)) {
      if (step.kind == Step::Order)
        (anyOrder.size() < kMaxOrders ? anyOrder : byTurns).push_back(number);
      if (step.kind == Step::AsWritten)
        asWritten.push_back(number);
    }
  }

  int countChecks() const { return static_cast<int>(program.steps.size()); }

  struct Score {
    int held = 0, failed = 0;
    int value() const { return held - 2 * failed; }
  };

  /// Returns the score with `root` as the root in the best order of operands, and stores that order in `best`. Returns
  /// nothing if the score is not above `minScore`.
  std::optional<Score> rate(Operation *root, int minScore, SmallVectorImpl<uint8_t> &best) {
    std::optional<Score> bestScore;
    SmallVector<uint8_t, 32> orders(program.steps.size(), 0);
    rateOrders(root, minScore, orders, bestScore, best);
    if (bestScore && bestScore->held == countChecks())
      return bestScore;
    // Swapped operands are reported only if the pattern matches otherwise.
    const int onlySwapped = countChecks() - 3;
    for (unsigned step : asWritten) {
      llvm::fill(orders, 0);
      orders[step] = 1;
      rateOrders(root, std::max(minScore, onlySwapped - 1), orders, bestScore, best);
    }
    return bestScore;
  }

  std::vector<Mismatch> getMismatches(Operation *root, ArrayRef<uint8_t> orders) {
    std::vector<Mismatch> mismatches;
    run(root, orders, &mismatches, std::numeric_limits<int>::min());
    return mismatches;
  }

private:
  /// Tries all orders of the operands that may be swapped; the other orders are fixed by `orders`. Sets `bestScore` and
  /// `best` to the best score above `minScore` and the previous `bestScore`.
  void rateOrders(Operation *root, int minScore, SmallVectorImpl<uint8_t> &orders, std::optional<Score> &bestScore,
                  SmallVectorImpl<uint8_t> &best) {
    auto attempt = [&] {
      int bound = std::max(minScore, bestScore ? bestScore->value() : minScore);
      std::optional<Score> score = run(root, orders, nullptr, bound);
      if (!score)
        return false;
      bestScore = score;
      best.assign(orders.begin(), orders.end());
      return true;
    };
    bool found = false;
    for (unsigned variant = 0; variant < 1u << anyOrder.size(); ++variant) {
      for (auto [bit, step] : llvm::enumerate(anyOrder))
        orders[step] = variant >> bit & 1;
      found |= attempt();
      if (bestScore && bestScore->held == countChecks())
        return;
    }
    if (found)
      orders.assign(best.begin(), best.end());
    for (unsigned step : byTurns) {
      orders[step] = 1;
      if (!attempt())
        orders[step] = 0;
    }
  }

  /// Returns true if every slot that the step reads is bound.
  bool isReached(const Step &step) const {
    if (step.kind == Step::Native)
      return llvm::all_of(program.natives[step.c].operands, [&](unsigned slot) { return bindings[slot] != nullptr; });
    if (!bindings[step.a])
      return false;
    switch (step.kind) {
    case Step::Attribute:
    case Step::AttributeType:
    case Step::ResultType:
    case Step::ResultTypes:
    case Step::ValueType:
    case Step::ValueTypes:
    case Step::Operand:
    case Step::Operands:
    case Step::Definition:
    case Step::Definitions:
    case Step::Result:
    case Step::Results:
    case Step::Equal:
      return step.bind || bindings[step.b];
    default:
      return true;
    }
  }

  /// Binds the first user that matches.
  bool takeUser(const Step &step) {
    for (OpOperand &use : bindings.value(step.a).getUses())
      if ((step.open || use.getOperandNumber() == step.c) &&
          use.getOwner()->getName().getAsOpaquePointer() == step.name) {
        bindings[step.b] = use.getOwner();
        return true;
      }
    return false;
  }

  /// Returns the score, or nothing as soon as it can no longer exceed `minScore`.
  std::optional<Score> run(Operation *root, ArrayRef<uint8_t> orders, std::vector<Mismatch> *mismatches, int minScore) {
    bindings.reset(program);
    bindings[program.ops.front()] = root;
    Score score;
    int left = countChecks();
    for (const Step &step : program.steps) {
      if (score.value() + left-- <= minScore)
        return std::nullopt;
      if (!isReached(step))
        continue;
      std::string why;
      bool holds = step.kind == Step::User
                       ? takeUser(step)
                       : program.check(step, bindings, context, orders, mismatches ? &why : nullptr);
      if (step.kind == Step::AsWritten && orders[&step - program.steps.data()]) {
        holds = false;
        why = "expected the operands in the order of the pattern, but found them swapped";
      }
      ++(holds ? score.held : score.failed);
      if (!holds && mismatches)
        mismatches->push_back(getMismatch(step, why.empty() ? "expected such a user, but found none" : why));
    }
    if (score.value() <= minScore)
      return std::nullopt;
    return score;
  }

  Mismatch getMismatch(const Step &step, std::string why) const {
    unsigned slot = step.a;
    if (step.kind == Step::Native && !program.natives[step.c].operands.empty())
      slot = program.natives[step.c].operands.front();
    auto [op, place] = getPlace(slot);
    return {op, place, std::move(why), step.source->getLoc()};
  }

  /// Returns the op that a slot is bound to or is an operand of, and its place relative to its user.
  std::pair<Operation *, std::string> getPlace(unsigned slot) const {
    Operation *root = bindings.op(program.ops.front());
    if (slot == program.ops.front())
      return {root, "the root"};
    Operation *self = program.slots[slot].kind == SlotKind::Operation ? bindings.op(slot) : nullptr;
    for (const Step &step : program.steps)
      if (step.kind == Step::Definition && step.b == slot)
        slot = step.a;
    for (const Step &step : program.steps) {
      if (step.kind != Step::Operand || step.b != slot || !bindings[step.a])
        continue;
      Operation *user = bindings.op(step.a);
      std::string place = ("operand #" + Twine(step.c) + " of '" + user->getName().getStringRef() + "'").str();
      return {self ? self : user, place};
    }
    return {self ? self : root, self ? ("'" + self->getName().getStringRef() + "'").str() : "the root"};
  }

  const MatchProgram &program;
  MatchContext context;
  SmallVector<unsigned> anyOrder, byTurns, asWritten;
  Bindings bindings;
};
} // namespace

static Explanation explainPDL(const PDLPattern &pattern, Operation *graph, DictionaryAttr args,
                              function_ref<bool(Operation *)> where) {
  Explainer explainer(pattern, args);
  Explanation result;
  result.checks = explainer.countChecks();
  SmallVector<uint8_t> orders, best;
  int nearest = std::numeric_limits<int>::min();
  graph->walk([&](Operation *op) {
    if (op == graph || (where && !where(op)))
      return;
    auto score = explainer.rate(op, nearest, orders);
    if (!score)
      return;
    if (score->held == explainer.countChecks()) {
      ++result.matches;
      return;
    }
    result.root = op;
    result.held = score->held;
    nearest = score->value();
    best = orders;
  });
  if (result.root)
    result.mismatches = explainer.getMismatches(result.root, best);
  return result;
}

Explanation inlay::explain(const GraphPattern &pattern, Operation *graph, DictionaryAttr args,
                           function_ref<bool(Operation *)> where) {
  if (const PDLPattern *pdl = pattern.asPDL())
    return explainPDL(*pdl, graph, args, where);
  // A pattern class reports nothing but the reason why it did not match at an op.
  Explanation result;
  result.checks = 1;
  graph->walk([&](Operation *op) {
    if (op == graph || (where && !where(op)))
      return;
    std::string why;
    Match match(op);
    MatchContext context{args, false, &why, nullptr};
    bool wanted = pattern.getRoots().contains(op->getName());
    if (wanted && succeeded(pattern.match(op, match, context))) {
      ++result.matches;
    } else if (!result.root || (wanted && result.held == 0)) {
      result.root = op;
      result.held = wanted;
      if (!wanted)
        why = ("expected a root op of the pattern, but found '" + op->getName().getStringRef() + "'").str();
      result.mismatches = {
          {op, "the root", why.empty() ? "its match failed without a reason" : why, UnknownLoc::get(op->getContext())}};
    }
  });
  return result;
}

static std::string withLoc(Operation *op) {
  std::string text = ("'" + op->getName().getStringRef() + "'").str();
  if (StringRef name = getLocationName(op->getLoc()); !name.empty())
    text += (" \"" + name + "\"").str();
  std::string loc = describeLoc(op->getLoc());
  return loc.empty() || loc == getLocationName(op->getLoc()) ? text : text + " (" + loc + ")";
}

std::string Explanation::str(StringRef label) const {
  std::string text = ("pattern '" + label + "' matches at " + Twine(matches) + " places").str();
  if (!root)
    return text;
  text +=
      ("; the nearest miss is " + withLoc(root) + ", where " + Twine(held) + " of " + Twine(checks) + " checks hold")
          .str();
  if (mismatches.empty())
    return text;
  const Mismatch &first = mismatches.front();
  text += "; at " + first.place;
  if (first.op != root)
    text += ", " + withLoc(first.op);
  text += ": " + first.why;
  if (std::string loc = describeLoc(first.patternLoc); !loc.empty())
    text += " (" + loc + ")";
  return text;
}

llvm::json::Object Explanation::json(StringRef label) const {
  llvm::json::Array list;
  for (const Mismatch &mismatch : mismatches)
    list.push_back(llvm::json::Object{{"op", describeOp(mismatch.op)},
                                      {"location", describeLoc(mismatch.op->getLoc())},
                                      {"place", mismatch.place},
                                      {"why", mismatch.why},
                                      {"pattern_location", describeLoc(mismatch.patternLoc)}});
  llvm::json::Object object{{"label", label.str()},
                            {"matches", static_cast<int64_t>(matches)},
                            {"held", held},
                            {"checks", checks},
                            {"mismatches", std::move(list)}};
  if (root) {
    object["root"] = describeOp(root);
    object["location"] = describeLoc(root->getLoc());
  }
  return object;
}
