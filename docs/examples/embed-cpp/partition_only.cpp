// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses only the partitioner, as one pass among others, on a dialect whose ops implement no interface. An external model
// describes them to the partitioner.

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Partition/OpInterface.h"
#include "inlay/Partition/Partitioning.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {
/// An op without side effects that declares no effects. Any target can run it, so it may join the segment of its users.
struct IdentityOp : Op<IdentityOp, OpTrait::OneOperand, OpTrait::OneResult, OpTrait::ZeroRegions> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IdentityOp)
  using Op::Op;
  static StringRef getOperationName() { return "mine.identity"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

struct MyDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MyDialect)
  explicit MyDialect(MLIRContext *context) : Dialect("mine", context, TypeID::get<MyDialect>()) {
    addOperations<IdentityOp>();
  }
  static StringRef getDialectNamespace() { return "mine"; }
};

struct IdentityModel : inlay::PartitionOpInterface::ExternalModel<IdentityModel, IdentityOp> {
  bool isNeutral(Operation *) const { return true; }
  bool statesEffects(Operation *) const { return true; }
};
} // namespace

static constexpr llvm::StringLiteral kModule = R"mlir(
module attributes {inlay.targets = [#inlay.declared<"npu", ["math.exp", "math.tanh", "mine.identity"]>,
                                    #inlay.declared<"cpu", ["*"]>]} {
  func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = math.cbrt %x : tensor<4xf32>
    %1 = "mine.identity"(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = math.tanh %1 : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
)mlir";

int main() {
  DialectRegistry registry;
  inlay::registerPartitionDialects(registry);
  registry.insert<func::FuncDialect, math::MathDialect, MyDialect>();
  registry.addExtension(
      +[](MLIRContext *context, MyDialect *) { IdentityOp::attachInterface<IdentityModel>(*context); });
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kModule, &context);
  if (!module)
    return 1;

  PassManager manager(&context);
  manager.addPass(createCSEPass());
  manager.addPass(inlay::createPartitionPass());
  if (failed(manager.run(*module)))
    return 1;

  for (auto function : module->getOps<func::FuncOp>())
    for (const inlay::SegmentedBlock &segment : inlay::getSegmentedBlocks(function)) {
      llvm::outs() << segment.target << ":";
      for (const std::string &op : segment.ops)
        llvm::outs() << " " << op;
      llvm::outs() << "\n";
    }
  return 0;
}
