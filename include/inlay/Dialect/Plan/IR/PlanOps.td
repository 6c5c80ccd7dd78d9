// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of the plan dialect: engines first, then the steps of the program.

#ifndef INLAY_DIALECT_PLAN_IR_PLANOPS_TD
#define INLAY_DIALECT_PLAN_IR_PLANOPS_TD

include "inlay/Dialect/Plan/IR/PlanDialect.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

//===-- Engines -------------------------------------------------------------------------------------------------===//

def Plan_EngineOp : Plan_Op<"engine", [Symbol, SymbolTable, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "a segment converted for a device";
  let description = [{
    A table of kernels and the dispatches of one launch, in order. Dispatches refer to the engine's buffers by number:
    first its `arguments`, then its scratch buffers, whose sizes in bytes are the results of `scratch`. `host_version`
    is a host function that computes the same over the same buffers. It runs if the device fails. `updates` are the
    numbers of the arguments that are inputs and are also written, because a result replaces the input in its memory.

    Example:
    ```mlir
    plan.engine @forward_0 arguments 2 scratch affine_map<() -> ()> {
      plan.kernel @k0 spirv dense<0> : tensor<5xi32> bindings [#plan.access<read>, #plan.access<write>]
        block [64, 1, 1] push_constants 1
      plan.dispatch @k0 buffers [0, 1] grid affine_map<() -> (4, 1, 1)> push_constants affine_map<() -> (256)>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$arguments, AffineMapAttr:$scratch,
      OptionalAttr<FlatSymbolRefAttr>:$host_version, OptionalAttr<DenseI64ArrayAttr>:$updates);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{ $sym_name `arguments` $arguments `scratch` $scratch (`host_version` $host_version^)?
      (`updates` $updates^)? attr-dict-with-keyword $body }];
  let hasVerifier = 1;
}

def Plan_KernelOp : Plan_Op<"kernel", [Symbol, HasParent<"::inlay::plan::EngineOp">]> {
  let summary = "a compute kernel as SPIR-V words";
  let description = [{
    A kernel has one entry point, `main`. `bindings[i]` is the access to binding i of descriptor set 0, and `kinds[i]`
    is its kind: a storage buffer, or a read-only uniform texel buffer of f32 or of vectors of four f32. Without
    `kinds`, all bindings are storage buffers. `push_constants` is a number of 32-bit words. `requires` names optional
    device features.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$spirv, ArrayAttr:$bindings,
      DenseI64ArrayAttr:$block, DefaultValuedAttr<I64Attr, "0">:$push_constants, OptionalAttr<StrArrayAttr>:$requires,
      OptionalAttr<ArrayAttr>:$kinds);
  let assemblyFormat = [{ $sym_name `spirv` $spirv `bindings` $bindings (`kinds` $kinds^)? `block` $block
      (`push_constants` $push_constants^)? (`requires` $requires^)? attr-dict }];
  let hasVerifier = 1;
}

def Plan_DispatchOp : Plan_Op<"dispatch", [HasParent<"::inlay::plan::EngineOp">]> {
  let summary = "runs a kernel over a grid of workgroups";
  let arguments = (ins FlatSymbolRefAttr:$kernel, DenseI64ArrayAttr:$buffers, AffineMapAttr:$grid,
      AffineMapAttr:$push_constants);
  let assemblyFormat = [{ $kernel `buffers` $buffers `grid` $grid `push_constants` $push_constants attr-dict }];
  let hasVerifier = 1;
}

def Plan_HostFunctionOp : Plan_Op<"host_function", [Symbol]> {
  let summary = "a segment converted for the host";
  let description = [{
    The native code is in the module's `plan.object` under the same symbol. Its arguments are `arguments` buffers, of
    which the first `inputs` are read and the others written, followed by its scratch buffers, whose sizes in bytes are
    the results of `scratch`. With `sizes`, the next argument is a pointer to these numbers as 64-bit integers. With
    `kernels`, the last argument is a pointer to an `InlayHostContext`, whose functions run the kernels by number.
    Inputs with the numbers in `updates` are also written: a result replaces the input in its memory.
    `unshared_scratch` is present if scratch buffers share memory: its result is the size in bytes without sharing.

    Example: `plan.host_function @forward_1 arguments 2 inputs 1 scratch affine_map<() -> (1024)>`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$arguments, I64Attr:$inputs, AffineMapAttr:$scratch,
      OptionalAttr<AffineMapAttr>:$sizes, OptionalAttr<TypedArrayAttrBase<Plan_HostKernelAttr, "kernels">>:$kernels,
      OptionalAttr<AffineMapAttr>:$unshared_scratch, OptionalAttr<DenseI64ArrayAttr>:$updates);
  let assemblyFormat = [{ $sym_name `arguments` $arguments `inputs` $inputs `scratch` $scratch (`sizes` $sizes^)?
      (`kernels` $kernels^)? (`updates` $updates^)? attr-dict }];
  let hasVerifier = 1;
}

def Plan_LibraryCallOp : Plan_Op<"library_call", [DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a kernel of the host's library, on tensors or buffers";
  let description = [{
    Computes `init` from the inputs. `HostKernel` of the runtime's plan lists the inputs of each kind, in order.
    `constants` are the numbers of inputs that contain weights. A contraction has `maps` from its loops to the dims of
    each input and of `init`; they are projected permutations. For attention, inputs repeat along dims of size 1. For a
    convolution, `window` has the number of groups, then the kernel size, stride, dilation and leading padding of each
    spatial dim. `config` is that of `#plan.host_kernel`. Elements are f32.

    Example:
    ```mlir
    %r = plan.library_call contraction(%a, %w) into %c {
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      constants = array<i64: 1>, post_ops = [#plan.post_op<relu>]
    } : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    ```
  }];
  let arguments = (ins Plan_HostKernelKindAttr:$kind, Variadic<AnyShaped>:$inputs, AnyShaped:$init,
      OptionalAttr<AffineMapArrayAttr>:$maps, OptionalAttr<DenseI64ArrayAttr>:$constants,
      OptionalAttr<TypedArrayAttrBase<Plan_PostOpAttr, "post-ops">>:$post_ops, OptionalAttr<DictionaryAttr>:$config,
      OptionalAttr<DenseI64ArrayAttr>:$window);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{ $kind `(` $inputs `)` `into` $init attr-dict `:` functional-type(operands, results) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }

    /// Returns the description of this call that the plan stores.
    ::inlay::plan::HostKernelAttr describe(::llvm::StringRef name);
  }];
}

