// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the stages from linalg to object files, with vectorized approximations of math functions (`approximateMath`).
// Processors.cpp lists the processors, and Convert/LoopNest/ExpandMath.cpp has the expansions that all targets
// share.

#include "HostCode.h"
#include "HostCalls.h"
#include "Processors.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/LoopNest/ExpandMath.h"
#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"
#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Target/Host/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"

using namespace mlir;
using namespace inlay;

/// Name of the nested module with the code of all host segments.
static constexpr StringLiteral kHostCode = "inlay.host_code";

//===-- To the LLVM dialect -------------------------------------------------------------------------------------===//

LogicalResult inlay::lowerToLoops(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  pm.addNestedPass<func::FuncOp>(createChannelsLastPass());
  buildBufferizePipeline(pm);
  pm.addPass(createFormHostKernelsPass());
  pm.addNestedPass<func::FuncOp>(createLinalgToLoopsPass());
  HoistAllocationsPassOptions hoisting;
  hoisting.arena = true;
  pm.addNestedPass<func::FuncOp>(createHoistAllocationsPass(hoisting));
  pm.addPass(createLowerAffinePass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  return pm.run(module);
}

/// Replaces functions for which libm would be called once per lane by polynomials, which are accurate to a few units in
/// the last place in f32. Also replaces conversions of bf16, which are calls on most processors, by integer arithmetic.
static LogicalResult approximateMath(ModuleOp module) {
  expandDifferencesFromOne(module);
  RewritePatternSet patterns(module.getContext());
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return llvm::is_contained(
        {math::ExpOp::getOperationName(), math::ErfOp::getOperationName(), math::TanhOp::getOperationName()}, name);
  });
  arith::populateExpandBFloat16Patterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

/// Gives unused arguments without elements one dim, because the strides of other dims would need a conversion.
static void flattenEmptyArguments(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments())
    if (auto type = dyn_cast<MemRefType>(argument.getType());
        type && argument.use_empty() && llvm::is_contained(type.getShape(), 0))
      argument.setType(MemRefType::get({0}, type.getElementType()));
  func.setFunctionType(FunctionType::get(func.getContext(), func.getBody().getArgumentTypes(), func.getResultTypes()));
}

/// Adds an argument with the values of the symbols, an array, if the function has symbols.
static LogicalResult passSymbols(func::FuncOp func) {
  int64_t count = getSymbols(func).size();
  if (!count)
    return success();
  auto type = MemRefType::get({count}, IntegerType::get(func.getContext(), 64));
  if (failed(func.insertArgument(func.getNumArguments(), type, {}, func.getLoc())))
    return failure();
  func.walk([&](SymbolOp symbol) {
    OpBuilder builder(symbol);
    Value number = arith::ConstantIndexOp::create(builder, symbol.getLoc(), symbol.getNumber());
    Value value = memref::LoadOp::create(builder, symbol.getLoc(), func.getArguments().back(), number);
    symbol.replaceAllUsesWith(
        arith::IndexCastOp::create(builder, symbol.getLoc(), builder.getIndexType(), value).getResult());
    symbol.erase();
  });
  // A kernel has the same symbols as its caller.
  for (auto call : func.getOps<func::CallOp>())
    if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
        call->hasAttr(plan::kKernelAttr) && callee->hasAttr(plan::kUnitAttr))
      call->insertOperands(call->getNumOperands(), func.getArguments().back());
  return success();
}

/// Adds the argument for the InlayHostContext to functions with kernels.
static LogicalResult passContext(func::FuncOp func) {
  if (!func->hasAttr(plan::kKernelsAttr))
    return success();
  auto type = MemRefType::get({1}, IntegerType::get(func.getContext(), 64));
  return func.insertArgument(func.getNumArguments(), type, {}, func.getLoc());
}

/// Larger than any buffer.
static constexpr int64_t kUnboundedSize = int64_t(1) << 40;

/// Returns the static flat type that stands for a buffer of dynamic size. Returns other types unchanged.
static Type makeUnbounded(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && !memref.hasStaticShape() ? MemRefType::get({kUnboundedSize}, memref.getElementType()) : type;
}

/// Makes memref arguments static, because bare pointers only support static types. Loops access flat buffers, so the
/// length of a buffer does not affect the code.
static LogicalResult fixArguments(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.hasStaticShape())
      continue;
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
      auto flat = dyn_cast<memref::CollapseShapeOp>(user);
      bool isView = isa<ViewLikeOpInterface>(user);
      if ((type.getRank() == 1 && !isView) || (flat && flat.getType().getRank() == 1) || isa<func::CallOp>(user))
        continue;
      if (isView && user->use_empty())
        user->erase();
      else
        return user->emitError("unsupported-shape: expected flat accesses of ") << type;
    }
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers()))
      if (auto flat = dyn_cast<memref::CollapseShapeOp>(user)) {
        flat.replaceAllUsesWith(Value(argument));
        flat.erase();
      }
    argument.setType(makeUnbounded(type));
  }
  func.setFunctionType(FunctionType::get(func.getContext(), func.getBody().getArgumentTypes(), func.getResultTypes()));
  return success();
}

/// Does the same for a function without a body.
static void fixDeclaration(func::FuncOp func) {
  func.setFunctionType(FunctionType::get(func.getContext(), llvm::map_to_vector(func.getArgumentTypes(), makeUnbounded),
                                         func.getResultTypes()));
}

