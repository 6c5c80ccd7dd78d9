// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the inputs of a call, from files or random, and summarizes and saves results. Arrays.cpp has the file
// formats.

#include "Arguments.h"
#include "Files.h"

#include "inlay/Runtime/Loader/Difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

using namespace inlay;
using namespace inlay::tools;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

using Given = std::vector<std::optional<Array>>;

static Status invalid(std::string words) { return {StatusCode::InvalidArgument, std::move(words)}; }

/// Reads the arrays of an archive, by the names of the inputs.
static StatusOr<Given> readArchive(const rt::Plan &plan, const std::string &path) {
  auto arrays = readNpz(path);
  if (!arrays.isOk())
    return arrays.status();
  Given given(plan.inputs.size());
  std::map<std::string, size_t> taken;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const std::string &name = plan.buffers[plan.inputs[i]].name;
    auto array = arrays->find(name);
    if (array == arrays->end())
      return Status(StatusCode::NotFound, "'" + path + "' has no array '" + name + "'");
    if (auto [other, isNew] = taken.emplace(name, i); !isNew)
      return invalid(
          fmt::format("'{}': expected inputs with different names, but inputs {} and {} are both '{}'; .npy files "
                      "are matched by order",
                      path, other->second, i, name));
    given[i] = std::move(array->second);
  }
  return given;
}

/// Reads the arrays of the files that the options name, by input.
static StatusOr<Given> readInputs(const rt::Plan &plan, const RunOptions &options) {
  if (options.inputs.size() == 1 && endsWith(options.inputs[0], ".npz"))
    return readArchive(plan, options.inputs[0]);
  if (options.inputs.size() > plan.inputs.size())
    return invalid(fmt::format("expected at most {} inputs, but got {}", plan.inputs.size(), options.inputs.size()));
  Given given(plan.inputs.size());
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    StatusOr<Array> array = readNpy(options.inputs[i]);
    if (!array.isOk())
      return array.status();
    given[i] = std::move(*array);
  }
  return given;
}

using Sizes = std::vector<std::optional<int64_t>>;

/// Sets the value of one symbol from "name=value".
static Status readSize(const rt::Plan &plan, const std::string &text, Sizes &sizes) {
  size_t equals = std::min(text.find('='), text.size());
  std::string name = text.substr(0, equals), number = text.substr(std::min(equals + 1, text.size())), names;
  for (size_t i = 0; i < plan.symbols.size(); ++i) {
    names += (i ? ", " : "; it has ") + plan.symbols[i].name;
    if (name != plan.symbols[i].name)
      continue;
    int64_t value = 0;
    if (!parseNumber(number, value))
      return invalid(fmt::format("option --size: expected a number for '{}', but got '{}'", name, number));
    if (sizes[i].value_or(value) != value)
      return invalid(
          fmt::format("option --size: expected one number for '{}', but got {} and {}", name, *sizes[i], value));
    sizes[i] = value;
    return Status::ok();
  }
  return invalid(fmt::format("option --size: the module has no size '{}'{}", name, names));
}

/// Returns a symbol's value: that of a file, else that of the option, else the smallest one.
static StatusOr<int64_t> chooseSize(const rt::Plan &plan, const rt::Symbol &symbol, const rt::InputDims &dims,
                                    std::optional<int64_t> size) {
  StatusOr<int64_t> value = rt::valueOf(symbol).evaluate(dims);
  if (!value.isOk())
    return size.value_or(std::min(std::max<int64_t>(symbol.min, 1), symbol.max));
  if (size.value_or(*value) != *value)
    return invalid(fmt::format("option --size: expected {} for '{}', the size in the file of input '{}', but got {}",
                               *value, symbol.name, plan.buffers[plan.inputs[symbol.input]].name, *size));
  return value;
}

static StatusOr<std::vector<int64_t>> chooseSizes(const rt::Plan &plan, const Given &given, const RunOptions &options) {
  rt::InputDims dims;
  for (const std::optional<Array> &array : given)
    dims.push_back(array ? array->dims : std::vector<int64_t>());
  Sizes sizes(plan.symbols.size());
  for (const std::string &size : options.sizes)
    INLAY_RETURN_IF_ERROR(readSize(plan, size, sizes));
  std::vector<int64_t> values;
  for (size_t i = 0; i < plan.symbols.size(); ++i) {
    StatusOr<int64_t> value = chooseSize(plan, plan.symbols[i], dims, sizes[i]);
    if (!value.isOk())
      return value.status();
    values.push_back(*value);
  }
  return values;
}

StatusOr<std::vector<Array>> tools::makeInputs(const rt::Plan &plan, const RunOptions &options) {
  StatusOr<Given> given = readInputs(plan, options);
  if (!given.isOk())
    return given.status();
  StatusOr<std::vector<int64_t>> values = chooseSizes(plan, *given, options);
  if (!values.isOk())
    return values.status();
  StatusOr<rt::InputDims> dims = rt::inputDimsFor(plan, *values);
  if (!dims.isOk())
    return dims.status();
  std::vector<Array> inputs;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    if ((*given)[i]) {
      inputs.push_back(std::move(*(*given)[i]));
      continue;
    }
    StatusOr<Array> array = makeArray(plan.buffers[plan.inputs[i]].type.element, (*dims)[i]);
    if (!array.isOk())
      return array.status();
    fillRandom(*array, options.seed + i);
    inputs.push_back(std::move(*array));
  }
  return inputs;
}

std::vector<rt::TensorView> tools::views(std::vector<Array> &arrays) {
  std::vector<rt::TensorView> result;
  for (Array &array : arrays)
    result.push_back(array.view());
  return result;
}

rt::InputDims tools::dimsOf(const std::vector<Array> &arrays) {
  rt::InputDims dims;
  for (const Array &array : arrays)
    dims.push_back(array.dims);
  return dims;
}

void tools::summarize(std::vector<Array> &outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    Array &array = outputs[i];
    bool isFloat = array.element >= rt::ElementType::F16; // floats are the last types of the enumeration
    std::string dims, first;
    for (int64_t dim : array.dims)
      dims += (dims.empty() ? "" : "x") + std::to_string(dim);
    int64_t shown = std::min<int64_t>(array.count(), 8);
    for (int64_t j = 0; j < shown; ++j) {
      long double value = rt::elementAt(array.view(), j);
      value = std::isnan(value) ? std::abs(value) : value; // a NaN's sign has no meaning
      first += (j ? " " : "") + (isFloat ? fmt::format("{:g}", value) : fmt::format("{:.0f}", value));
    }
    fmt::print("result {}: {}[{}] = {}{}\n", i, rt::name(array.element), dims, first,
               shown < array.count() ? " ..." : "");
  }
}

Status tools::save(const std::string &path, const std::vector<Array> &outputs) {
  if (endsWith(path, ".npy")) {
    if (outputs.size() != 1)
      return {StatusCode::InvalidArgument, "'" + path + "' holds one array, but there are " +
                                               std::to_string(outputs.size()) + " results: use a .npz file"};
    return writeNpy(path, outputs[0]);
  }
  if (!endsWith(path, ".npz"))
    return {StatusCode::InvalidArgument, "expected a .npy or .npz file for results, but got '" + path + "'"};
  std::vector<std::pair<std::string, const Array *>> arrays;
  for (size_t i = 0; i < outputs.size(); ++i)
    arrays.emplace_back("result_" + std::to_string(i), &outputs[i]);
  return writeNpz(path, arrays);
}
