// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emulates element types in one GPU kernel. It changes the types of values in place and adds what keeps them numbers of
// their type: a rounding after float arithmetic, a wrap-around after integer arithmetic. RoundHalves.cpp rounds f16 on
// devices that have it.

#include "EmulateTypes.h"
#include "NarrowNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace inlay;

static bool isNarrowInteger(Type type) { return type.isInteger(8) || type.isInteger(16); }

bool inlay::isEmulated(Type element, VulkanAttr target) {
  if (isNarrowInteger(element)) // Casts between the two then stay in 32 bits.
    return !target.hasFeature("int8") || !target.hasFeature("int16");
  return element.isBF16() || (element.isF16() && !target.hasFeature("float16"));
}

//===-- Kernels -------------------------------------------------------------------------------------------------===//

namespace {
class TypeEmulator {
public:
  TypeEmulator(gpu::GPUFuncOp kernel, VulkanAttr target) : kernel(kernel), target(target) {}

  LogicalResult run();

private:
  /// An op with the types that it had before the types of values were changed.
  struct Original {
    Operation *op;
    SmallVector<Type> operands, results;
  };

  bool emulates(Type type) const { return isEmulated(getElementTypeOrSelf(type), target); }
  bool emulatesInteger(Type type) const { return emulates(type) && isNarrowInteger(getElementTypeOrSelf(type)); }
  bool emulatesFloat(Type type) const { return emulates(type) && isa<FloatType>(getElementTypeOrSelf(type)); }
  bool isPacked(Type element) const;
  bool changesBuffer(Type type) const;
  Type convert(Type type) const;
  MemRefType convertBuffer(MemRefType type) const;

  void splitVectorLoads();
  void changeTypes();
  LogicalResult emulate(const Original &original);
  void emulateLoad(memref::LoadOp load, MemRefType buffer);
  void emulateStore(memref::StoreOp store, MemRefType buffer);
  void emulateConstant(arith::ConstantOp constant, Type type);
  bool emulateBitcast(arith::BitcastOp cast, Type from, Type to);
  bool emulateCast(const Original &original);
  bool emulateArithmetic(const Original &original);

  gpu::GPUFuncOp kernel;
  VulkanAttr target;
  std::vector<Original> originals;
};
} // namespace

static bool isWorkgroupMemory(MemRefType type) { return isa_and_nonnull<gpu::AddressSpaceAttr>(type.getMemorySpace()); }

/// Returns the bits that an element takes in a storage buffer.
static unsigned storedWidth(Type element) { return std::max(8u, element.getIntOrFloatBitWidth()); }

/// Returns true if a word of a storage buffer holds several elements of this type.
bool TypeEmulator::isPacked(Type element) const {
  switch (storedWidth(element)) {
  case 8:
    return !target.hasFeature("int8");
  case 16:
    return emulates(element) && !target.hasFeature("int16");
  default:
    return false;
  }
}

/// Returns true for buffers whose accesses are emulated.
bool TypeEmulator::changesBuffer(Type type) const {
  auto buffer = dyn_cast<MemRefType>(type);
  Type element = buffer ? buffer.getElementType() : Type();
  return element && element.isIntOrFloat() && (emulates(element) || isPacked(element));
}

Type TypeEmulator::convert(Type type) const {
  if (changesBuffer(type))
    return convertBuffer(cast<MemRefType>(type));
  if (isa<MemRefType>(type) || !emulates(type))
    return type;
  Builder builder(type.getContext());
  Type computed = emulatesFloat(type) ? Type(builder.getF32Type()) : Type(builder.getI32Type());
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(computed)) : computed;
}

MemRefType TypeEmulator::convertBuffer(MemRefType type) const {
  Type element = type.getElementType();
  Builder builder(type.getContext());
  MemRefType::Builder changed(type);
  if (isWorkgroupMemory(type))
    return changed.setElementType(element.isInteger(1) ? Type(builder.getI32Type()) : convert(element));
  if (!isPacked(element))
    return changed.setElementType(builder.getIntegerType(storedWidth(element)));
  int64_t words = ShapedType::kDynamic;
  if (!type.isDynamicDim(0))
    words = llvm::divideCeil(type.getDimSize(0), kWordBits / storedWidth(element));
  return changed.setElementType(builder.getI32Type()).setShape({words});
}

//===-- Memory --------------------------------------------------------------------------------------------------===//

