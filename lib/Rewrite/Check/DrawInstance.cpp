// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws an instance of a pattern. Op by op from the inputs on, leaves and attributes are drawn until the definition of
// the op accepts them. If the pattern does not match the result, everything is drawn again.

#include "Draw.h"
#include "PatternInstance.h"
#include "Rewrite/Graph/InferTypes.h"
#include "Rewrite/PDL/CompiledPattern.h"
#include "TensorData.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace inlay;

static constexpr unsigned kAttempts = 400, kTriesPerOp = 3000;
static constexpr int64_t kMaxElements = 1 << 14;

namespace {
class Drawer {
public:
  Drawer(pdl::PatternOp pattern, const Hints &hints, const Palette &palette, Random &random)
      : pattern(pattern), context(pattern.getContext()), hints(hints), palette(palette), random(random),
        builder(context) {}

  /// Returns false and sets `whyNot` if some op cannot be drawn.
  bool run() {
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    function = func::FuncOp::create(builder, builder.getUnknownLoc(), "rule", builder.getFunctionType({}, {}));
    block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    for (Operation &op : *pattern.getBody()) {
      if (auto type = dyn_cast<pdl::TypeOp>(op); type && type.getConstantType())
        types[type] = *type.getConstantType();
      if (auto attribute = dyn_cast<pdl::AttributeOp>(op); attribute && attribute.getValueAttr())
        attributes[attribute] = attribute.getValueAttr();
    }
    for (auto op : pattern.getBody()->getOps<pdl::OperationOp>())
      if (!draw(op))
        return false;
    addReturn();
    return true;
  }

  func::FuncOp getFunction() const { return function; }

  /// Returns true if another attempt would fail too.
  bool isHopeless() const { return hopeless; }

  OwningOpRef<ModuleOp> module;
  DenseMap<Value, Operation *> ops; ///< By value of the pattern.
  std::vector<std::string> argumentNames;
  std::string whyNot;
  double slack = 0; ///< Maximum distance of constants from the values in the pattern.

private:
  struct Leaf {
    Value source;
    RankedTensorType type;
    Value placeholder{};
  };

  bool fail(const Twine &why, bool forGood = false) {
    whyNot = why.str();
    hopeless |= forGood;
    return false;
  }

  /// Collects the operands of `op`. Leaves without a type are placeholders.
  bool collectOperands(pdl::OperationOp op, SmallVectorImpl<Value> &operands, SmallVectorImpl<Leaf> &leaves) {
    for (Value source : op.getOperandValues()) {
      if (auto it = values.find(source); it != values.end()) {
        llvm::append_range(operands, it->second);
        continue;
      }
      if (isa<pdl::ResultOp, pdl::ResultsOp>(source.getDefiningOp())) {
        if (!bindResult(source))
          return false;
        llvm::append_range(operands, values[source]);
        continue;
      }
      bool pending = llvm::any_of(leaves, [&](const Leaf &leaf) { return leaf.source == source; });
      unsigned count = isa<pdl::RangeType>(source.getType()) ? random.between(1, 3) : 1;
      for (unsigned i = 0; i < (pending ? 0 : count); ++i)
        leaves.push_back({source, {}, block->addArgument(RankedTensorType::get({}, palette.dtype), module->getLoc())});
      for (const Leaf &leaf : leaves)
        if (leaf.source == source)
          operands.push_back(leaf.placeholder);
    }
    return true;
  }

  bool bindResult(Value source) {
    Operation *definition = source.getDefiningOp();
    auto it = ops.find(definition->getOperand(0));
    if (it == ops.end())
      return fail("it uses an op that is defined later", true);
    if (auto result = dyn_cast<pdl::ResultOp>(definition)) {
      if (result.getIndex() >= it->second->getNumResults())
        return fail("'" + it->second->getName().getStringRef() + "' has too few results", true);
      values[source] = {it->second->getResult(result.getIndex())};
    } else {
      values[source] = llvm::to_vector_of<Value>(it->second->getResults());
    }
    return true;
  }

