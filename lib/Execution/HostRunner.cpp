// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a small graph for the host and runs it on given tensors. Rewrite/Check/RuleCheck.cpp makes the graphs and
// compares the results.

#include "inlay/Execution/HostRunner.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Execution/Compile.h"
#include "inlay/Pipeline/InitAll.h"
#include "inlay/Rewrite/GraphRunner.h"

#include "mlir/Dialect/PDL/IR/PDL.h"

using namespace mlir;
using namespace inlay;

static llvm::Error toError(const rt::Status &status) { return llvm::createStringError(status.message()); }

static std::optional<rt::ElementType> getElementType(Type type) {
  using rt::ElementType;
  if (isa<FloatType>(type))
    return type.isF16()    ? ElementType::F16
           : type.isBF16() ? ElementType::BF16
           : type.isF32()  ? ElementType::F32
           : type.isF64()  ? ElementType::F64
                           : std::optional<ElementType>();
  std::pair<unsigned, ElementType> integers[] = {{1, ElementType::Bool},
                                                 {8, ElementType::I8},
                                                 {16, ElementType::I16},
                                                 {32, ElementType::I32},
                                                 {64, ElementType::I64}};
  for (auto [width, element] : integers)
    if (type.isSignlessInteger(width))
      return element;
  return std::nullopt;
}

template <typename Tensors>
static llvm::Expected<std::vector<rt::TensorView>> makeViews(Tensors &&tensors) {
  std::vector<rt::TensorView> views;
  for (auto &tensor : tensors) {
    std::optional<rt::ElementType> element = getElementType(tensor.type.getElementType());
    if (!element)
      return llvm::createStringError("the host doesn't support tensors of that element type");
    views.push_back({const_cast<char *>(tensor.data.data()), *element, tensor.type.getShape().vec()});
  }
  return views;
}

namespace {
class HostGraph : public RunnableGraph {
public:
  explicit HostGraph(CompiledProgram compiled) : compiled(std::move(compiled)) {}

  llvm::Error run(ArrayRef<HostTensor> inputs, MutableArrayRef<HostTensor> outputs) override {
    auto in = makeViews(inputs), out = makeViews(outputs);
    if (!in)
      return llvm::joinErrors(in.takeError(), out.takeError());
    if (!out)
      return out.takeError();
    rt::Status status = compiled.program->call(*in, *out);
    return status.isOk() ? llvm::Error::success() : toError(status);
  }

private:
  CompiledProgram compiled;
};

struct HostRunner : GraphRunner {
  using GraphRunner::GraphRunner;

  /// Compiles in its own context, because a pass may be running in the caller's.
  llvm::Expected<std::unique_ptr<RunnableGraph>> prepare(ModuleOp module) const override {
    CompileRequest request;
    llvm::raw_string_ostream(request.text) << module;
    request.name = "rule";
    request.targets = {"host"};
    rt::StatusOr<CompiledProgram> compiled = compile(request);
    if (!compiled.isOk())
      return toError(compiled.status());
    return std::make_unique<HostGraph>(std::move(*compiled));
  }
};
} // namespace

void inlay::registerHostRunner(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, InlayDialect *dialect) { dialect->addInterfaces<HostRunner>(); });
}

DialectRegistry inlay::makeRewriteRegistry() {
  DialectRegistry registry;
  registerAll(registry);
  registerHostRunner(registry);
  registry.insert<pdl::PDLDialect>();
  return registry;
}
