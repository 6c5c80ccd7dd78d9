// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens the Vulkan loader and explains which drivers were looked for if none works.

#include "VulkanInstance.h"

#include <fmt/format.h>

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace inlay::rt::vulkan {

StatusOr<PFN_vkGetInstanceProcAddr> openLoader(const char *library) {
  // Never closed, because drivers leave threads and exit handlers behind.
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Status(
        StatusCode::Unavailable,
        fmt::format("the Vulkan loader {} was not found ({}); install it (Debian: libvulkan1) or add its folder "
                    "to LD_LIBRARY_PATH",
                    library, dlerror()));
  auto entry = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(handle, "vkGetInstanceProcAddr"));
  if (!entry)
    return Status(StatusCode::Unavailable,
                  fmt::format("{} is not a Vulkan loader: it has no vkGetInstanceProcAddr", library));
  return entry;
}

/// Returns "name=value" and a note for each listed file that can't be read.
static std::string explainVariable(const char *name, const std::string &value) {
  std::string text = fmt::format("{}={}", name, value);
  for (size_t begin = 0; begin <= value.size();) {
    size_t end = std::min(value.find(':', begin), value.size());
    std::string path = value.substr(begin, end - begin);
    if (!path.empty() && access(path.c_str(), R_OK) != 0)
      text += fmt::format(" ({} can't be read)", path);
    begin = end + 1;
  }
  return text;
}

std::string explainDrivers() {
  // The loader reads the newer variable and ignores the older one when both are set.
  for (const char *name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"})
    if (const char *value = std::getenv(name); value && *value)
      return explainVariable(name, value);
  return "VK_DRIVER_FILES and VK_ICD_FILENAMES are not set, so the loader looked into vulkan/icd.d under /etc, "
         "/usr/share, "
         "/usr/local/share and $XDG_DATA_HOME; a driver that needs no GPU is Debian's mesa-vulkan-drivers";
}

} // namespace inlay::rt::vulkan
