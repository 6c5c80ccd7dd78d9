// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites the calls of kernels and allocations in generated code to calls through the context. HostCode.cpp runs
// this among its stages.

#include "HostCalls.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace inlay;

// Indices of the fields of InlayHostContext (inlay/Runtime/Core/HostKernels.h).
static constexpr int32_t kRunField = 0;
static constexpr int32_t kCallField = 1;

namespace {
/// Rewrites the calls of one function.
class ContextCaller {
public:
  explicit ContextCaller(LLVM::LLVMFuncOp func)
      : func(func), builder(func.getContext()), pointer(LLVM::LLVMPointerType::get(func.getContext())),
        number(builder.getI64Type()) {}

  void run() {
    SmallVector<LLVM::CallOp> calls;
    func.walk([&](LLVM::CallOp call) {
      if (call->hasAttr(plan::kKernelAttr))
        calls.push_back(call);
    });
    for (LLVM::CallOp call : calls) {
      auto kernel = cast<plan::HostKernelAttr>(func->getAttrOfType<ArrayAttr>(
          plan::kKernelsAttr)[call->getAttrOfType<IntegerAttr>(plan::kKernelAttr).getInt()]);
      builder.setInsertionPoint(call);
      if (kernel.getKind() == plan::HostKernelKind::loops)
        runLoops(call);
      else
        callLibrary(call, kernel);
      call.erase();
    }
    // A call ends before the next one starts, so all calls use the same arrays.
    resize(pointers, maxPointers);
    resize(sizes, maxSizes);
  }

private:
  Value constant(Location loc, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, number, builder.getI64IntegerAttr(value));
  }

  Value at(Location loc, Type element, Value base, int32_t index) {
    return LLVM::GEPOp::create(builder, loc, pointer, element, base, ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(index)});
  }

  /// Returns an array on the stack that all calls share. `resize` sets its length at the end.
  Value allocate(Type element, Value &array) {
    if (!array) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&func.getBody().front());
      array = LLVM::AllocaOp::create(builder, func.getLoc(), pointer, element, constant(func.getLoc(), 1));
    }
    return array;
  }

  void resize(Value array, int64_t length) {
    if (!array)
      return;
    auto alloca = array.getDefiningOp<LLVM::AllocaOp>();
    builder.setInsertionPoint(alloca);
    alloca.getArraySizeMutable().assign(constant(func.getLoc(), length));
  }

  Value store(Location loc, ValueRange values, Type element, Value &array, int64_t &maxLength) {
    maxLength = std::max<int64_t>({maxLength, 1, static_cast<int64_t>(values.size())});
    Value base = allocate(element, array);
    for (auto [index, value] : llvm::enumerate(values))
      LLVM::StoreOp::create(builder, loc, value, at(loc, element, base, index));
    return base;
  }

  void callField(Location loc, int32_t field, ArrayRef<Value> arguments) {
    Value context = func.getArguments().back();
    Value callee = LLVM::LoadOp::create(builder, loc, pointer, at(loc, pointer, context, field));
    SmallVector<Value> operands{callee, context};
    llvm::append_range(operands, arguments);
    SmallVector<Type> types;
    for (Value operand : ArrayRef(operands).drop_front())
      types.push_back(operand.getType());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), types);
    LLVM::CallOp::create(builder, loc, type, operands);
  }

  Value numberOf(LLVM::CallOp call) {
    return constant(call.getLoc(), call->getAttrOfType<IntegerAttr>(plan::kKernelAttr).getInt());
  }

  void runLoops(LLVM::CallOp call) {
    Location loc = call.getLoc();
    Value body = LLVM::AddressOfOp::create(builder, loc, pointer, call.getCalleeAttr());
    Value buffers = store(loc, call.getArgOperands().drop_front(2), pointer, pointers, maxPointers);
    Value cost = constant(loc, call->getAttrOfType<IntegerAttr>(plan::kCostAttr).getInt());
    callField(loc, kRunField, {numberOf(call), body, buffers, call.getArgOperands()[1], cost});
  }

  void callLibrary(LLVM::CallOp call, plan::HostKernelAttr kernel) {
    Location loc = call.getLoc();
    OperandRange operands = call.getArgOperands();
    size_t first = operands.size() - 2 * kernel.getBuffers();
    SmallVector<Value> buffers;
    for (size_t i = first; i < operands.size(); i += 2)
      buffers.push_back(LLVM::GEPOp::create(builder, loc, pointer, builder.getF32Type(), operands[i],
                                            ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(operands[i + 1])}));
    Value array = store(loc, buffers, pointer, pointers, maxPointers);
    Value numbers = store(loc, operands.take_front(first), number, sizes, maxSizes);
    callField(loc, kCallField, {numberOf(call), array, numbers});
  }

  LLVM::LLVMFuncOp func;
  OpBuilder builder;
  Type pointer, number;
  Value pointers, sizes; ///< Arrays.
  int64_t maxPointers = 0, maxSizes = 0;
};
} // namespace

void inlay::callThroughContext(LLVM::LLVMFuncOp func) { ContextCaller(func).run(); }

void inlay::packArguments(LLVM::LLVMFuncOp func) {
  OpBuilder builder(func);
  Location loc = func.getLoc();
  std::string name = func.getName().str();
  func.setName(name + "_body");
  func.setLinkage(LLVM::Linkage::Internal);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> types{pointer};
  for (Type type : func.getArgumentTypes())
    if (type != pointer)
      types.push_back(type);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), types);
  auto wrapper = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  builder.setInsertionPointToStart(wrapper.addEntryBlock(builder));
  SmallVector<Value> arguments;
  unsigned numbers = types.size() - 1;
  for (unsigned i = 0; i < numbers; ++i)
    arguments.push_back(wrapper.getArgument(1 + i));
  for (unsigned i = numbers; i < func.getNumArguments(); ++i) {
    func.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, wrapper.getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(static_cast<int32_t>(i - numbers))});
    arguments.push_back(LLVM::LoadOp::create(builder, loc, pointer, slot));
  }
  LLVM::CallOp::create(builder, loc, func, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}