namespace {
/// The place of an element in a buffer of words.
struct PackedPlace {
  PackedPlace(WordBuilder &b, Value element, unsigned width) {
    Value perWord = arith::ConstantIndexOp::create(b, kWordBits / width);
    index = arith::DivUIOp::create(b, element, perWord);
    Value number = arith::RemUIOp::create(b, element, perWord);
    shift = arith::MulIOp::create(b, arith::IndexCastOp::create(b, b.getI32Type(), number), b.word(width));
  }

  Value index; ///< Of the word.
  Value shift; ///< Of the element's lowest bit in the word.
};
} // namespace

static unsigned getWidth(Type type) { return getElementTypeOrSelf(type).getIntOrFloatBitWidth(); }

static void replace(Operation *op, Value by) {
  op->getResult(0).replaceAllUsesWith(by);
  op->erase();
}

void TypeEmulator::emulateLoad(memref::LoadOp load, MemRefType buffer) {
  Type element = buffer.getElementType();
  WordBuilder b(load);
  Value word;
  if (isWorkgroupMemory(buffer)) {
    word = memref::LoadOp::create(b, load.getMemRef(), load.getIndices());
    if (!element.isInteger(1))
      return replace(load, word);
  } else if (isPacked(element)) {
    PackedPlace place(b, load.getIndices().front(), storedWidth(element));
    word = b.right(memref::LoadOp::create(b, load.getMemRef(), place.index), place.shift);
  } else {
    word = memref::LoadOp::create(b, load.getMemRef(), load.getIndices());
    word = arith::ExtUIOp::create(b, b.words(), word);
  }
  if (element.isInteger(1))
    replace(load, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, maskInteger(b, word, 8), b.word(0)));
  else if (isa<FloatType>(element))
    replace(load, fromFloatBits(b, word, element));
  else
    replace(load, wrapInteger(b, word, storedWidth(element)));
}

void TypeEmulator::emulateStore(memref::StoreOp store, MemRefType buffer) {
  Type element = buffer.getElementType();
  unsigned width = storedWidth(element);
  WordBuilder b(store);
  Value value = store.getValueToStore();
  if (element.isInteger(1))
    value = arith::ExtUIOp::create(b, b.words(), value);
  else if (isa<FloatType>(element) && !isWorkgroupMemory(buffer))
    value = toFloatBits(b, value, element);
  if (isWorkgroupMemory(buffer)) {
    memref::StoreOp::create(b, value, store.getMemRef(), store.getIndices());
  } else if (isPacked(element)) {
    // Other invocations may write the other elements of the word at the same time. No two invocations of a kernel
    // write different values of one element: the result would have bits of both.
    PackedPlace place(b, store.getIndices().front(), width);
    Value mask = b.left(b.word((uint32_t(1) << width) - 1), place.shift);
    Value others = arith::XOrIOp::create(b, mask, b.word(~uint32_t(0)));
    Value bits = b.left(maskInteger(b, value, width), place.shift);
    memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::andi, others, store.getMemRef(), place.index);
    memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::ori, bits, store.getMemRef(), place.index);
  } else {
    value = arith::TruncIOp::create(b, b.getIntegerType(width), value);
    memref::StoreOp::create(b, value, store.getMemRef(), store.getIndices());
  }
  store.erase();
}

//===-- Values --------------------------------------------------------------------------------------------------===//

void TypeEmulator::emulateConstant(arith::ConstantOp constant, Type type) {
  auto convertElement = [&](auto value) {
    if constexpr (std::is_same_v<decltype(value), APFloat>) {
      bool losesInfo;
      value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
      return value.bitcastToAPInt();
    } else {
      return value.sext(kWordBits);
    }
  };
  Type element = getElementTypeOrSelf(convert(type));
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    constant.setValueAttr(FloatAttr::get(element, APFloat(APFloat::IEEEsingle(), convertElement(number.getValue()))));
  else if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
    constant.setValueAttr(IntegerAttr::get(element, convertElement(integer.getValue())));
  else if (auto floats = dyn_cast<DenseFPElementsAttr>(constant.getValue()))
    constant.setValueAttr(floats.mapValues(element, convertElement));
  else
    constant.setValueAttr(cast<DenseIntElementsAttr>(constant.getValue()).mapValues(element, convertElement));
}

