// tandem-dump as a user starts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/env.h"
#include "runtime/executable/executable.h"
#include "runtime/format/index.h"
#include "tools/testing/run_tool.h"
#include "tools/testing/trained_model.h"

namespace tandem {
namespace {

using Json = nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using tool_test::ChangedFile;
using tool_test::DamagedFile;
using tool_test::TwoDevices;

ToolResult DumpOf(const std::string& arguments) { return RunTool("tandem-dump", arguments); }

TEST(Dump, JsonHasWhatTheCompilerMade) {
  const ToolResult result = DumpOf(TwoDevices() + " --format=json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json dump = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_FALSE(dump.is_discarded());
  for (const char* key : {"replicas", "collectives", "kernels", "commands", "memory"}) {
    ASSERT_TRUE(dump.contains(key)) << key;
    EXPECT_FALSE(dump[key].empty()) << key;
  }
  ASSERT_EQ(dump["replicas"].size(), 2u);
  EXPECT_EQ(dump["replicas"][0]["device"], "cpu:0");
  EXPECT_EQ(dump["replicas"][1]["device"], "cpu:1");
  std::vector<std::string> reduced;
  int64_t seq = 0;
  for (const Json& c : dump["collectives"]) {
    EXPECT_EQ(c["seq"], seq++);
    EXPECT_THAT(c["kind"].get<std::string>(), HasSubstr("all_reduce"));
    EXPECT_GT(c["bytes"], 0);
    EXPECT_EQ(c["group"], Json({0, 1}));
    EXPECT_FALSE(c["tensors"].empty());
    for (const Json& t : c["tensors"]) reduced.push_back(t.get<std::string>());
  }
  EXPECT_THAT(reduced,
              UnorderedElementsAre("gradient of conv2d/kernel", "gradient of conv2d/bias", "gradient of dense/kernel",
                                   "gradient of dense/bias", "sparse_softmax_cross_entropy_loss/Sum"));
  const std::string conv = tool_test::ConvolutionPlace();
  bool conv_in_kernel = false, conv_in_commands = false;
  for (const Json& k : dump["kernels"]) {
    EXPECT_FALSE(k["ops"].empty()) << k;
    for (const Json& op : k["ops"]) {
      EXPECT_THAT(op["op"].get<std::string>(), Not(""));
      conv_in_kernel |= op["source"].get<std::string>().find(conv) != std::string::npos;
    }
  }
  for (const Json& s : dump["commands"])
    conv_in_commands |= s["source"].get<std::string>().find(conv) != std::string::npos;
  EXPECT_TRUE(conv_in_kernel) << dump["kernels"];
  EXPECT_TRUE(conv_in_commands) << dump["commands"];
  EXPECT_GT(dump["memory"]["peak_bytes_per_device"], 0);
  // 3*3*4 + 4 + 36*10 + 10 float32 values, and as many of momentum.
  EXPECT_EQ(dump["memory"]["parameter_bytes"], (3 * 3 * 4 + 4 + 36 * 10 + 10) * 4);
  EXPECT_EQ(dump["memory"]["slot_bytes"], dump["memory"]["parameter_bytes"]);
}

TEST(Dump, TextNamesReplicasKernelsAndPeak) {
  const ToolResult result = DumpOf(TwoDevices());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* text :
       {"train executable for cpu:", "replica_0 on cpu:0", "replica_1 on cpu:1", "seq 0",
        "\n    gradient of conv2d/kernel\n", "Kernels (", "trained_model.cc:", "Memory per device: peak "}) {
    EXPECT_THAT(result.out, HasSubstr(text));
  }
  EXPECT_THAT(DumpOf(TwoDevices() + " --mode=eval").out, HasSubstr("eval executable"));
}

TEST(Dump, PrintsEveryStoredPhase) {
  const Json dump = Json::parse(DumpOf(TwoDevices() + " --format=json").out, nullptr, false);
  ASSERT_TRUE(dump.is_object() && dump.contains("phases"));
  const std::vector<std::string> phases = dump["phases"];
  EXPECT_EQ(phases, std::vector<std::string>({"input", "precision", "distribute", "layout", "fusion", "schedule",
                                              "memory", "commands", "codegen"}));
  for (const std::string& phase : phases) {
    const ToolResult result = DumpOf(TwoDevices() + " --phase=" + phase);
    ASSERT_EQ(result.exit_code, 0) << phase << result.err;
    EXPECT_THAT(result.out, HasSubstr(phase == "codegen" ? "define " : "func.func @step(")) << phase;
  }
  const ToolResult unknown = DumpOf(TwoDevices() + " --phase=nowhere");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("phases: input, precision"));
}

TEST(Dump, ExplainsFusionForAnyTwoNeighbours) {
  const ToolResult all = DumpOf(TwoDevices() + " --explain_fusion=all");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr(": in one kernel\n"));
  EXPECT_THAT(all.out, HasSubstr("(exec.library_call): apart: exec.library_call is no op of a generated kernel\n"));
  const ToolResult some = DumpOf(TwoDevices() + " --explain_fusion=td.reduce");
  ASSERT_EQ(some.exit_code, 0) << some.err;
  EXPECT_THAT(some.out, HasSubstr("(td.reduce)"));
  EXPECT_LT(some.out.size(), all.out.size());
  const ToolResult none = DumpOf(TwoDevices() + " --explain_fusion=nobody");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no op \"nobody\""));
}

