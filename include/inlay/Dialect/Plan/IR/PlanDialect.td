// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan dialect: engines, and the stitched program over numbered buffers.

#ifndef INLAY_DIALECT_PLAN_IR_PLANDIALECT_TD
#define INLAY_DIALECT_PLAN_IR_PLANDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::inlay::plan";
  let summary = "Engines and the stitched program.";
  let description = [{
    What Convert and Stitch produce: engines (kernel tables, native code) and a program of a few kinds of steps over
    buffers. It maps one to one to the runtime's plan. Sizes, grids and push constants are affine maps without dims
    whose symbols are the program's (`inlay.symbols`); with static shapes they are constants.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
  }];
}

def Plan_Access : I32EnumAttr<"Access", "what a kernel does with a buffer", [
    I32EnumAttrCase<"read", 0>, I32EnumAttrCase<"write", 1>, I32EnumAttrCase<"read_write", 2>]> {
  let cppNamespace = "::inlay::plan";
  let genSpecializedAttr = 0;
}
def Plan_AccessAttr : EnumAttr<Plan_Dialect, Plan_Access, "access"> {
  let assemblyFormat = "`<` $value `>`";
}

def Plan_Space : I32EnumAttr<"Space", "the memory a buffer lives in", [
    I32EnumAttrCase<"host", 0>, I32EnumAttrCase<"device", 1>]> {
  let cppNamespace = "::inlay::plan";
  let genSpecializedAttr = 0;
}

def Plan_BufferType : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a numbered buffer of the program";
  let description = [{
    Dims that are known at a call alone are in `dims`, a map of the program's symbols with a result for each dim.

    Example: `!plan.buffer<tensor<1x10xf32>, host>`,
    `!plan.buffer<tensor<?x10xf32>, host, affine_map<()[s0] -> (s0, 10)>>`
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tensor,
                        EnumParameter<Plan_Space>:$space,
                        OptionalParameter<"::mlir::AffineMapAttr">:$dims);
  let assemblyFormat = "`<` $tensor `,` $space (`,` $dims^)? `>`";
  let genVerifyDecl = 1;
}

#endif // INLAY_DIALECT_PLAN_IR_PLANDIALECT_TD