/// Returns true for ops that only move values, so that changing the types is enough.
static bool movesValues(Operation *op) {
  return isa<scf::SCFDialect>(op->getDialect()) ||
         isa<arith::SelectOp, gpu::ShuffleOp, gpu::SubgroupBroadcastOp, memref::AllocOp, vector::BroadcastOp,
             vector::ExtractOp, vector::FromElementsOp, vector::InsertOp, vector::ShuffleOp>(op);
}

/// Replaces a bitcast between types of which at least one is emulated. Returns false if it can't.
bool TypeEmulator::emulateBitcast(arith::BitcastOp cast, Type from, Type to) {
  WordBuilder b(cast);
  Value word = cast.getIn();
  Type fromElement = getElementTypeOrSelf(from), toElement = getElementTypeOrSelf(to);
  if (emulatesFloat(from))
    word = toFloatBits(b, word, fromElement);
  else if (fromElement.isInteger() && !emulates(from))
    word = arith::ExtUIOp::create(b, b.words(), word);
  else if (!emulates(from))
    return false;
  if (emulatesFloat(to))
    word = fromFloatBits(b, word, toElement);
  else if (emulates(to))
    word = wrapInteger(b, word, getWidth(to));
  else if (toElement.isInteger())
    word = arith::TruncIOp::create(b, to, word);
  else
    return false;
  replace(cast, word);
  return true;
}

/// Replaces a cast between types of which at least one is emulated. Returns false for other ops.
bool TypeEmulator::emulateCast(const Original &original) {
  Operation *op = original.op;
  if (auto bitcast = dyn_cast<arith::BitcastOp>(op))
    return emulateBitcast(bitcast, original.operands.front(), original.results.front());
  if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return false;
  WordBuilder b(op);
  Value in = op->getOperand(0);
  Type from = original.operands.front(), to = original.results.front();
  if (isa<arith::TruncFOp>(op)) { // Never from an emulated type, because these have 16 bits.
    if (in.getType() != b.floats())
      in = arith::TruncFOp::create(b, b.floats(), in);
    replace(op, roundFloat(b, in, getElementTypeOrSelf(to)));
  } else if (isa<arith::TruncIOp>(op)) {
    if (!emulates(to)) // To i1.
      return true;
    if (in.getType() != b.words())
      in = arith::TruncIOp::create(b, b.words(), in);
    replace(op, wrapInteger(b, in, getWidth(to)));
  } else if (emulates(from)) {
    if (isa<arith::ExtUIOp>(op))
      in = maskInteger(b, in, getWidth(from));
    if (in.getType() == op->getResult(0).getType())
      replace(op, in);
    else
      op->setOperand(0, in);
  }
  return true;
}

namespace {
/// The correction that makes the result of an op a number of its type.
enum class Correction {
  None,    ///< The result is such a number if the operands are.
  Needed,  ///< The result must be rounded or wrapped.
  Unknown, ///< The op can't be emulated.
};
} // namespace

static Correction getIntegerCorrection(Operation *op) {
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp,
          arith::ShLIOp, arith::ShRUIOp, arith::MaxUIOp, arith::MinUIOp, arith::FPToSIOp, arith::FPToUIOp,
          arith::IndexCastOp, arith::IndexCastUIOp, math::AbsIOp, math::CtPopOp>(op))
    return Correction::Needed;
  bool isExact = isa<arith::AndIOp, arith::CmpIOp, arith::MaxSIOp, arith::MinSIOp, arith::OrIOp, arith::SIToFPOp,
                     arith::ShRSIOp, arith::UIToFPOp, arith::XOrIOp>(op);
  return isExact ? Correction::None : Correction::Unknown;
}

static Correction getFloatCorrection(Operation *op) {
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || isa<arith::BitcastOp>(op) ||
      op->getNumResults() != 1)
    return Correction::Unknown;
  bool isExact =
      isa<arith::CmpFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
          math::AbsFOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::RoundOp, math::RoundEvenOp, math::TruncOp>(
          op);
  return isExact ? Correction::None : Correction::Needed;
}

/// Returns true if the op takes its operands as unsigned integers.
static bool readsUnsigned(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  return (compare && compare.getPredicate() >= arith::CmpIPredicate::ult) ||
         isa<arith::DivUIOp, arith::RemUIOp, arith::ShRUIOp, arith::MaxUIOp, arith::MinUIOp, arith::UIToFPOp,
             arith::IndexCastUIOp, math::CtPopOp>(op);
}