/// Erases all unused declarations at once. Finding the uses of one symbol takes as long as finding the uses of all.
static void eraseUnusedDeclarations(ModuleOp module) {
  llvm::DenseSet<StringAttr> used;
  module.walk([&](Operation *op) {
    if (auto call = dyn_cast<LLVM::CallOp>(op); call && call.getCalleeAttr())
      used.insert(call.getCalleeAttr().getAttr());
    else if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
      used.insert(address.getGlobalNameAttr().getAttr());
  });
  for (auto func : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>()))
    if (func.isExternal() && !used.contains(func.getSymNameAttr()))
      func.erase();
}

LogicalResult inlay::lowerToLLVM(ModuleOp module) {
  if (failed(approximateMath(module)))
    return failure();
  PassManager simplify(module.getContext()), pm(module.getContext());
  simplify.enableVerifier(false);
  simplify.addPass(createCanonicalizerPass());
  if (failed(simplify.run(module)))
    return failure();
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isDeclaration()) {
      fixDeclaration(func);
    } else {
      flattenEmptyArguments(func);
      if (failed(passSymbols(func)) || failed(fixArguments(func)) || failed(passContext(func)))
        return failure();
      func->removeAttr(InlayDialect::kSymbolsAttr);
      func.removeArgAttrsAttr();
    }
  }
  pm.enableVerifier(false);
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions options;
  options.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(options));
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  if (failed(pm.run(module)))
    return failure();
  for (Operation &op : *module.getBody())
    if (!isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op))
      return op.emitError("no-converter: ") << op.getName() << " can't be lowered to native code";
  WalkResult left = module.walk([](Operation *op) {
    if (isa<ModuleOp>(op) || isa<LLVM::LLVMDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitError("no-converter: ") << op->getName() << " can't be lowered to native code";
    return WalkResult::interrupt();
  });
  if (left.wasInterrupted())
    return failure();
  for (auto func : llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>()))
    if (func->hasAttr(plan::kKernelsAttr))
      callThroughContext(func);
  eraseUnusedDeclarations(module); // Declarations of library kernels, which are called through the context.
  for (auto func : module.getOps<LLVM::LLVMFuncOp>())
    if (!func.isExternal())
      packArguments(func);
  return success();
}

LogicalResult inlay::addHostCode(ModuleOp module, ModuleOp code) {
  auto host = module.lookupSymbol<ModuleOp>(kHostCode);
  if (!host) {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    host = ModuleOp::create(builder, module.getLoc(), kHostCode);
  }
  SymbolTable known(host), added(code);
  for (Operation &op : llvm::make_early_inc_range(*code.getBody())) {
    bool taken = known.lookup(SymbolTable::getSymbolName(&op));
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (taken && function && function.isExternal()) // A library function needs only one declaration.
      continue;
    if (taken && failed(added.renameToUnique(&op, {&known})))
      return op.emitError("can't be renamed to a unique symbol");
    known.insert(op.clone());
  }
  return success();
}

//===-- To object files -----------------------------------------------------------------------------------------===//

/// Runs LLVM's optimizations except loop vectorization and most loop unrolling, which take most of the time. Loops are
/// already vectorized and tiled, so only short loops of static length are unrolled.
static void optimize(llvm::Module &code, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerLateLoopOptimizationsEPCallback([](llvm::LoopPassManager &passes, llvm::OptimizationLevel) {
    passes.addPass(llvm::LoopFullUnrollPass(/*OptLevel=*/3, /*OnlyWhenForced=*/false));
  });
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(code, modules);
}

/// Compiles `host` for one processor to a `plan.object`, which is inserted before it.
static LogicalResult emitObject(ModuleOp host, const HostProcessor &processor) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(host.getLoc(), processor);
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(host, context, kHostCode);
  if (!code)
    return host.emitError("can't translate host code to LLVM IR");
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  if (!processor.tuning.empty())
    for (llvm::Function &function : *code)
      function.addFnAttr("tune-cpu", processor.tuning);
  optimize(*code, *machine);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return host.emitError("can't emit an object file for ") << machine->getTargetTriple().str();
  passes.run(*code);
  OpBuilder builder(host);
  auto type = RankedTensorType::get({static_cast<int64_t>(object.size())}, builder.getI8Type());
  SmallVector<StringRef> required(processor.required.begin(), processor.required.end());
  plan::ObjectOp::create(builder, host->getParentOp()->getLoc(), machine->getTargetTriple().str(),
                         DenseElementsAttr::getFromRawBuffer(type, object), builder.getStringAttr(processor.name),
                         builder.getStrArrayAttr(required));
  return success();
}

/// Returns the processor names in the attribute `plan.host_cpus` of the module.
static FailureOr<std::vector<std::string>> getProcessors(ModuleOp module) {
  Attribute attribute = module->getAttr(plan::kHostCpusAttr);
  auto names = dyn_cast_or_null<ArrayAttr>(attribute);
  if (attribute && (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>)))
    return module.emitError("expected '") << plan::kHostCpusAttr << "' to be a list of names, but got " << attribute;
  std::vector<std::string> result;
  if (names)
    for (StringAttr name : names.getAsRange<StringAttr>())
      result.push_back(name.str());
  return result;
}

LogicalResult inlay::emitHostObjects(ModuleOp module) {
  auto host = module.lookupSymbol<ModuleOp>(kHostCode);
  if (!host)
    return success();
  FailureOr<std::vector<std::string>> names = getProcessors(module);
  if (failed(names))
    return failure();
  FailureOr<std::vector<HostProcessor>> processors = findProcessors(module.getLoc(), *names);
  if (failed(processors))
    return failure();
  for (const HostProcessor &processor : *processors)
    if (failed(emitObject(host, processor)))
      return failure();
  host.erase();
  return success();
}

void inlay::registerHostCodeTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}
