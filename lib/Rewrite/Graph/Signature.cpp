// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On an op, `inlay.signature` is a list of records, innermost call first. A record has the call's key and, for each
// operand and result, the number of the call's tensor, or -1 for none. The module's `inlay.signatures` stores the rest
// in dictionaries of decreasing sizes. To add a call, the last dictionaries that are no larger than the new one are
// merged with it. N calls thus cost O(N log N), and undoing a call restores the previous attribute.

#include "inlay/Rewrite/Signature.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"

using namespace mlir;
using namespace inlay;

static constexpr StringLiteral kCall = "call", kOperands = "operands", kResults = "results", kFunction = "function",
                               kArguments = "arguments", kOutputs = "outputs", kParent = "parent";

//===-- Recording -----------------------------------------------------------------------------------------------===//

thread_local SignatureRecorder *SignatureRecorder::current = nullptr;

static ArrayRef<Attribute> getParts(ModuleOp module) {
  auto parts = module->getAttrOfType<ArrayAttr>(InlayDialect::kSignaturesAttr);
  bool good = parts && llvm::all_of(parts, llvm::IsaPred<DictionaryAttr>); // The verifier reports a malformed
                                                                           // attribute.
  return good ? parts.getValue() : ArrayRef<Attribute>();
}

/// Returns the record of `key`, or null if there is none.
static DictionaryAttr findRecord(ModuleOp module, StringRef key) {
  for (Attribute part : getParts(module))
    if (auto record = cast<DictionaryAttr>(part).getAs<DictionaryAttr>(key))
      return record;
  return {};
}

static void addRecord(ModuleOp module, StringAttr key, DictionaryAttr record) {
  MLIRContext *context = module.getContext();
  SmallVector<Attribute> parts(getParts(module));
  SmallVector<NamedAttribute> last{NamedAttribute(key, record)};
  while (!parts.empty() && cast<DictionaryAttr>(parts.back()).size() <= last.size()) {
    ArrayRef<NamedAttribute> part = cast<DictionaryAttr>(parts.pop_back_val()).getValue();
    SmallVector<NamedAttribute> joined;
    std::set_union(part.begin(), part.end(), last.begin(), last.end(), std::back_inserter(joined));
    last = std::move(joined);
  }
  parts.push_back(DictionaryAttr::getWithSorted(context, last));
  module->setAttr(InlayDialect::kSignaturesAttr, ArrayAttr::get(context, parts));
}

static Value getTensor(const CallInputs &inputs, TensorAttr tensor) {
  auto number = static_cast<uint64_t>(tensor.getNumber());
  return number < inputs.tensors.size() ? inputs.tensors[number] : Value();
}

Value CallInputs::getTensor(StringRef name) const {
  auto tensor = dyn_cast_or_null<TensorAttr>(get(name));
  return tensor ? ::getTensor(*this, tensor) : Value();
}

void CallInputs::setTensor(StringRef name, Value value) {
  set(name, TensorAttr::get(value.getContext(), tensors.size()));
  tensors.push_back(value);
}

SignatureRecorder::SignatureRecorder(OpBuilder &builder, ModuleOp module, StringRef function)
    : ForwardingListener(builder.getListener()), builder(builder), module(module), function(function),
      outer(builder.getListener()), parent(current) {
  // Number of earlier calls, including those that are still being recorded.
  size_t number = 0;
  for (Attribute part : getParts(module))
    number += cast<DictionaryAttr>(part).size();
  for (SignatureRecorder *open = parent; open; open = open->parent)
    ++number;
  do
    key = this->function + "_" + std::to_string(number++);
  while (isTaken(key));
  builder.setListener(this);
  current = this;
}

bool SignatureRecorder::isTaken(StringRef wanted) const {
  for (SignatureRecorder *open = parent; open; open = open->parent)
    if (open->key == wanted)
      return true;
  return findRecord(module, wanted) != nullptr;
}

Attribute SignatureRecorder::tensor(Value value) {
  auto [it, isNew] = tensors.insert({value, static_cast<int64_t>(tensors.size())});
  return TensorAttr::get(builder.getContext(), it->second);
}

