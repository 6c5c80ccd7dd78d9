// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dialect with one attribute, the target.

include "inlay/Dialect/Inlay/IR/InlayInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def Dsp_Dialect : Dialect {
  let name = "dsp";
  let cppNamespace = "::dsp";
  let useDefaultAttributePrinterParser = 1;
}

def Dsp_TargetAttr : AttrDef<Dsp_Dialect, "Target",
    [DeclareAttrInterfaceMethods<TargetAttrInterface, ["getTargetName", "canRun", "convertSegment"]>]> {
  let mnemonic = "target";
  let summary = "a machine for vectors of f32 with a number of registers";
  let parameters = (ins "int64_t":$registers);
  let assemblyFormat = "`<` struct(params) `>`";
}