def Plan_ObjectOp : Plan_Op<"object"> {
  let summary = "native code of all host functions as one relocatable object file";
  let description = [{
    A module may have several objects, for processors of the same architecture, the best one first. The runtime uses the
    first one whose `features`, in LLVM's names, the processor has. `cpu` is a name for users. The module attribute
    `plan.host_cpus`, a list of names, selects the objects to compile; `native`, the default, is the compiling
    processor.

    Example: `plan.object "x86_64-pc-linux-gnu" dense<...> : tensor<4096xi8> {cpu = "x86-64-v3", features = ["avx2"]}`
  }];
  let arguments = (ins StrAttr:$triple, ElementsAttr:$code, OptionalAttr<StrAttr>:$cpu,
      OptionalAttr<StrArrayAttr>:$features);
  let assemblyFormat = "$triple $code attr-dict";
  let hasVerifier = 1;
}

def Plan_ForeignEngineOp : Plan_Op<"foreign_engine", [Symbol]> {
  let summary = "a segment converted by an external target";
  let description = [{
    Only the runner with the name `runner` can interpret `payload`. The embedder that loads the program provides the
    runner. It is called with `arguments` buffers in host memory, of which the first `inputs` are read and the others
    written.

    Example: `plan.foreign_engine @forward_1 runner "dsp" payload "relu\0A" arguments 2 inputs 1`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$runner, StrAttr:$payload, I64Attr:$arguments, I64Attr:$inputs);
  let assemblyFormat = [{ $sym_name `runner` $runner `payload` $payload `arguments` $arguments `inputs` $inputs
      attr-dict }];
  let hasVerifier = 1;
}

def Plan_InvokeOp : Plan_Op<"invoke", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a call of a converted segment, still on tensors";
  let description = [{
    Exists between Convert and Stitch. A scalar enters and leaves the segment as a tensor of rank 0, an index as a
    tensor of i64 of rank 0. `updates` has a number for each result: that of the input that the result replaces in its
    memory, or -1. No other op uses such an input afterwards.

    Example: `%r = plan.invoke @forward_0(%x) : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs, OptionalAttr<DenseI64ArrayAttr>:$updates);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = [{ $callee `(` $inputs `)` (`updates` $updates^)? attr-dict
      `:` functional-type($inputs, $outputs) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the number of the input that a result replaces in its memory, or -1.
    int64_t getUpdated(unsigned result) { return getUpdates() ? (*getUpdates())[result] : -1; }
  }];
}

def Plan_FrameworkCallOp : Plan_Op<"framework_call"> {
  let summary = "a framework call, still on tensors";
  let description = [{
    `call` describes the call. `sizes` gives the numbers in it that are known only at a call.

    Example: `%r = plan.framework_call "..."(%x) : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins StrAttr:$call, Variadic<AnyType>:$inputs, OptionalAttr<AffineMapAttr>:$sizes);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "$call `(` $inputs `)` (`sizes` $sizes^)? attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

//===-- The program ---------------------------------------------------------------------------------------------===//

def Plan_ProgramOp : Plan_Op<"program", [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "the stitched program";
  let description = [{
    The steps are in an order that respects their dependencies. The buffers that steps read and write determine which
    steps may overlap. Buffers are declared in the program's own block. Steps may contain lists of steps. Dims and sizes
    that are known only at a call are maps of the symbols in `inlay.symbols`.

    Example:
    ```mlir
    plan.program @forward {
      %x = plan.input 0 "x" : !plan.buffer<tensor<4xf32>, host>
      %y = plan.output 0 "y" : !plan.buffer<tensor<4xf32>, host>
      plan.call @forward_0(%x) outs(%y) : (!plan.buffer<tensor<4xf32>, host>) -> !plan.buffer<tensor<4xf32>, host>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

class Plan_BufferOp<string mnemonic, string what> : Plan_Op<mnemonic, [HasParent<"::inlay::plan::ProgramOp">]> {
  let summary = what;
  let results = (outs Plan_BufferType:$buffer);
}

def Plan_InputOp : Plan_BufferOp<"input", "an input tensor of the caller; read-only"> {
  let arguments = (ins I64Attr:$number, StrAttr:$name);
  let assemblyFormat = "$number $name attr-dict `:` type($buffer)";
}
def Plan_OutputOp : Plan_BufferOp<"output", "memory of the caller for a result"> {
  let arguments = (ins I64Attr:$number, StrAttr:$name);
  let assemblyFormat = "$number $name attr-dict `:` type($buffer)";
}
def Plan_ConstantOp : Plan_BufferOp<"constant", "data known at compile time; uploaded once if a device uses it"> {
  let arguments = (ins ElementsAttr:$value, StrAttr:$name);
  let assemblyFormat = "$value $name attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}
def Plan_StateOp : Plan_BufferOp<"state", "memory that is kept between the calls of a session; zeros at first"> {
  let arguments = (ins I64Attr:$number, StrAttr:$name);
  let assemblyFormat = "$number $name attr-dict `:` type($buffer)";
}
def Plan_TemporaryOp : Plan_BufferOp<"temporary", "memory that one call in flight uses"> {
  let arguments = (ins StrAttr:$name);
  let assemblyFormat = "$name attr-dict `:` type($buffer)";
}

/// Ops of a program that run. They may be nested in the bodies of other steps.
class Plan_ProgramStepOp<string mnemonic, list<Trait> traits = []> : Plan_Op<mnemonic, traits # [ParentOneOf<[
    "::inlay::plan::ProgramOp", "::inlay::plan::BranchOp", "::inlay::plan::WhileOp", "::inlay::plan::ForOp"]>]>;

def Plan_CopyOp : Plan_ProgramStepOp<"copy"> {
  let summary = "copies a buffer, between memories or within one memory";
  let arguments = (ins Plan_BufferType:$source, Plan_BufferType:$destination);
  let assemblyFormat = "$source `to` $destination attr-dict `:` type($source) `,` type($destination)";
}

class Plan_StepOp<string mnemonic, string what> : Plan_ProgramStepOp<mnemonic, [AttrSizedOperandSegments]> {
  let summary = what;
  let assemblyFormat = [{ $callee `(` $inputs `)` `outs` `(` $outputs `)` attr-dict
      `:` functional-type($inputs, $outputs) }];
}

def Plan_LaunchOp : Plan_StepOp<"launch", "launches an engine"> {
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Plan_BufferType>:$inputs, Variadic<Plan_BufferType>:$outputs);
}
def Plan_CallOp : Plan_StepOp<"call", "calls a host function"> {
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Plan_BufferType>:$inputs, Variadic<Plan_BufferType>:$outputs);
}
def Plan_RunOp : Plan_StepOp<"run", "runs a foreign engine"> {
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Plan_BufferType>:$inputs, Variadic<Plan_BufferType>:$outputs);
}
def Plan_CallbackOp : Plan_StepOp<"callback", "calls into the framework"> {
  let description = [{ The function that serves the callback receives the results of `sizes`. }];
  let arguments = (ins StrAttr:$callee, Variadic<Plan_BufferType>:$inputs, Variadic<Plan_BufferType>:$outputs,
      OptionalAttr<AffineMapAttr>:$sizes);
}

def Plan_BranchOp : Plan_ProgramStepOp<"branch", [NoTerminator, SingleBlock]> {
  let summary = "runs one of two lists of steps";
  let description = [{
    Runs the first list if `condition`, a bool in host memory, is true, else the second. Buffers belong to the program,
    so both lists must write the buffers that later steps read.

    Example:
    ```mlir
    plan.branch %condition {
      plan.copy %x to %r : !plan.buffer<tensor<4xf32>, host>, !plan.buffer<tensor<4xf32>, host>
    } else {
      plan.copy %y to %r : !plan.buffer<tensor<4xf32>, host>, !plan.buffer<tensor<4xf32>, host>
    } : !plan.buffer<tensor<i1>, host>
    ```
  }];
  let arguments = (ins Plan_BufferType:$condition);
  let regions = (region SizedRegion<1>:$thenBody, SizedRegion<1>:$elseBody);
  let assemblyFormat = "$condition $thenBody `else` $elseBody attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

def Plan_WhileOp : Plan_ProgramStepOp<"while", [NoTerminator, SingleBlock]> {
  let summary = "runs steps as long as a condition holds";
  let description = [{
    Runs `before`, which writes `condition`, a bool in host memory. If the condition holds, runs `body` and starts over.
    More than `limit` runs of `body` are an error at the call.

    Example:
    ```mlir
    plan.while %condition limit 1000 {
      plan.call @less(%i) outs(%condition) : (!plan.buffer<tensor<i64>, host>) -> !plan.buffer<tensor<i1>, host>
    } do {
      plan.call @next(%i) outs(%n) : (!plan.buffer<tensor<i64>, host>) -> !plan.buffer<tensor<i64>, host>
      plan.copy %n to %i : !plan.buffer<tensor<i64>, host>, !plan.buffer<tensor<i64>, host>
    } : !plan.buffer<tensor<i1>, host>
    ```
  }];
  let arguments = (ins Plan_BufferType:$condition, I64Attr:$limit);
  let regions = (region SizedRegion<1>:$before, SizedRegion<1>:$body);
  let assemblyFormat = "$condition `limit` $limit $before `do` $body attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

def Plan_ForOp : Plan_ProgramStepOp<"for", [NoTerminator, SingleBlock, SameTypeOperands]> {
  let summary = "runs steps for each number of a range";
  let description = [{
    `position` takes each number from `lower` on that is below `upper`, in increments of `step`. All are 64-bit integers
    in host memory. A step below 1 is an error at the call.

    Example:
    ```mlir
    plan.for %k = %lower to %upper step %step {
      plan.call @body(%k) outs(%r) : (!plan.buffer<tensor<i64>, host>) -> !plan.buffer<tensor<4xf32>, host>
    } : !plan.buffer<tensor<i64>, host>
    ```
  }];
  let arguments = (ins Plan_BufferType:$position, Plan_BufferType:$lower, Plan_BufferType:$upper,
      Plan_BufferType:$step);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$position `=` $lower `to` $upper `step` $step $body attr-dict `:` type($position)";
  let hasVerifier = 1;
}

#endif // INLAY_DIALECT_PLAN_IR_PLANOPS_TD