/// Adapts an op of arith or math. Returns false if it can't.
bool TypeEmulator::emulateArithmetic(const Original &original) {
  Operation *op = original.op;
  auto types = llvm::concat<const Type>(original.operands, original.results);
  bool hasIntegers = llvm::any_of(types, [&](Type type) { return emulatesInteger(type); });
  bool hasFloats = llvm::any_of(types, [&](Type type) { return emulatesFloat(type); });
  if ((hasIntegers && getIntegerCorrection(op) == Correction::Unknown) ||
      (hasFloats && getFloatCorrection(op) == Correction::Unknown))
    return false;
  WordBuilder b(op);
  if (readsUnsigned(op))
    for (auto [number, type] : llvm::enumerate(original.operands))
      if (emulatesInteger(type))
        op->setOperand(number, maskInteger(b, op->getOperand(number), getWidth(type)));
  Type result = original.results.front();
  if (emulatesInteger(result) && getIntegerCorrection(op) == Correction::Needed)
    replace(op, wrapInteger(b, b.clone(*op)->getResult(0), getWidth(result)));
  else if (emulatesFloat(result) && getFloatCorrection(op) == Correction::Needed)
    replace(op, roundFloat(b, b.clone(*op)->getResult(0), getElementTypeOrSelf(result)));
  return true;
}

LogicalResult TypeEmulator::emulate(const Original &original) {
  Operation *op = original.op;
  auto types = llvm::concat<const Type>(original.operands, original.results);
  auto isChanged = [&](Type type) { return isa<MemRefType>(type) ? changesBuffer(type) : emulates(type); };
  if (llvm::none_of(types, isChanged) || movesValues(op))
    return success();
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    emulateLoad(load, cast<MemRefType>(original.operands.front()));
    return success();
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    emulateStore(store, cast<MemRefType>(original.operands[1]));
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    emulateConstant(constant, original.results.front());
    return success();
  }
  if (emulateCast(original) || emulateArithmetic(original))
    return success();
  Type type = *llvm::find_if(types, isChanged);
  return op->emitError("unsupported-type: vulkan can't emulate ") << op->getName() << " of " << type;
}

/// Replaces loads of vectors from buffers whose accesses are emulated by loads of their elements.
void TypeEmulator::splitVectorLoads() {
  SmallVector<vector::LoadOp> loads;
  kernel.walk([&](vector::LoadOp load) {
    if (changesBuffer(load.getBase().getType()) && load.getVectorType().getRank() == 1 && load.getIndices().size() == 1)
      loads.push_back(load);
  });
  for (vector::LoadOp load : loads) {
    ImplicitLocOpBuilder b(load.getLoc(), load);
    SmallVector<Value> elements;
    for (int64_t number = 0; number < load.getVectorType().getDimSize(0); ++number) {
      Value offset = arith::ConstantIndexOp::create(b, number);
      Value index = arith::AddIOp::create(b, load.getIndices().front(), offset);
      elements.push_back(memref::LoadOp::create(b, load.getBase(), index));
    }
    for (Operation *user : llvm::make_early_inc_range(load->getUsers()))
      if (auto extract = dyn_cast<vector::ExtractOp>(user); extract && !extract.hasDynamicPosition()) {
        extract.replaceAllUsesWith(elements[extract.getStaticPosition().front()]);
        extract->erase();
      }
    if (load->use_empty())
      load->erase();
  }
}

void TypeEmulator::changeTypes() {
  kernel.walk([&](Operation *op) {
    if (op != kernel)
      originals.push_back({op, llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())});
  });
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      result.setType(convert(result.getType()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(convert(argument.getType()));
  });
  FunctionType type = kernel.getFunctionType();
  kernel.setFunctionType(FunctionType::get(type.getContext(), kernel.getBody().getArgumentTypes(), type.getResults()));
}

LogicalResult TypeEmulator::run() {
  for (BlockArgument argument : kernel.getArguments())
    if (auto buffer = dyn_cast<MemRefType>(argument.getType()); buffer && buffer.getRank() != 1)
      return kernel.emitError("expected buffers with one dim, but got ") << buffer;
  splitVectorLoads();
  changeTypes();
  for (const Original &original : originals)
    if (failed(emulate(original)))
      return failure();
  return success();
}

LogicalResult inlay::emulateTypes(gpu::GPUFuncOp kernel, VulkanAttr target) {
  return TypeEmulator(kernel, target).run();
}