  /// Draws a type for the leaf. Returns false if its constraints cannot be met together.
  bool drawLeaf(Leaf &leaf, ArrayRef<Shape> otherShapes) {
    auto found = hints.find(leaf.source);
    ValueHints none;
    const ValueHints &wanted = found == hints.end() ? none : found->second;
    Operation *definition = leaf.source.getDefiningOp();
    if (auto operand = dyn_cast<pdl::OperandOp>(definition); operand && operand.getValueType())
      if (auto it = types.find(operand.getValueType()); it != types.end()) {
        leaf.type = dyn_cast<RankedTensorType>(it->second);
        return leaf.type && isUsable(leaf.type);
      }
    for (Value other : wanted.sameType)
      if (auto it = values.find(other); it != values.end() && it->second.size() == 1) {
        leaf.type = cast<RankedTensorType>(it->second.front().getType());
        return wanted.allows(leaf.type);
      }
    Shape shape;
    if ((wanted.splat || wanted.isScalarConstant) && random.oneIn(2))
      shape = {};
    else
      shape = drawShape(palette, otherShapes, random);
    for (Value other : wanted.sameShape)
      if (auto it = values.find(other); it != values.end() && it->second.size() == 1)
        shape = Shape(cast<RankedTensorType>(it->second.front().getType()).getShape());
    if (!wanted.apply(shape))
      return false;
    for (int64_t &size : shape)
      if (palette.unknown && size == palette.unknown && !isConstant(wanted) && random.oneIn(2))
        size = ShapedType::kDynamic;
    if (isConstant(wanted) && ShapedType::isDynamicShape(shape))
      return false;
    Type dtype = wanted.dtypes.empty() || llvm::is_contained(wanted.dtypes, palette.dtype)
                     ? palette.dtype
                     : wanted.dtypes[random.below(wanted.dtypes.size())];
    leaf.type = RankedTensorType::get(shape, dtype);
    return isUsable(leaf.type);
  }

  static bool isConstant(const ValueHints &wanted) {
    return wanted.isConstant || wanted.isScalarConstant || wanted.splat;
  }

  /// Returns true if values of that type can be drawn and compared and are small.
  bool isUsable(RankedTensorType type) const {
    int64_t count = 1;
    for (int64_t size : type.getShape()) {
      if (ShapedType::isDynamic(size))
        size = palette.unknown;
      if (size < 1 || size > kMaxElements || (count *= size) > kMaxElements)
        return false;
    }
    return isComparable(type.getElementType());
  }

  /// Returns the type of the single result if the pattern already determines it, else null.
  Type getKnownResultType(pdl::OperationOp op) const {
    if (op.getTypeValues().size() != 1)
      return {};
    auto it = types.find(op.getTypeValues().front());
    return it == types.end() ? Type() : it->second;
  }

  bool drawAttributes(pdl::OperationOp op, ArrayRef<Shape> shapes, NamedAttrList &list,
                      SmallVectorImpl<std::pair<Value, Attribute>> &drawn) {
    OperationName name(*op.getOpName(), context);
    OpContext around{name.getStringRef(), shapes, dyn_cast_or_null<RankedTensorType>(getKnownResultType(op))};
    SmallVector<StringAttr> names;
    for (auto [attributeName, source] : llvm::zip(op.getAttributeValueNames(), op.getAttributeValues())) {
      auto it = attributes.find(source);
      if (it != attributes.end())
        list.set(cast<StringAttr>(attributeName), it->second);
      else
        names.push_back(cast<StringAttr>(attributeName));
    }
    size_t named = names.size();
    for (StringAttr inherent : name.isRegistered() ? name.getAttributeNames() : ArrayRef<StringAttr>())
      // `sizes` states where unknown sizes come from; drawn shapes need none.
      if (inherent != "sizes" && !llvm::is_contained(op.getAttributeValueNames(), inherent))
        names.push_back(inherent);
    for (auto [number, attributeName] : llvm::enumerate(names)) {
      FailureOr<Attribute> value = drawAttribute(attributeName, around, palette, context, random);
      if (failed(value))
        return fail("can't draw a value for attribute '" + attributeName.getValue() + "' of '" + name.getStringRef() +
                        "'",
                    true);
      if (number < named && !*value) // The pattern requires the attribute.
        return false;
      if (*value)
        list.set(attributeName, *value);
      if (number < named)
        drawn.push_back({sourceOf(op, attributeName), *value});
    }
    return true;
  }

  static Value sourceOf(pdl::OperationOp op, StringAttr name) {
    for (auto [other, source] : llvm::zip(op.getAttributeValueNames(), op.getAttributeValues()))
      if (other == name)
        return source;
    return {};
  }

