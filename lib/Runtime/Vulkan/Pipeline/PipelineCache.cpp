// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes the cache file in a frame with a hash. Device/DeviceQuery.cpp makes the key of the file
// (`makeCacheKey`).

#include "PipelineCache.h"
#include "Runtime/Vulkan/Device/Results.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace inlay::rt::vulkan {

namespace {

/// The header of a cache file. Drivers check that the data is theirs but not that it is complete; the frame does.
struct Frame {
  char magic[8];
  uint64_t size;
  uint64_t hash;
};

constexpr char frameMagic[8] = {'I', 'N', 'L', 'A', 'Y', 'P', 'C', '1'};
constexpr uint64_t maxPayload = uint64_t(1) << 30;

} // namespace

/// Returns the FNV-1a hash.
static uint64_t hashOf(const std::vector<char> &bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char byte : bytes)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

std::string cacheFolder() {
  if (const char *folder = std::getenv("XDG_CACHE_HOME"); folder && *folder)
    return fmt::format("{}/inlay", folder);
  if (const char *home = std::getenv("HOME"); home && *home)
    return fmt::format("{}/.cache/inlay", home);
  return "";
}

std::vector<char> readFramed(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    return {};
  auto length = static_cast<uint64_t>(file.tellg());
  Frame frame;
  if (length < sizeof(frame) || length - sizeof(frame) > maxPayload)
    return {};
  file.seekg(0);
  file.read(reinterpret_cast<char *>(&frame), sizeof(frame));
  if (!file || std::memcmp(frame.magic, frameMagic, sizeof(frameMagic)) != 0 || frame.size != length - sizeof(frame))
    return {};
  std::vector<char> payload(frame.size);
  file.read(payload.data(), static_cast<std::streamsize>(payload.size()));
  return file && hashOf(payload) == frame.hash ? payload : std::vector<char>();
}

bool writeFramed(const std::string &path, const std::vector<char> &payload) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  std::string temporary = path + ".XXXXXX";
  int descriptor = mkstemp(temporary.data());
  if (descriptor < 0)
    return false;
  close(descriptor);
  Frame frame;
  std::memcpy(frame.magic, frameMagic, sizeof(frameMagic));
  frame.size = payload.size();
  frame.hash = hashOf(payload);
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char *>(&frame), sizeof(frame));
  file.write(payload.data(), static_cast<std::streamsize>(payload.size()));
  file.close();
  if (file && std::rename(temporary.c_str(), path.c_str()) == 0)
    return true;
  std::remove(temporary.c_str());
  return false;
}

Status PipelineCache::open(const std::string &key) {
  std::string folder = cacheFolder();
  if (!folder.empty()) {
    path_ = fmt::format("{}/{}.vkcache", folder, key);
    saved_ = readFramed(path_);
  }
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  info.initialDataSize = saved_.size();
  info.pInitialData = saved_.data();
  VkPipelineCache cache = VK_NULL_HANDLE;
  VkResult result = table_.vk.vkCreatePipelineCache(table_.device, &info, nullptr, &cache);
  if (result != VK_SUCCESS && !saved_.empty()) {
    saved_.clear();
    info.initialDataSize = 0;
    result = table_.vk.vkCreatePipelineCache(table_.device, &info, nullptr, &cache);
  }
  INLAY_RETURN_IF_ERROR(checkResult("vkCreatePipelineCache", result));
  cache_ = PipelineCacheHandle(table_, cache);
  return Status::ok();
}

void PipelineCache::save() {
  DriverUse use;
  if (path_.empty() || !cache_.get() || !use)
    return;
  std::lock_guard<std::mutex> lock(mutex_);
  size_t size = 0;
  if (table_.vk.vkGetPipelineCacheData(table_.device, cache_.get(), &size, nullptr) != VK_SUCCESS || size > maxPayload)
    return;
  std::vector<char> data(size);
  if (table_.vk.vkGetPipelineCacheData(table_.device, cache_.get(), &size, data.data()) != VK_SUCCESS)
    return;
  data.resize(size);
  if (data != saved_ && writeFramed(path_, data))
    saved_ = std::move(data);
}

} // namespace inlay::rt::vulkan