TEST(Dump, SaysHowCommandsRun) {
  const ToolResult eval = DumpOf(TwoDevices() + " --mode=eval");
  ASSERT_EQ(eval.exit_code, 0) << eval.err;
  EXPECT_THAT(eval.out, ContainsRegex("PackWeights .*, invariant"));
  EXPECT_THAT(eval.out, ContainsRegex("LaneReduce .*, inline\n"));
  // The weights change in every step of a training.
  EXPECT_THAT(DumpOf(TwoDevices()).out, Not(HasSubstr(", invariant")));
  const Json dump = Json::parse(DumpOf(TwoDevices() + " --mode=eval --format=json").out, nullptr, false);
  ASSERT_FALSE(dump.is_discarded());
  int64_t invariant = 0;
  for (const Json& command : dump["commands"]) invariant += command.value("invariant", false);
  EXPECT_GE(invariant, 1);
  EXPECT_EQ(dump["executable"]["flat"], false);
}

TEST(Dump, SaysHowContractionsAreComputed) {
  const ToolResult result = DumpOf(TwoDevices() + " --contractions --machine=zen4");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Library calls, by machine model zen4\n"));
  EXPECT_THAT(result.out, HasSubstr("conv2d/Conv2D: conv2d, microbatches of "));
  EXPECT_THAT(result.out, HasSubstr("    not few_taps: 4 channels out are fewer than 8\n"));
  EXPECT_THAT(result.out, HasSubstr(": MatMul a=["));
  EXPECT_THAT(result.out, HasSubstr("\n  Library ("));
  EXPECT_THAT(result.out, HasSubstr("conv2d/Conv2D: PackWeights of float32 for Conv2D x=["));
  EXPECT_EQ(DumpOf(TwoDevices() + " --contractions --machine=nobody").exit_code, 66);
}

TEST(Dump, StoredPhasesCanBeResumed) {
  const std::string input = ::testing::TempDir() + "/input.mlir", last = ::testing::TempDir() + "/commands.mlir";
  ASSERT_EQ(DumpOf(TwoDevices() + " --phase=input > " + input).exit_code, 0);
  ASSERT_EQ(DumpOf(TwoDevices() + " --phase=commands > " + last).exit_code, 0);
  const ToolResult resumed =
      RunTool("tandem-opt", input + " --compile-from=precision --mlir-print-debuginfo --mlir-print-local-scope");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  std::string stored = Env::Default()->ReadFile(last).value_or("");
  while (!stored.empty() && stored.back() == '\n') stored.pop_back();
  std::string again = resumed.out;
  while (!again.empty() && again.back() == '\n') again.pop_back();
  size_t same = 0;
  while (same < std::min(stored.size(), again.size()) && stored[same] == again[same]) ++same;
  EXPECT_TRUE(stored == again) << "from byte " << same << " on, resuming gives another program:\n"
                               << again.substr(same, 300) << "\nstored:\n"
                               << stored.substr(same, 300);
}