void SignatureRecorder::copyArguments(const CallInputs &inputs) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](TensorAttr old) -> std::pair<Attribute, WalkResult> {
    Value value = getTensor(inputs, old);
    return {value ? tensor(value) : builder.getUnitAttr(), WalkResult::skip()};
  });
  for (NamedAttribute input : inputs.arguments)
    argument(input.getName(), replacer.replace(input.getValue()));
}

void SignatureRecorder::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) {
  if (!previous.isSet())
    ops.push_back(op);
  ForwardingListener::notifyOperationInserted(op, previous);
}

void SignatureRecorder::notifyOperationErased(Operation *op) {
  llvm::erase(ops, op);
  ForwardingListener::notifyOperationErased(op);
}

/// Returns the record of one call for the attribute of an op.
static DictionaryAttr makeRecord(StringAttr key, ArrayRef<int64_t> operands, ArrayRef<int64_t> results) {
  MLIRContext *context = key.getContext();
  NamedAttrList record;
  record.set(kCall, key);
  record.set(kOperands, DenseI64ArrayAttr::get(context, operands));
  record.set(kResults, DenseI64ArrayAttr::get(context, results));
  return record.getDictionary(context);
}

SignatureRecorder::~SignatureRecorder() {
  builder.setListener(outer);
  current = parent;
  MLIRContext *context = builder.getContext();
  auto number = [&](Value value) {
    auto it = tensors.find(value);
    return it == tensors.end() ? int64_t(-1) : it->second;
  };
  StringAttr keyAttr = builder.getStringAttr(key);
  for (Operation *op : ops) {
    SmallVector<Attribute> records;
    if (auto inner = op->getAttrOfType<ArrayAttr>(InlayDialect::kSignatureAttr))
      llvm::append_range(records, inner);
    records.push_back(
        makeRecord(keyAttr, llvm::map_to_vector(op->getOperands(), number),
                   llvm::map_to_vector(op->getResults(), [&](OpResult result) { return number(result); })));
    op->setAttr(InlayDialect::kSignatureAttr, builder.getArrayAttr(records));
    op->setLoc(addSignatureKey(op->getLoc(), keyAttr));
  }
  NamedAttrList record;
  record.set(kFunction, builder.getStringAttr(function));
  NamedAttrList named;
  for (auto &[name, structure] : arguments)
    named.set(name, structure ? structure : builder.getUnitAttr());
  record.set(kArguments, named.getDictionary(context));
  if (outputStructure)
    record.set(kOutputs, outputStructure);
  if (parent)
    record.set(kParent, builder.getStringAttr(parent->key));
  addRecord(module, keyAttr, record.getDictionary(context));
}

//===-- Reading -------------------------------------------------------------------------------------------------===//

StringRef Signature::getFunction() const {
  auto name = record.getAs<StringAttr>(kFunction);
  return name ? name.getValue() : "";
}

StringRef Signature::getParent() const {
  auto name = record.getAs<StringAttr>(kParent);
  return name ? name.getValue() : "";
}

DictionaryAttr Signature::getArguments() const {
  auto arguments = record.getAs<DictionaryAttr>(kArguments);
  return arguments ? arguments : DictionaryAttr::get(record.getContext());
}

Attribute Signature::getOutputs() const { return record.get(kOutputs); }

/// Calls `visit` with the key and the record of each call that `op` belongs to, innermost first.
static void visitRecords(Operation *op, function_ref<void(StringAttr, DictionaryAttr)> visit) {
  auto records = op->getAttrOfType<ArrayAttr>(InlayDialect::kSignatureAttr);
  for (Attribute attribute : records ? records.getValue() : ArrayRef<Attribute>())
    if (auto record = dyn_cast<DictionaryAttr>(attribute))
      if (auto key = record.getAs<StringAttr>(kCall))
        visit(key, record);
}

/// Returns the numbers of the call's tensors in the record of `op` under `which`, which is kOperands or kResults.
/// Returns an empty list if there are not `count` of them.
static ArrayRef<int64_t> getNumbers(Operation *op, StringRef key, StringRef which, size_t count) {
  ArrayRef<int64_t> found;
  visitRecords(op, [&](StringAttr call, DictionaryAttr record) {
    auto numbers = record.getAs<DenseI64ArrayAttr>(which);
    if (found.empty() && call.getValue() == key && numbers && static_cast<size_t>(numbers.size()) == count)
      found = numbers.asArrayRef();
  });
  return found;
}

