// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Support/Tuning.h"
#include "inlay/Target/Vulkan/SubgroupProductPolicy.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace inlay;

namespace {

/// Returns the error of reading a file with this text, or an empty string if there is none.
std::string readText(llvm::StringRef text, Tuning *result = nullptr) {
  llvm::SmallString<128> path;
  int descriptor;
  EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("tuning", "json", descriptor, path));
  llvm::FileRemover remover(path);
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
  llvm::Expected<Tuning> tuning = readTuning(path.str().str());
  if (!tuning)
    return llvm::toString(tuning.takeError());
  if (result)
    *result = *tuning;
  return "";
}

} // namespace

TEST(Tuning, ReadsWhatItWrites) {
  Tuning tuning{"a \"device\"", "driver 1.2", {{"load", 7.5}, {"quad", 12}}}, read;
  ASSERT_EQ(readText(formatTuning(tuning), &read), "");
  EXPECT_EQ(read.device, tuning.device);
  EXPECT_EQ(read.driver, tuning.driver);
  EXPECT_EQ(read.costs, tuning.costs);
}

TEST(Tuning, SaysWhatIsWrongWithAFile) {
  const std::string start = R"({"version": 1, "device": "d", "driver": "e", "costs": )";
  for (auto [text, message] : {
           std::pair<std::string, std::string>{"", "Unexpected EOF"},
           {"[1]", "expected an object"},
           {R"({"version": 2, "device": "d", "driver": "e", "costs": {}})", "expected 'version' to be 1"},
           {R"({"version": 1, "driver": "e", "costs": {}})", "expected 'device' to be a string"},
           {R"({"version": 1, "device": "d", "driver": 3, "costs": {}})", "expected 'driver' to be a string"},
           {R"({"version": 1, "device": "d", "driver": "e"})", "expected 'costs' to be an object"},
           {R"({"version": 1, "device": "d", "driver": "e", "costs": {}, "extra": 1})", "unknown key 'extra'"},
           {start + R"({"laod": 1}})", "unknown key 'costs.laod': expected some of load, quad"},
           {start + R"({"load": 0}})", "expected 'costs.load' to be a number above 0"},
           {start + R"({"load": -3}})", "expected 'costs.load' to be a number above 0"},
           {start + R"({"load": "3"}})", "expected 'costs.load' to be a number above 0"},
           {start + R"({"load": 1e999}})", "expected 'costs.load' to be a number above 0"},
       })
    EXPECT_NE(readText(text).find(message), std::string::npos) << text << "\n" << readText(text);
  EXPECT_NE(readText(start + R"({"laod": 1}})").find("did you mean 'load'"), std::string::npos);
}

TEST(Tuning, NamesAFileThatIsNotThere) {
  llvm::Expected<Tuning> tuning = readTuning("/nonexistent/tuning.json");
  ASSERT_FALSE(tuning);
  EXPECT_NE(llvm::toString(tuning.takeError()).find("tuning file '/nonexistent/tuning.json': No such file"),
            std::string::npos);
}

TEST(Tuning, ProfilesHaveAFigureForEachKey) {
  SubgroupProductProfile profile;
  std::vector<double *> figures;
  for (llvm::StringRef key : getTuningKeys()) {
    double *figure = profile.find(key);
    ASSERT_TRUE(figure) << key.str();
    figures.push_back(figure);
  }
  std::sort(figures.begin(), figures.end());
  EXPECT_EQ(std::unique(figures.begin(), figures.end()), figures.end());
  EXPECT_FALSE(profile.find("speed"));
}
