// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dsp dialect: `#dsp.target<registers = 8>`.

#ifndef DSP_H
#define DSP_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "DspDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "DspAttrs.h.inc"

#endif // DSP_H