ArrayAttr inlay::mergeSignatures(ArrayRef<Operation *> matched, ValueRange operands, Operation *replaced,
                                 size_t results) {
  llvm::SmallSetVector<StringAttr, 2> keys;
  for (Operation *op : matched)
    visitRecords(op, [&](StringAttr key, DictionaryAttr) { keys.insert(key); });
  if (keys.empty())
    return {};
  SmallVector<Attribute> records;
  for (StringAttr key : keys) {
    llvm::SmallDenseMap<Value, int64_t, 8> inputs;
    for (Operation *op : matched)
      for (auto [operand, number] : llvm::zip(op->getOperands(), getNumbers(op, key, kOperands, op->getNumOperands())))
        if (number >= 0)
          inputs.try_emplace(operand, number);
    auto find = [&](Value operand) {
      auto it = inputs.find(operand);
      return it == inputs.end() ? int64_t(-1) : it->second;
    };
    SmallVector<int64_t> outputs(results, -1);
    if (replaced)
      if (ArrayRef<int64_t> numbers = getNumbers(replaced, key, kResults, results); !numbers.empty())
        outputs.assign(numbers.begin(), numbers.end());
    records.push_back(makeRecord(key, llvm::map_to_vector(operands, find), outputs));
  }
  return ArrayAttr::get(keys.front().getContext(), records);
}

Value Signature::getInputTensor(int64_t number) const {
  for (Operation *op : ops)
    for (auto [index, tensor] : llvm::enumerate(getNumbers(op, key, kOperands, op->getNumOperands())))
      if (tensor == number)
        return op->getOperand(index);
  return {};
}

Value Signature::getOutputTensor(int64_t number) const {
  for (Operation *op : ops)
    for (auto [index, tensor] : llvm::enumerate(getNumbers(op, key, kResults, op->getNumResults())))
      if (tensor == number)
        return op->getResult(index);
  return getInputTensor(number); // A call may return one of its inputs.
}

Value Signature::getInput(StringRef name) const {
  auto tensor = getArguments().getAs<TensorAttr>(name);
  return tensor ? getInputTensor(tensor.getNumber()) : Value();
}

/// Calls `visit` for each tensor in a structure, in order. A tensor that occurs twice is visited twice.
static void visitTensors(Attribute structure, function_ref<void(TensorAttr)> visit) {
  if (auto tensor = dyn_cast_or_null<TensorAttr>(structure))
    visit(tensor);
  if (auto list = dyn_cast_or_null<ArrayAttr>(structure))
    for (Attribute element : list)
      visitTensors(element, visit);
  if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(structure))
    for (NamedAttribute entry : dictionary)
      visitTensors(entry.getValue(), visit);
}

CallInputs Signature::cloneInputs() const {
  CallInputs inputs;
  llvm::SmallDenseMap<Attribute, Attribute> places;
  visitTensors(getArguments(), [&](TensorAttr tensor) {
    if (places.insert({tensor, TensorAttr::get(tensor.getContext(), inputs.tensors.size())}).second)
      inputs.tensors.push_back(getInputTensor(tensor.getNumber()));
  });
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](TensorAttr tensor) -> std::pair<Attribute, WalkResult> { return {places[tensor], WalkResult::skip()}; });
  inputs.arguments = NamedAttrList(cast<DictionaryAttr>(replacer.replace(getArguments())));
  return inputs;
}

SmallVector<Value> Signature::getOutputTensors() const {
  SmallVector<Value> values;
  visitTensors(getOutputs(), [&](TensorAttr tensor) { values.push_back(getOutputTensor(tensor.getNumber())); });
  return values;
}

void Signature::replaceInputWith(RewriterBase &rewriter, Value input, Value by) const {
  llvm::SmallPtrSet<Operation *, 8> users(ops.begin(), ops.end());
  rewriter.replaceUsesWithIf(input, by, [&](OpOperand &use) { return users.contains(use.getOwner()); });
}

