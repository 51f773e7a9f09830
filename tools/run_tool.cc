#include "tools/run_tool.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "base/printable.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct Tool {
  absl::string_view name;
  int (*run)(int argc, char** argv);
};

// The tools of an installed package, sorted by name. tandem-opt is a developer's tool, and its options are LLVM's,
// which belong to the whole process.
constexpr Tool kTools[] = {
    {"tandem-calibrate", TandemCalibrate},
    {"tandem-checkpoint", TandemCheckpoint},
    {"tandem-cluster", TandemCluster},
    {"tandem-compare", TandemCompare},
    {"tandem-devices", TandemDevices},
    {"tandem-dump", TandemDump},
    {"tandem-launch", TandemLaunch},
    {"tandem-onnx", TandemOnnx},
    {"tandem-plot", TandemPlot},
    {"tandem-records", TandemRecords},
    {"tandem-run", TandemRun},
    {"tandem-scale", TandemScale},
    {"tandem-serve", TandemServe},
    {"tandem-stablehlo", TandemStablehlo},
    {"tandem-textures", TandemTextures},
};

}  // namespace

int RunTool(absl::string_view name, int argc, char** argv) {
  const Tool* const tool =
      std::find_if(std::begin(kTools), std::end(kTools), [&](const Tool& t) { return t.name == name; });
  if (tool != std::end(kTools)) return tool->run(argc, argv);
  std::fprintf(stderr, "there is no tool \"%s\"; there are %s\n", PrintableLine(name).c_str(),
               absl::StrJoin(ToolNames(), ", ").c_str());
  return kExitUsage;
}

std::vector<std::string> ToolNames() {
  std::vector<std::string> names;
  for (const Tool& tool : kTools) names.emplace_back(tool.name);
  return names;
}

}  // namespace tandem
