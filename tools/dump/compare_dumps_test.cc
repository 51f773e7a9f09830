// Two programs that differ in a layer, in what they are compiled for, and in nothing.
#include "tools/dump/compare_dumps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <string>

#include "absl/strings/match.h"
#include "frontends/layers.h"
#include "frontends/optimizers.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"
#include "passes/compile/compile.h"
#include "runtime/format/index.h"
#include "tools/dump/ir_text.h"
#include "tools/dump/json_dump.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

struct Made {
  int64_t units = 8;
  bool tanh = false;
  int lanes = 2;
};

DumpedProgram ProgramOf(const Made& made) {
  GraphBuilder graph;
  Tensor x = layers::Dense(graph.Input("x", DType::kFloat32, {kBatch, 4}), {.units = made.units, .activation = Relu});
  if (made.tanh) x = Tanh(x);
  const Tensor y = layers::Dense(x, {.units = 1, .name = "head"});
  const Tensor loss = ReduceMean(Square(y));
  graph.Output("loss", loss);
  optimizers::SGD({.learning_rate = 0.1}).Minimize(loss);
  CompileOptions options = {.batch_per_replica = 16};
  options.lanes = made.lanes;
  const auto executable = CompileGraph(graph, "train", options);
  EXPECT_TRUE(executable.ok()) << executable.status();
  DumpedProgram program{.dump = DumpJson(**executable, /*expand_replicas=*/false)};
  for (size_t i = 0; i < (*executable)->index().segments.size(); ++i) {
    const format::Segment& segment = (*executable)->index().segments[i];
    if (IsPhase(segment) && segment.name == "input") {
      program.ops = ParseIrGraph(*IrText(**executable, static_cast<int>(i)));
    }
  }
  EXPECT_GT(program.ops.size(), 10u);
  return program;
}

// Whether an entry of `list` has a name that contains `name`, and where it has one a source in this file.
bool Names(const Json& list, const std::string& name) {
  for (const Json& entry : list) {
    if (!absl::StrContains(entry["name"].get<std::string>(), name)) continue;
    if (!entry.contains("source") || absl::StrContains(entry["source"].get<std::string>(), "compare_dumps_test.cc")) {
      return true;
    }
  }
  return false;
}

TEST(CompareDumps, OfOneProgramNothingDiffers) {
  const DumpedProgram program = ProgramOf({});
  const Json comparison = CompareDumps("input", program, ProgramOf({}));
  EXPECT_EQ(comparison["ops"]["equal"], program.ops.size());
  for (const char* list : {"ops", "variables", "kernels", "commands", "collectives", "buffers"}) {
    for (const char* key : {"only_a", "only_b", "changed"}) EXPECT_TRUE(comparison[list][key].empty()) << list << key;
  }
  EXPECT_TRUE(comparison["settings"].empty() && comparison["memory"].empty()) << comparison;
  EXPECT_THAT(ComparisonText(comparison), HasSubstr("The programs are equal in all of these."));
}

TEST(CompareDumps, AnotherWidthIsAChangeOfThatLayer) {
  const Json comparison = CompareDumps("input", ProgramOf({.units = 8}), ProgramOf({.units = 12}));
  EXPECT_TRUE(comparison["ops"]["only_a"].empty() && comparison["ops"]["only_b"].empty()) << comparison["ops"];
  EXPECT_TRUE(Names(comparison["ops"]["changed"], "dense/MatMul")) << comparison["ops"];
  EXPECT_FALSE(Names(comparison["ops"]["changed"], "head/bias")) << comparison["ops"];
  ASSERT_EQ(comparison["variables"]["changed"].size(), 3u) << comparison["variables"];
  EXPECT_EQ(comparison["variables"]["changed"][0]["name"], "dense/kernel");
  EXPECT_THAT(comparison["variables"]["changed"][0]["a"].get<std::string>(), HasSubstr("[4,8]"));
  EXPECT_THAT(comparison["variables"]["changed"][0]["b"].get<std::string>(), HasSubstr("[4,12]"));
  const std::string text = ComparisonText(comparison);
  EXPECT_THAT(text, HasSubstr("parameter_bytes  196 -> 292  (1.49 times)"));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 60) << text;
}

TEST(CompareDumps, AnOpMoreIsInOneOnly) {
  const Json comparison = CompareDumps("input", ProgramOf({}), ProgramOf({.tanh = true}));
  EXPECT_TRUE(Names(comparison["ops"]["only_b"], "td.tanh")) << comparison["ops"];
  EXPECT_TRUE(comparison["variables"]["changed"].empty());
  EXPECT_TRUE(Names(comparison["kernels"]["only_b"], "Tanh")) << comparison["kernels"];
  EXPECT_THAT(ComparisonText(comparison), HasSubstr("+ "));
  const std::string page = ComparisonHtml(comparison);
  EXPECT_THAT(page, HasSubstr("<tr class=\"b\"><td>+</td><td>"));
  EXPECT_THAT(page, Not(HasSubstr("->")));
}

TEST(CompareDumps, SettingsAreNamed) {
  const Json comparison = CompareDumps("input", ProgramOf({.lanes = 2}), ProgramOf({.lanes = 4}));
  bool lanes = false;
  for (const Json& setting : comparison["settings"]) {
    lanes |= setting["name"] == "lanes" && setting["a"] == 2 && setting["b"] == 4;
  }
  EXPECT_TRUE(lanes) << comparison["settings"];
}

}  // namespace
}  // namespace tandem