  bool draw(pdl::OperationOp op) {
    if (!op.getOpName())
      return fail("it matches ops of any name", true);
    SmallVector<Value> operands;
    SmallVector<Leaf> leaves;
    if (!collectOperands(op, operands, leaves))
      return false;
    for (unsigned i = 0; i < kTriesPerOp && !hopeless; ++i)
      if (tryDraw(op, operands, leaves))
        return true;
    return hopeless ? false : fail("found no operands and attributes that '" + *op.getOpName() + "' accepts");
  }

  bool tryDraw(pdl::OperationOp op, ArrayRef<Value> operands, SmallVectorImpl<Leaf> &leaves) {
    SmallVector<Shape> shapes;
    for (Value operand : operands)
      if (auto type = dyn_cast<RankedTensorType>(operand.getType());
          type && llvm::none_of(leaves, [&](const Leaf &leaf) { return leaf.placeholder == operand; }))
        shapes.emplace_back(type.getShape());
    if (auto type = dyn_cast_or_null<RankedTensorType>(getKnownResultType(op)); type && shapes.empty())
      shapes.emplace_back(type.getShape());
    for (Leaf &leaf : leaves) {
      if (!drawLeaf(leaf, shapes))
        return false;
      shapes.emplace_back(leaf.type.getShape());
      leaf.placeholder.setType(leaf.type);
    }
    shapes.clear(); // Attributes need the shapes in the order of the operands.
    for (Value operand : operands)
      if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
        shapes.emplace_back(type.getShape());
    OperationState state(builder.getUnknownLoc(), *op.getOpName());
    SmallVector<std::pair<Value, Attribute>> drawn;
    if (!drawAttributes(op, shapes, state.attributes, drawn))
      return false;
    state.addOperands(operands);
    if (failed(inferTypes(state, std::nullopt)))
      return false;
    if (state.types.empty() && !op.getTypeValues().empty())
      return fail("the result types of '" + *op.getOpName() + "' can't be inferred", true);
    return takeTypes(op, state.types) && finish(op, state, leaves, drawn);
  }

  bool isAllowed(pdl::OperationOp op, ArrayRef<Type> results) const {
    for (Operation *user : op.getOp().getUsers())
      if (auto result = dyn_cast<pdl::ResultOp>(user); result && result.getIndex() < results.size())
        if (auto it = hints.find(result.getVal()); it != hints.end()) {
          auto type = dyn_cast<RankedTensorType>(results[result.getIndex()]);
          if (!type || !it->second.allows(type))
            return false;
        }
    return llvm::all_of(results, [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && isUsable(tensor);
    });
  }

  /// Binds the result types. Returns false if the pattern already determines other types.
  bool takeTypes(pdl::OperationOp op, ArrayRef<Type> results) {
    if (!isAllowed(op, results))
      return false;
    if (op.getTypeValues().size() != results.size())
      return true; // The types are left out or are a range. The pattern checks them in the end.
    for (auto [source, type] : llvm::zip(op.getTypeValues(), results))
      if (auto it = types.find(source); it != types.end() && it->second != type)
        return false;
    for (auto [source, type] : llvm::zip(op.getTypeValues(), results))
      if (isa<pdl::TypeType>(source.getType()))
        types[source] = type;
    return true;
  }

  bool finish(pdl::OperationOp op, OperationState &state, ArrayRef<Leaf> leaves,
              ArrayRef<std::pair<Value, Attribute>> drawn) {
    Operation *made = builder.create(state);
    bool good = succeeded(verify(made));
    if (!good) {
      made->erase();
      return false;
    }
    ops[op.getOp()] = made;
    for (auto [source, attribute] : drawn)
      attributes[source] = attribute;
    for (const Leaf &leaf : leaves) {
      keepLeaf(leaf);
      if (auto operand = leaf.source.getDefiningOp<pdl::OperandOp>(); operand && operand.getValueType())
        types[operand.getValueType()] = leaf.type;
    }
    return true;
  }