LogicalResult Signature::replaceOutputsUsesWith(RewriterBase &rewriter, ValueRange values) const {
  SmallVector<Value> outputs = getOutputTensors();
  if (outputs.size() != values.size())
    return rewriter.notifyMatchFailure(ops.empty() ? nullptr : ops.front(), "expected a value for each output");
  llvm::SmallPtrSet<Operation *, 8> callOps(ops.begin(), ops.end());
  for (auto [output, value] : llvm::zip_equal(outputs, values)) {
    if (!output || output.getType() != value.getType())
      return rewriter.notifyMatchFailure(ops.front(), "expected values of the outputs' types");
    Operation *producer = value.getDefiningOp();
    rewriter.replaceUsesWithIf(
        output, value, [&](OpOperand &use) { return !callOps.contains(use.getOwner()) && use.getOwner() != producer; });
  }
  return success();
}

//===-- Finding -------------------------------------------------------------------------------------------------===//

StringAttr inlay::getInnermostCall(Operation *op) {
  StringAttr innermost;
  visitRecords(op, [&](StringAttr key, DictionaryAttr) { innermost = innermost ? innermost : key; });
  return innermost;
}

/// Returns the ancestors of `op`, outermost first, followed by `op`.
static SmallVector<Operation *, 8> getPath(Operation *op) {
  SmallVector<Operation *, 8> path;
  for (; op; op = op->getParentOp())
    path.push_back(op);
  std::reverse(path.begin(), path.end());
  return path;
}

/// Returns true if a post-order walk of the module visits `a` before `b`.
static bool comesBefore(Operation *a, Operation *b) {
  if (a->getBlock() == b->getBlock())
    return a != b && a->isBeforeInBlock(b);
  SmallVector<Operation *, 8> toA = getPath(a), toB = getPath(b);
  auto [fork, other] = std::mismatch(toA.begin(), toA.end(), toB.begin(), toB.end());
  if (fork == toA.end() || other == toB.end())
    return fork != toA.end();
  Block *block = (*fork)->getBlock(), *otherBlock = (*other)->getBlock();
  if (block == otherBlock)
    return (*fork)->isBeforeInBlock(*other);
  if (block->getParent() != otherBlock->getParent())
    return block->getParent()->getRegionNumber() < otherBlock->getParent()->getRegionNumber();
  return block->computeBlockNumber() < otherBlock->computeBlockNumber();
}

SignatureTable::SignatureTable(ModuleOp module) : module(module) {
  module->walk([&](Operation *op) { add(op); });
}

void SignatureTable::add(Operation *op) {
  visitRecords(op, [&](StringAttr key, DictionaryAttr) {
    SmallVector<StringAttr, 1> &known = keys[op];
    if (llvm::is_contained(known, key))
      return;
    known.push_back(key);
    ops[key].push_back(op);
  });
}

void SignatureTable::forget(Operation *op) {
  auto it = keys.find(op);
  if (it == keys.end())
    return;
  for (StringAttr key : it->second)
    llvm::erase(ops[key], op);
  keys.erase(it);
}

std::optional<Signature> SignatureTable::get(StringRef key) const {
  Signature signature;
  signature.record = findRecord(module, key);
  if (!signature.record)
    return std::nullopt;
  signature.key = key.str();
  if (auto it = ops.find(StringAttr::get(module->getContext(), key)); it != ops.end())
    for (Operation *op : it->second) {
      // The op may have been removed or may have lost its record.
      bool names = false;
      visitRecords(op, [&](StringAttr call, DictionaryAttr) { names |= call == it->first; });
      if (names && getPath(op).front() == module)
        signature.ops.push_back(op);
    }
  llvm::sort(signature.ops, comesBefore);
  return signature;
}

std::optional<Signature> SignatureTable::get(Operation *op) const {
  StringAttr key = getInnermostCall(op);
  return key ? get(key.getValue()) : std::nullopt;
}

SmallVector<StringRef> SignatureTable::getKeys() const {
  SmallVector<StringRef> result;
  for (Attribute part : getParts(module))
    for (NamedAttribute entry : cast<DictionaryAttr>(part))
      result.push_back(entry.getName());
  llvm::sort(result);
  return result;
}
