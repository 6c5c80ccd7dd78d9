// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a profile from pass options and the figures of a tuning file. The figures of a profile are in
// Products/SubgroupProductPolicy.cpp.

#include "SubgroupProductProfile.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace inlay;

FailureOr<SubgroupProductProfile> inlay::makeProfile(Operation *op, const ProfileOptions &options) {
  SubgroupProductProfile profile =
      options.inSoftware ? SubgroupProductProfile::forSoftware(options.subgroup, options.texels, options.arithmetic)
                         : SubgroupProductProfile::forGPU(options.subgroup, options.arithmetic);
  if (options.tuning.empty())
    return profile;
  auto costs = dyn_cast_or_null<DictionaryAttr>(parseAttribute(options.tuning, op->getContext()));
  if (!costs)
    return op->emitError("expected option 'tuning' to be a dictionary, but got ") << options.tuning;
  for (NamedAttribute cost : costs) {
    double *figure = profile.find(cost.getName().getValue());
    auto number = dyn_cast<FloatAttr>(cost.getValue());
    if (!figure || !number || !(number.getValueAsDouble() > 0) || !number.getValue().isFinite())
      return op->emitError("expected option 'tuning' to map keys of a tuning file to positive floats, but got ")
             << cost.getName() << " = " << cost.getValue();
    *figure = number.getValueAsDouble();
  }
  return profile;
}