  /// Replaces the leaf by a constant if the pattern requires one.
  void keepLeaf(const Leaf &leaf) {
    auto found = hints.find(leaf.source);
    const ValueHints *wanted = found == hints.end() ? nullptr : &found->second;
    if (!wanted || !isConstant(*wanted)) {
      values[leaf.source].push_back(leaf.placeholder);
      auto name = leaf.source.getDefiningOp()->getAttrOfType<StringAttr>("capture");
      names[leaf.placeholder] = name ? name.str() : "";
      return;
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    Value constant = ConstantOp::create(builder, builder.getUnknownLoc(), makeElements(*wanted, leaf.type));
    Value(leaf.placeholder).replaceAllUsesWith(constant);
    values[leaf.source].push_back(constant);
  }

  DenseElementsAttr makeElements(const ValueHints &wanted, RankedTensorType type) {
    Type element = type.getElementType();
    auto real = dyn_cast_or_null<FloatAttr>(wanted.splat);
    auto integer = dyn_cast_or_null<IntegerAttr>(wanted.splat);
    if (real || integer) {
      double number = real ? real.getValueAsDouble() : integer.getValue().signedRoundToDouble();
      if (isa<FloatType>(element)) {
        double off = random.oneIn(2) ? random.real(-wanted.tolerance, wanted.tolerance) : 0;
        slack = std::max(slack, std::abs(off));
        return DenseElementsAttr::get(type, builder.getFloatAttr(element, number + off));
      }
      return DenseElementsAttr::get(type, builder.getIntegerAttr(element, static_cast<int64_t>(number)));
    }
    if (wanted.isScalarConstant && isa<FloatType>(element)) {
      static constexpr double kNumbers[] = {1e-12, 1e-5, 1e-3, 0.1, 2};
      return DenseElementsAttr::get(type, builder.getFloatAttr(element, random.pick(kNumbers)));
    }
    HostTensor tensor = makeTensor(type);
    fill(tensor, Fill::Plain, random);
    return toAttribute(tensor);
  }

  /// Returns the results of the root and of all ops that the rewrite replaces.
  void addReturn() {
    llvm::SmallSetVector<Operation *, 4> replaced;
    if (Value root = pattern.getRewriter().getRoot())
      replaced.insert(ops.lookup(root));
    pattern.getRewriter().getBodyRegion().walk([&](pdl::ReplaceOp op) {
      if (Operation *made = ops.lookup(op.getOpValue()))
        replaced.insert(made);
    });
    SmallVector<Value> results;
    for (Operation *op : replaced)
      llvm::append_range(results, op->getResults());
    func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
    for (unsigned i = block->getNumArguments(); i > 0; --i) // Erases the placeholders of leaves that became constants.
      if (!names.contains(block->getArgument(i - 1)))
        block->eraseArgument(i - 1);
    for (Value argument : block->getArguments())
      argumentNames.push_back(names.lookup(argument));
    function.setFunctionType(builder.getFunctionType(block->getArgumentTypes(), ValueRange(results).getTypes()));
  }

  pdl::PatternOp pattern;
  MLIRContext *context;
  const Hints &hints;
  const Palette &palette;
  Random &random;
  OpBuilder builder;
  func::FuncOp function;
  Block *block = nullptr;
  bool hopeless = false;
  DenseMap<Value, Type> types;
  DenseMap<Value, Attribute> attributes;
  DenseMap<Value, SmallVector<Value, 1>> values;
  DenseMap<Value, std::string> names; ///< Names of the arguments that stay.
};
} // namespace

static bool isDynamic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

PatternInstance inlay::drawInstance(const PDLPattern &pattern, DictionaryAttr args, Type dtype, bool dynamic,
                                    Random &random) {
  const CompiledPattern &compiled = pattern.getCompiled();
  pdl::PatternOp source = compiled.source;
  Hints hints = readHints(source);
  ScopedDiagnosticHandler quiet(source.getContext(), [](Diagnostic &) { return success(); });
  Value root = cast<pdl::OperationOp>(compiled.program.slots[compiled.program.ops.front()].source).getOp();
  PatternInstance instance;
  for (unsigned i = 0; i < kAttempts; ++i) {
    Palette palette(random, dtype, dynamic);
    Drawer drawer(source, hints, palette, random);
    if (!drawer.run()) {
      instance.whyNot = drawer.whyNot;
      if (drawer.isHopeless())
        break;
      continue;
    }
    // The second half of the attempts also accepts static shapes, for patterns that require them.
    if (dynamic && i < kAttempts / 2 && llvm::none_of(drawer.getFunction().getArgumentTypes(), isDynamic))
      continue;
    std::string why;
    Match match;
    Operation *made = drawer.ops.lookup(root);
    if (succeeded(pattern.match(made, match, {args, false, &why, nullptr})) &&
        (!dynamic || specialize(drawer.getFunction(), palette.unknown, why))) {
      instance.unknownSize = palette.unknown;
      instance.slack = drawer.slack;
      instance.module = std::move(drawer.module);
      instance.root = made;
      instance.argumentNames = std::move(drawer.argumentNames);
      return instance;
    }
    instance.whyNot = "the pattern doesn't match the drawn graphs: " + why;
  }
  return instance;
}