TEST(Dump, ExpandReplicasListsTheCommandsOfEach) {
  const Json once = Json::parse(DumpOf(TwoDevices() + " --format=json").out, nullptr, false);
  const Json each = Json::parse(DumpOf(TwoDevices() + " --format=json --expand-replicas").out, nullptr, false);
  ASSERT_TRUE(once.is_object() && each.is_object());
  ASSERT_EQ(each["commands"].size(), 2 * once["commands"].size());
  for (size_t i = 0; i < each["commands"].size(); ++i) {
    EXPECT_EQ(each["commands"][i]["replica"], i < once["commands"].size() ? "replica_0" : "replica_1");
  }
}

TEST(Dump, MistakesHaveTheirExitCodes) {
  EXPECT_EQ(DumpOf(::testing::TempDir() + "/nowhere").exit_code, 66);
  const ToolResult mode = DumpOf(TwoDevices() + " --mode=predict");
  EXPECT_EQ(mode.exit_code, 66);
  EXPECT_THAT(mode.err, HasSubstr("modes there: eval, train"));
  EXPECT_EQ(DumpOf(TwoDevices() + " --format=xml").exit_code, 2);
  EXPECT_EQ(DumpOf(TwoDevices() + " --formats=json").exit_code, 2);
  EXPECT_EQ(DumpOf("").exit_code, 2);
  for (size_t offset : {size_t{1}, size_t{5000}}) {
    const ToolResult damaged = DumpOf(DamagedFile(offset));
    EXPECT_EQ(damaged.exit_code, 65) << damaged.err;
    EXPECT_THAT(damaged.err, HasSubstr("damaged.tdx"));
  }
}

void EveryFormatWorks(const std::string& file) {
  for (const char* flags : {"--format=text", "--format=json", "--format=html", "--format=dot", "--phase=codegen",
                            "--costs --format=json", "--explain_fusion=all"}) {
    const ToolResult result = DumpOf("'" + file + "' " + flags);
    EXPECT_EQ(result.exit_code, 0) << flags << ": " << result.err;
    EXPECT_FALSE(result.out.empty()) << flags;
  }
}

TEST(Dump, AnIndexWithoutDebugTablesIsShown) {
  EveryFormatWorks(ChangedFile("no_debug.tdx", [](format::Index& e, auto&) {
    e.debug = {};
    for (auto& k : e.kernels) std::fill(k.locations.begin(), k.locations.end(), 0);
    for (auto& section : e.programs[0].sections) {
      for (auto& command : section.commands) command.location = 0;
    }
  }));
}

// Names and paths are bytes.
TEST(Dump, NamesNeedNotBeUtf8) {
  const std::string dir = ::testing::TempDir() + "/m\xff";
  ASSERT_TRUE(Env::Default()->CreateDirs(dir).ok());
  EveryFormatWorks(ChangedFile("m\xff/names.tdx", [](format::Index& e, auto&) {
    e.mode = "train";
    e.producer = "\xc3(";
    for (auto& c : e.collectives) c.tensors[0] += "\xff";
    for (auto& k : e.kernels) k.name += "\xe2\x82";
    for (auto& v : e.variables) v.name += "\xff";
    for (auto& section : e.programs[0].sections) {
      for (auto& command : section.commands) command.name = "\xf0" + command.name;
    }
  }));
}

}  // namespace
}  // namespace tandem
