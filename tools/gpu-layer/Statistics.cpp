// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the driver for the statistics and the assembly of a pipeline (VK_KHR_pipeline_executable_properties), and writes
// them to a file.

#include "Tables.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using namespace inlay::layer;
using Json = nlohmann::json;

/// Calls a Vulkan function that fills an array: once for the size, once for the elements.
template <typename T, typename Call>
static std::vector<T> list(VkStructureType type, const Call &call) {
  uint32_t count = 0;
  if (call(&count, static_cast<T *>(nullptr)) != VK_SUCCESS)
    return {};
  std::vector<T> elements(count);
  for (T &element : elements)
    element.sType = type;
  if (call(&count, elements.data()) < VK_SUCCESS)
    return {};
  elements.resize(count);
  return elements;
}

static Json toJson(const VkPipelineExecutableStatisticKHR &statistic) {
  switch (statistic.format) {
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
    return statistic.value.b32 != 0;
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
    return statistic.value.i64;
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
    return statistic.value.f64;
  default:
    return statistic.value.u64;
  }
}

static Json readStatistics(const Device &device, const VkPipelineExecutableInfoKHR &executable) {
  auto get = device.get<PFN_vkGetPipelineExecutableStatisticsKHR>("vkGetPipelineExecutableStatisticsKHR");
  Json statistics = Json::object();
  for (const auto &statistic : list<VkPipelineExecutableStatisticKHR>(
           VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR,
           [&](uint32_t *count, auto *elements) { return get(device.handle, &executable, count, elements); }))
    statistics[statistic.name] = toJson(statistic);
  return statistics;
}

/// Returns the text of the executable's machine code, or "" if the driver has none.
static std::string readAssembly(const Device &device, const VkPipelineExecutableInfoKHR &executable) {
  auto get = device.get<PFN_vkGetPipelineExecutableInternalRepresentationsKHR>(
      "vkGetPipelineExecutableInternalRepresentationsKHR");
  using Representation = VkPipelineExecutableInternalRepresentationKHR;
  std::vector<Representation> found = list<Representation>(
      VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR,
      [&](uint32_t *count, auto *elements) { return get(device.handle, &executable, count, elements); });
  std::vector<std::vector<char>> texts;
  for (Representation &representation : found) {
    texts.emplace_back(representation.dataSize + 1);
    representation.pData = texts.back().data();
  }
  auto count = static_cast<uint32_t>(found.size());
  if (get(device.handle, &executable, &count, found.data()) < VK_SUCCESS)
    return "";
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i].isText && std::string(found[i].name) == "Assembly")
      return texts[i].data();
  return "";
}

void inlay::layer::writeStatistics(const Device &device, VkPipeline pipeline, const char *entry) {
  const char *folder = std::getenv("INLAY_GPU_LAYER_FOLDER");
  auto getExecutables = device.get<PFN_vkGetPipelineExecutablePropertiesKHR>("vkGetPipelineExecutablePropertiesKHR");
  if (!folder || !*folder || !getExecutables)
    return;
  VkPipelineInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, nullptr, pipeline};
  auto executables = list<VkPipelineExecutablePropertiesKHR>(
      VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR,
      [&](uint32_t *count, auto *elements) { return getExecutables(device.handle, &info, count, elements); });
  if (executables.empty()) // a compute pipeline has one
    return;
  VkPipelineExecutableInfoKHR executable{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr, pipeline, 0};
  Json json = {{"entry", entry},
               {"subgroup", executables.front().subgroupSize},
               {"statistics", readStatistics(device, executable)},
               {"assembly", readAssembly(device, executable)}};
  static std::atomic<unsigned> number{0};
  std::ofstream file(std::string(folder) + "/" + std::to_string(number++) + ".json");
  file << json.dump(1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}
