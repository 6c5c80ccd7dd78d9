// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the C++ API `inlay::compile(module, spec)`: converts the spec to a request, and checks and runs calls.
// Compile.cpp compiles.

#include "inlay/Execution/CompileSpec.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <numeric>

using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

//===-- Tensors and modules -------------------------------------------------------------------------------------===//

StatusOr<Tensor> Tensor::zeros(std::vector<int64_t> shape, rt::ElementType element) {
  int64_t size = static_cast<int64_t>(rt::byteWidth(element));
  for (int64_t dim : shape)
    if (dim < 0 || llvm::MulOverflow(size, dim, size))
      return Status(StatusCode::InvalidArgument,
                    "expected dims of a tensor that fits in memory, but got " + rt::toString(element, shape));
  void *memory = std::calloc(std::max<int64_t>(size, 1), 1);
  if (!memory)
    return Status(StatusCode::ResourceExhausted, "no memory for a tensor " + rt::toString(element, shape));
  Tensor tensor = view(memory, std::move(shape), element);
  tensor.bytes = std::shared_ptr<void>(memory, std::free);
  return tensor;
}

Tensor Tensor::view(void *data, std::vector<int64_t> shape, rt::ElementType element) {
  Tensor tensor;
  tensor.dims = std::move(shape);
  tensor.type = element;
  tensor.bytes = std::shared_ptr<void>(data, [](void *) {});
  return tensor;
}

int64_t Tensor::count() const { return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<>()); }

StatusOr<Module> Module::load(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return Status(StatusCode::NotFound, "can't read '" + path + "': " + file.getError().message());
  llvm::StringRef directory = llvm::sys::path::parent_path(path);
  return Module((*file)->getBuffer().str(), directory.empty() ? "." : directory.str());
}

Module::Module(mlir::ModuleOp module) : directory(".") {
  llvm::raw_string_ostream stream(text);
  module->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
}

//===-- Compiling -----------------------------------------------------------------------------------------------===//

static std::string spell(llvm::ArrayRef<int64_t> shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](int64_t dim) { return std::to_string(dim); }), ", ") + "]";
}

static std::string spellRange(const InputRange &range) {
  return spell(range.min) + (range.min == range.max ? "" : " to " + spell(range.max));
}

static Status checkRange(size_t number, const InputRange &range) {
  std::string place = "input " + std::to_string(number) + ": ";
  if (range.min.size() != range.opt.size() || range.opt.size() != range.max.size())
    return {StatusCode::InvalidArgument, place + "expected min, opt and max of equal rank, but got " +
                                             spell(range.min) + ", " + spell(range.opt) + " and " + spell(range.max)};
  for (size_t dim = 0; dim < range.min.size(); ++dim)
    if (range.min[dim] < 0 || range.min[dim] > range.opt[dim] || range.opt[dim] > range.max[dim])
      return {StatusCode::InvalidArgument, place + "dim " + std::to_string(dim) +
                                               ": expected 0 <= min <= opt <= max, but got " +
                                               std::to_string(range.min[dim]) + ", " + std::to_string(range.opt[dim]) +
                                               " and " + std::to_string(range.max[dim])};
  return Status::ok();
}

/// Returns true if the ranks agree and the range of each static dim contains only its size.
static bool fits(const rt::TensorType &type, const InputRange &range) {
  for (size_t dim = 0; range.opt.size() == type.dims.size() && dim < range.opt.size(); ++dim) {
    int64_t size;
    if (type.dims[dim].isConstant(size) && (range.min[dim] != size || range.max[dim] != size))
      return false;
  }
  return range.opt.size() == type.dims.size();
}

/// Checks that the program accepts the sizes in the ranges.
static Status checkInputs(const rt::Program &program, llvm::ArrayRef<InputRange> ranges) {
  if (ranges.empty())
    return Status::ok();
  const rt::Plan &plan = program.plan();
  if (ranges.size() != plan.inputs.size())
    return {StatusCode::InvalidArgument, "expected a range for each of " + std::to_string(plan.inputs.size()) +
                                             " inputs, but got " + std::to_string(ranges.size())};
  for (auto [number, range] : llvm::enumerate(ranges)) {
    const rt::TensorType &type = plan.buffers[plan.inputs[number]].type;
    if (!fits(type, range))
      return {StatusCode::InvalidArgument, "input " + std::to_string(number) + ": expected the module's " +
                                               rt::toString(type, plan.symbols) + ", but got " + spellRange(range)};
  }
  for (auto end : {&InputRange::min, &InputRange::opt, &InputRange::max}) {
    rt::InputDims dims;
    for (const InputRange &range : ranges)
      dims.push_back(range.*end);
    INLAY_RETURN_IF_ERROR(program.outputDims(dims).status());
  }
  return Status::ok();
}

namespace {
/// Copies a member of CompileSpec to the request.
using SpecCopy = void (*)(const CompileSpec &, CompileRequest &);
#define GET_kSpecCopies_IMPL
#include "inlay/Support/Options.inc"
} // namespace

CompileRequest inlay::makeRequest(const CompileSpec &spec) {
  CompileRequest request;
  for (SpecCopy copy : kSpecCopies)
    copy(spec, request);
  request.options.partition.names = OptionNames::Keywords;
  return request;
}

CompiledModule inlay::compile(const Module &module, const CompileSpec &spec) {
  for (auto [number, range] : llvm::enumerate(spec.inputs))
    INLAY_RETURN_IF_ERROR(checkRange(number, range));
  if (spec.targets.empty())
    return Status(StatusCode::InvalidArgument, "expected targets to name at least one target, but got none");
  CompileRequest request = makeRequest(spec);
  request.text = module.text;
  request.directory = module.directory;
  StatusOr<CompiledProgram> compiled = compile(request);
  if (!compiled.isOk())
    return compiled.status();
  INLAY_RETURN_IF_ERROR(checkInputs(*compiled->program, spec.inputs));
  return std::move(*compiled);
}

//===-- Calling -------------------------------------------------------------------------------------------------===//

StatusOr<std::vector<Tensor>> CompiledModule::forward(const std::vector<Tensor> &inputs) const {
  INLAY_RETURN_IF_ERROR(failure);
  auto viewOf = [](const Tensor &tensor) { return rt::TensorView{tensor.data(), tensor.element(), tensor.shape()}; };
  std::vector<rt::TensorView> given, made;
  rt::InputDims inputDims;
  for (const Tensor &input : inputs) {
    given.push_back(viewOf(input));
    inputDims.push_back(input.shape());
  }
  StatusOr<std::vector<std::vector<int64_t>>> dims = compiled.program->outputDims(inputDims);
  if (!dims.isOk())
    return dims.status();
  std::vector<Tensor> results;
  for (auto [number, shape] : llvm::enumerate(*dims)) {
    const rt::Plan &plan = *compiled.plan;
    StatusOr<Tensor> result = Tensor::zeros(shape, plan.buffers[plan.outputs[number]].type.element);
    if (!result.isOk())
      return result.status();
    results.push_back(std::move(*result));
    made.push_back(viewOf(results.back()));
  }
  INLAY_RETURN_IF_ERROR(compiled.program->call(given, made));
  return results;
}
