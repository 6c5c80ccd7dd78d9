// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifies the attributes of the dialect: targets, symbols and verdicts, and reads properties of the Vulkan target
// such as features and matrix shapes.

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Support/Tuning.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace inlay;

#define GET_ATTRDEF_CLASSES
#include "inlay/Dialect/Inlay/IR/InlayAttrs.cpp.inc"

void InlayDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "inlay/Dialect/Inlay/IR/InlayAttrs.cpp.inc"
      >();
}

//===-- #inlay.vulkan -------------------------------------------------------------------------------------------===//

static std::optional<DeviceKind> symbolizeDeviceKind(StringRef kind) {
  return llvm::StringSwitch<std::optional<DeviceKind>>(kind)
      .Case("discrete", DeviceKind::DiscreteGpu)
      .Case("integrated", DeviceKind::IntegratedGpu)
      .Case("software", DeviceKind::SoftwareVulkan)
      .Default(std::nullopt);
}

LogicalResult VulkanAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t maxWorkgroupInvocations,
                                 int64_t maxWorkgroupCount, int64_t maxStorageBufferRange, int64_t maxStorageBuffers,
                                 int64_t subgroupSize, ArrayAttr features, StringAttr kind, int64_t maxWorkgroupMemory,
                                 bool rowKernels, int64_t maxTexelElements, ArrayAttr matrices, DictionaryAttr tuning) {
  if (maxWorkgroupInvocations < 1 || maxWorkgroupCount < 1 || maxStorageBufferRange < 1 || maxStorageBuffers < 1 ||
      maxWorkgroupMemory < 1 || maxTexelElements < 1)
    return emitError() << "expected device limits of at least 1";
  if (subgroupSize < 0 || (subgroupSize & (subgroupSize - 1)))
    return emitError() << "expected subgroup_size to be a power of two or 0, but got " << subgroupSize;
  static constexpr StringLiteral known[] = {
      "float16",          "float64",    "int8", "int16", "int64", "subgroup-arithmetic", "subgroup-broadcast",
      "subgroup-shuffle", "texel-reads"};
  for (Attribute feature : features ? features.getValue() : ArrayRef<Attribute>())
    if (!isa<StringAttr>(feature) || !llvm::is_contained(known, cast<StringAttr>(feature).getValue()))
      return emitError() << "expected features among " << llvm::join(ArrayRef(known), ", ") << ", but got " << feature;
  if (kind && !symbolizeDeviceKind(kind.getValue()))
    return emitError() << "expected kind to be discrete, integrated or software, but got '" << kind.getValue() << "'";
  for (Attribute matrix : matrices ? matrices.getValue() : ArrayRef<Attribute>())
    if (!isa<StringAttr>(matrix) || !parseMatrixShape(cast<StringAttr>(matrix).getValue()))
      return emitError()
             << "expected matrices as \"16x8x16xf16xf32\": rows, columns and depth, which are powers of two "
                "up to 256, the type of elements and that of sums, but got "
             << matrix;
  if (matrices && !matrices.empty() && subgroupSize == 0)
    return emitError() << "expected a subgroup_size if there are matrices, because subgroups multiply them";
  for (NamedAttribute cost : tuning ? tuning.getValue() : ArrayRef<NamedAttribute>()) {
    if (!llvm::is_contained(getTuningKeys(), cost.getName().getValue()))
      return emitError() << "expected keys of tuning among " << llvm::join(getTuningKeys(), ", ") << ", but got "
                         << cost.getName();
    auto number = dyn_cast<FloatAttr>(cost.getValue());
    if (!number || !(number.getValueAsDouble() > 0) || !number.getValue().isFinite())
      return emitError() << "expected tuning's " << cost.getName() << " to be a float above 0, but got "
                         << cost.getValue();
  }
  return success();
}

SmallVector<MatrixShape> VulkanAttr::getMatrixShapes() const {
  SmallVector<MatrixShape> shapes;
  if (ArrayAttr texts = getMatrices())
    for (StringRef text : texts.getAsValueRange<StringAttr>())
      shapes.push_back(*parseMatrixShape(text));
  return shapes;
}

DeviceKind VulkanAttr::getDeviceKind() const {
  return getKind() ? *symbolizeDeviceKind(getKind().getValue()) : DeviceKind::IntegratedGpu;
}

bool VulkanAttr::hasFeature(StringRef feature) const {
  return getFeatures() && llvm::is_contained(getFeatures().getAsValueRange<StringAttr>(), feature);
}

//===-- #inlay.declared -----------------------------------------------------------------------------------------===//

LogicalResult DeclaredAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                                   ArrayRef<StringAttr> ops) {
  if (name.empty())
    return emitError() << "expected a target name, but got an empty string";
  for (StringAttr op : ops)
    if (op.empty())
      return emitError() << "expected names of ops, but got an empty string in target '" << name << "'";
  return success();
}

StringRef DeclaredAttr::getTargetName() const { return getName(); }

bool DeclaredAttr::isAccelerator() const { return getName() != "host" && getName() != "torch"; }

Verdict DeclaredAttr::canRun(Operation *op) const {
  for (StringAttr name : getOps())
    if (name == "*" || matchesName(op, name.getValue()))
      return Verdict::supported();
  return {ReasonCode::NoConverter,
          (getReportedName(op) + " is not among the ops that '" + getName() + "' declares").str()};
}

//===-- #inlay.symbol -------------------------------------------------------------------------------------------===//

LogicalResult SymbolAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name, int64_t min, int64_t max,
                                 int64_t typical) {
  if (name.empty())
    return emitError() << "expected the name of a size, but got an empty string";
  if (min < 0)
    return emitError() << "expected '" << name << "' to be at least 0, but its range starts at " << min;
  if (min > max)
    return emitError() << "expected the range of '" << name << "' to start before its end, but got " << min << " to "
                       << max;
  if (typical && (typical < min || typical > max))
    return emitError() << "expected the typical size of '" << name << "' to be from " << min << " to " << max
                       << ", but got " << typical;
  return success();
}

//===-- #inlay.verdict ------------------------------------------------------------------------------------------===//

LogicalResult VerdictAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef target, StringRef code,
                                  StringRef, StringAttr) {
  if (target.empty())
    return emitError() << "expected the name of a target, but got an empty string";
  if (!symbolizeReasonCode(code))
    return emitError() << "expected a reason code, but got '" << code << "'";
  return success();
}
