// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On an op, `inlay.signature` is a list of records, the innermost call first: the call's key, and per operand and
// result the number of the call's tensor that it is, -1 for none. The module's `inlay.signatures` has the rest.

#include "inlay/Rewrite/Signature.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"

using namespace mlir;
using namespace inlay;

static constexpr StringLiteral kCall = "call", kOperands = "operands", kResults = "results", kFunction = "function",
                               kArguments = "arguments", kOutputs = "outputs", kParent = "parent";

//===-- Recording -----------------------------------------------------------------------------------------------===//

thread_local SignatureRecorder *SignatureRecorder::current = nullptr;

static DictionaryAttr getTable(ModuleOp module) {
  auto table = module->getAttrOfType<DictionaryAttr>(InlayDialect::kSignaturesAttr);
  return table ? table : DictionaryAttr::get(module.getContext());
}

static void setRecord(ModuleOp module, StringRef key, DictionaryAttr record) {
  NamedAttrList table(getTable(module));
  table.set(key, record);
  module->setAttr(InlayDialect::kSignaturesAttr, table.getDictionary(module.getContext()));
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
  DictionaryAttr table = getTable(module);
  for (size_t number = table.size();; ++number)
    if (key = this->function + "_" + std::to_string(number); !table.contains(key))
      break;
  setRecord(module, key, DictionaryAttr::get(module.getContext())); // so that nested calls get other keys
  builder.setListener(this);
  current = this;
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
    NamedAttrList record;
    record.set(kCall, keyAttr);
    record.set(kOperands, builder.getDenseI64ArrayAttr(llvm::map_to_vector(op->getOperands(), number)));
    record.set(kResults, builder.getDenseI64ArrayAttr(
                             llvm::map_to_vector(op->getResults(), [&](OpResult result) { return number(result); })));
    SmallVector<Attribute> records;
    if (auto inner = op->getAttrOfType<ArrayAttr>(InlayDialect::kSignatureAttr))
      llvm::append_range(records, inner);
    records.push_back(record.getDictionary(context));
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
  setRecord(module, key, record.getDictionary(context));
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

/// The numbers that `op` has for the call's tensors, under `kOperands` or `kResults`; empty where they don't fit it.
static ArrayRef<int64_t> getNumbers(Operation *op, StringRef key, StringRef which, size_t count) {
  auto records = op->getAttrOfType<ArrayAttr>(InlayDialect::kSignatureAttr);
  for (Attribute attribute : records ? records.getValue() : ArrayRef<Attribute>()) {
    auto record = dyn_cast<DictionaryAttr>(attribute);
    auto call = record ? record.getAs<StringAttr>(kCall) : nullptr;
    auto numbers = record ? record.getAs<DenseI64ArrayAttr>(which) : nullptr;
    if (call && call.getValue() == key && numbers && static_cast<size_t>(numbers.size()) == count)
      return numbers.asArrayRef();
  }
  return {};
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
  return getInputTensor(number); // what comes in may go out
}

Value Signature::getInput(StringRef name) const {
  auto tensor = getArguments().getAs<TensorAttr>(name);
  return tensor ? getInputTensor(tensor.getNumber()) : Value();
}

/// Calls `visit` for each tensor in a structure, from the first to the last, those named twice twice.
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
  llvm::SmallPtrSet<Operation *, 8> own(ops.begin(), ops.end());
  for (auto [output, value] : llvm::zip_equal(outputs, values)) {
    if (!output || output.getType() != value.getType())
      return rewriter.notifyMatchFailure(ops.front(), "expected values of the outputs' types");
    Operation *maker = value.getDefiningOp();
    rewriter.replaceUsesWithIf(
        output, value, [&](OpOperand &use) { return !own.contains(use.getOwner()) && use.getOwner() != maker; });
  }
  return success();
}

SignatureTable::SignatureTable(ModuleOp module) {
  for (NamedAttribute entry : getTable(module))
    if (auto record = dyn_cast<DictionaryAttr>(entry.getValue())) {
      Signature &signature = signatures[entry.getName()];
      signature.key = entry.getName().str();
      signature.record = record;
    }
  module->walk([&](Operation *op) {
    auto records = op->getAttrOfType<ArrayAttr>(InlayDialect::kSignatureAttr);
    for (Attribute attribute : records ? records.getValue() : ArrayRef<Attribute>())
      if (auto record = dyn_cast<DictionaryAttr>(attribute))
        if (auto call = record.getAs<StringAttr>(kCall))
          if (auto it = signatures.find(call); it != signatures.end())
            it->second.ops.push_back(op);
  });
}

const Signature *SignatureTable::get(StringRef key) const {
  if (signatures.empty())
    return nullptr;
  auto it = signatures.find(StringAttr::get(signatures.begin()->first.getContext(), key));
  return it == signatures.end() ? nullptr : &it->second;
}

const Signature *SignatureTable::get(Operation *op) const {
  auto records = op->getAttrOfType<ArrayAttr>(InlayDialect::kSignatureAttr);
  auto record = records && !records.empty() ? dyn_cast<DictionaryAttr>(records[0]) : nullptr;
  auto call = record ? record.getAs<StringAttr>(kCall) : nullptr;
  return call ? get(call.getValue()) : nullptr;
}
