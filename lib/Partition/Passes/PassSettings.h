// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts between a PartitionInfo and the options of a pass. The pass lists its settings once, in a member template
//
//   template <typename Info, typename Copy>
//   void copySettings(Info &info, Copy copy) {
//     copy(info.minBlockSize, minBlockSize);
//   }
//
// that is called with `CopyToOption` when the pass is created and with `CopyFromOption` when it runs.

#ifndef INLAY_LIB_PARTITION_PASSES_PASSSETTINGS_H
#define INLAY_LIB_PARTITION_PASSES_PASSSETTINGS_H

#include <string>
#include <vector>

namespace inlay {

struct CopyToOption {
  template <typename T, typename Option>
  void operator()(const T &setting, Option &option) const {
    option = setting;
  }
};

struct CopyFromOption {
  template <typename T, typename Option>
  void operator()(T &setting, Option &option) const {
    setting = option.getValue();
  }
  template <typename Option>
  void operator()(std::vector<std::string> &setting, Option &option) const {
    setting.assign(option.begin(), option.end());
  }
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_PASSES_PASSSETTINGS_H
