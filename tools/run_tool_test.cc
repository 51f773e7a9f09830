// tandem-run as a user starts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/moving_average_name.h"
#include "data/files/npy.h"
#include "data/files/write_npz.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/estimator.h"
#include "graph/ops.h"
#include "passes/compile/compile.h"
#include "runtime/executable/executable.h"
#include "runtime/format/index.h"
#include "tools/testing/run_tool.h"
#include "tools/testing/trained_model.h"

namespace tandem {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using tool_test::ChangedFile;
using tool_test::DamagedFile;
using tool_test::Images;
using tool_test::ModelDir;
using tool_test::ModelFn;
using tool_test::TwoDevices;

ToolResult RunOf(const std::string& arguments) { return RunTool("tandem-run", arguments); }

TEST(Run, LaunchesThatDoNotFitTheirKernelsAreRefused) {
  const std::string file = ChangedFile("launch.tdx", [](format::Index& e, auto&) {
    for (auto& section : e.programs[0].sections) {
      for (auto& command : section.commands) {
        if (command.body.As<format::KernelLaunch>() && !command.inputs.empty()) return command.inputs.pop_back();
      }
    }
  });
  const ToolResult result = RunOf(file);
  EXPECT_EQ(result.exit_code, 65);
  EXPECT_THAT(result.err, ContainsRegex("launch.tdx: programs.0..sections.*inputs and .* outputs; kernel kernel_"));
}

TEST(Run, DeepTextIsRefusedBeforeItIsParsed) {
  const std::string deep = std::string(50000, '[') + std::string(50000, ']');
  const std::string text = "module attributes {a = " + deep + "} {}\n", path = ::testing::TempDir() + "/deep.mlir";
  ASSERT_TRUE(Env::Default()->WriteFile(path, {text}).ok());
  for (const char* flags : {"", "--compile-to=input", "-td-assign-buffers"}) {
    const ToolResult result = RunTool("tandem-opt", path + " " + flags);
    EXPECT_EQ(result.exit_code, 65) << flags << result.err;
    EXPECT_THAT(result.err, HasSubstr("deep.mlir:1: nested deeper than "));
  }
  const std::string file = ChangedFile("deep.tdx", [&](format::Index&, std::vector<SegmentData>& segments) {
    for (SegmentData& s : segments) s.bytes = s.name == "input" ? text : s.bytes;
  });
  const ToolResult check = RunOf(file + " --check");
  EXPECT_EQ(check.exit_code, 65) << check.err;
  EXPECT_THAT(check.err, HasSubstr("nested deeper than "));
}

// Random indices are of the table's rows, and given ones have to be.
TEST(Run, ChecksProgramsWithEmbeddings) {
  GraphBuilder graph;
  const Tensor ids = graph.Input("ids", DType::kInt64, {kBatch});
  graph.Output("y", Gather(graph.Variable({.name = "table", .shape = {3, 5}}), ids));
  CompileOptions options;
  options.batch_per_replica = 64;
  options.cache_dir = ::testing::TempDir() + "/embedding";
  const auto executable = CompileGraph(graph, "predict", options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const ToolResult result = RunOf((*executable)->name() + " --check");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const std::string in = ::testing::TempDir() + "/ids.safetensors";
  ASSERT_TRUE(WriteSafetensors(Env::Default(), in, {{"ids", HostTensor::FromVector<int64_t>({3}, {0, 3, 1})}}).ok());
  const ToolResult wrong = RunOf((*executable)->name() + " --inputs=" + in);
  EXPECT_NE(wrong.exit_code, 0);
  EXPECT_THAT(wrong.err, HasSubstr("input \"ids\" has 3 in row 1; the program takes it as an index, 0 to 2"));
}

TEST(Run, AgreesWithTheReference) {
  for (const std::string& dir : {TwoDevices(), ModelDir({"cpu:0"})}) {
    const ToolResult train = RunOf(dir + " --mode=train --steps=2 --check --variables=" + dir);
    EXPECT_EQ(train.exit_code, 0) << train.out << train.err;
    for (const char* text : {"output loss float32 []", "check output loss", "check variable conv2d/kernel",
                             "check variable dense/kernel/Momentum", "check passed"}) {
      EXPECT_THAT(train.out, HasSubstr(text));
    }
    // From initialisers, with a batch that does not fill all lanes.
    const ToolResult eval = RunOf(dir + " --mode=eval --check --rows=5");
    EXPECT_EQ(eval.exit_code, 0) << eval.out << eval.err;
    EXPECT_THAT(eval.out, HasSubstr("check passed"));
    EXPECT_EQ(RunOf(dir + " --mode=train --check --rows=7 --scalars=global_step=7").exit_code, 0);
  }
}

// The stored graph has every element of its constants.
TEST(Run, ChecksProgramsWithLargeConstants) {
  constexpr int64_t kColumns = 5000;
  std::vector<float> values;
  for (int64_t i = 0; i < kColumns; ++i) values.push_back(static_cast<float>((i * 37) % 101) / 101);
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, kColumns});
  graph.Output("y", ReduceSum(x * graph.Constant(HostTensor::FromVector({kColumns}, values)), {1}));
  CompileOptions options;
  options.batch_per_replica = 4;
  options.cache_dir = ::testing::TempDir() + "/constants";
  const auto executable = CompileGraph(graph, "predict", options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const ToolResult result = RunOf((*executable)->name() + " --check --rows=3");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("check passed: 1 tensors"));
}

TEST(Run, FindsADifference) {
  const ToolResult result = RunOf(TwoDevices() + " --check --tolerance=0 --absolute-tolerance=0");
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(result.out, HasSubstr("DIFFERS"));
  EXPECT_THAT(result.err, HasSubstr("differs from the reference: "));
}

TEST(Run, StatisticsOfAReplicaAreCheckedOnOne) {
  const std::string dir = ModelDir({"cpu:0", "cpu:1"}, /*norm=*/true);
  const ToolResult both = RunOf(dir + " --mode=train --check");
  EXPECT_EQ(both.exit_code, 2) << both.out;
  EXPECT_THAT(both.err, HasSubstr("--rows"));
  const ToolResult one = RunOf(dir + " --mode=train --check --rows=8");
  EXPECT_EQ(one.exit_code, 0) << one.out << one.err;
  EXPECT_THAT(one.out, HasSubstr("check variable batch_normalization/moving_mean"));
}

TEST(Run, AReplicasNumberIsCheckedOnOne) {
  GraphBuilder graph;
  const Tensor index = Cast(graph.StepScalar("replica_index", DType::kInt32), DType::kFloat32);
  graph.Output("sum", ReduceSum(graph.Input("x", DType::kFloat32, {kBatch})) + CrossReplicaSum(index + 2.0));
  CompileOptions options;
  options.devices = {"cpu:0", "cpu:1"};
  options.batch_per_replica = 4;
  options.cache_dir = ::testing::TempDir() + "/index";
  const auto executable = CompileGraph(graph, "eval", options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const ToolResult both = RunOf((*executable)->name() + " --check");
  EXPECT_EQ(both.exit_code, 2) << both.out;
  EXPECT_THAT(both.err, HasSubstr("statistics of each replica (the scalar replica_index)"));
  const ToolResult one = RunOf((*executable)->name() + " --check --rows=4");
  EXPECT_EQ(one.exit_code, 0) << one.out << one.err;
  EXPECT_THAT(one.out, HasSubstr("check passed"));
  EXPECT_THAT(one.out, ::testing::Not(HasSubstr("scalar replica_index")));
}

TEST(Run, TakesInputsAndWritesOutputs) {
  const std::string in = ::testing::TempDir() + "/in.safetensors", out = ::testing::TempDir() + "/out.safetensors";
  const TensorMap given = {{"image", HostTensor::Zeros(DType::kFloat32, {3, 8, 8, 1})},
                           {"label", HostTensor::FromVector<int64_t>({3}, {1, 2, 3})}};
  ASSERT_TRUE(WriteSafetensors(Env::Default(), in, given).ok());
  // Zero images and zero biases: every class is as likely.
  const ToolResult result = RunOf(TwoDevices() + " --mode=eval --inputs=" + in + " --outputs=" + out);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, ContainsRegex("output loss float32 \\[\\]: 2\\.30258"));
  auto outputs = ReadSafetensors(Env::Default(), out);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->count("loss"), 1u);
  EXPECT_NEAR(outputs->at("loss").data<float>()[0], 2.302585, 1e-5);
  // The same from the same seed, something else from another.
  const std::string again = " --mode=eval --seed=";
  EXPECT_EQ(RunOf(TwoDevices() + again + "4").out, RunOf(TwoDevices() + again + "4").out);
  EXPECT_NE(RunOf(TwoDevices() + again + "4").out, RunOf(TwoDevices() + again + "5").out);
}

TEST(Run, PrintsEveryDigitOfIntegers) {
  GraphBuilder graph;
  graph.Output("long", graph.Input("x", DType::kInt64, {kBatch}) + int64_t{0});
  graph.Output("int", graph.Input("y", DType::kInt32, {kBatch}) + 0);
  CompileOptions options;
  options.batch_per_replica = 2;
  options.cache_dir = ::testing::TempDir() + "/integers";
  const auto executable = CompileGraph(graph, "predict", options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const std::string in = ::testing::TempDir() + "/integers.safetensors";
  const TensorMap given = {{"x", HostTensor::FromVector<int64_t>({2}, {9007199254740993, -12345678})},
                           {"y", HostTensor::FromVector<int32_t>({2}, {2147483647, -12345678})}};
  ASSERT_TRUE(WriteSafetensors(Env::Default(), in, given).ok());
  const ToolResult result = RunOf((*executable)->name() + " --inputs=" + in);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("output long int64 [2]: 9007199254740993 -12345678\n"));
  EXPECT_THAT(result.out, HasSubstr("output int int32 [2]: 2147483647 -12345678\n"));
}

TEST(Run, PredictsWithMovingAverages) {
  GraphBuilder graph;
  graph.Output("y", graph.Input("x", DType::kFloat32, {kBatch}) * graph.Variable({.name = "w", .shape = {}}));
  const std::string values = ::testing::TempDir() + "/averaged.safetensors";
  ASSERT_TRUE(WriteSafetensors(Env::Default(), values,
                               {{"w", HostTensor::Scalar(1.0f)}, {MovingAverageName("w"), HostTensor::Scalar(3.0f)}})
                  .ok());
  const std::string in = ::testing::TempDir() + "/two.safetensors";
  ASSERT_TRUE(WriteSafetensors(Env::Default(), in, {{"x", HostTensor::FromVector<float>({1}, {2})}}).ok());
  for (const char* mode : {"predict", "train"}) {
    CompileOptions options;
    options.batch_per_replica = 1;
    options.cache_dir = ::testing::TempDir() + "/averaged";
    const auto executable = CompileGraph(graph, mode, options);
    ASSERT_TRUE(executable.ok()) << executable.status();
    const ToolResult result = RunOf((*executable)->name() + " --inputs=" + in + " --variables=" + values);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const bool averages = std::string(mode) == "predict";
    EXPECT_THAT(result.out, HasSubstr(averages ? "output y float32 [1]: 6" : "output y float32 [1]: 2"));
    EXPECT_EQ(absl::StrContains(result.out, "Using the moving averages of 1 variables."), averages) << result.out;
  }
}

TEST(Run, MistakesHaveTheirExitCodes) {
  EXPECT_EQ(RunOf(::testing::TempDir() + "/nowhere").exit_code, 66);
  EXPECT_EQ(RunOf("").exit_code, 2);
  EXPECT_EQ(RunOf("--help").exit_code, 0);
  const std::string model = TwoDevices();
  for (const char* flags :
       {"--rows=-1", "--rows=1000000", "--steps=0", "--scalars=speed=3", "--scalars=seed", "--row=3"}) {
    EXPECT_EQ(RunOf(model + " " + flags).exit_code, 2) << flags;
  }
  const std::string in = ::testing::TempDir() + "/wrong.safetensors";
  ASSERT_TRUE(WriteSafetensors(Env::Default(), in, {{"image", HostTensor::Zeros(DType::kFloat32, {3, 8, 8, 2})}}).ok());
  const ToolResult shape = RunOf(model + " --inputs=" + in);
  EXPECT_EQ(shape.exit_code, 2);
  EXPECT_THAT(shape.err, HasSubstr("input \"image\" is float32[3,8,8,2]"));
  ASSERT_TRUE(WriteSafetensors(Env::Default(), in, {{"picture", HostTensor::Zeros(DType::kFloat32, {3})}}).ok());
  EXPECT_THAT(RunOf(model + " --inputs=" + in).err, HasSubstr("no input \"picture\"; its inputs are: "));
  EXPECT_THAT(RunOf(model + " --variables=" + in).err, HasSubstr("lacks variables of the program: conv2d/"));
  EXPECT_EQ(RunOf(model + " --inputs=/nowhere").exit_code, 66);
  const ToolResult npy = RunOf(model + " --outputs=" + ::testing::TempDir() + "/y.npy");
  EXPECT_EQ(npy.exit_code, 2);
  EXPECT_THAT(npy.err, HasSubstr("y.npy is neither a .safetensors nor a .npz file"));
  for (const char* flag : {"--outputs", "--trace"}) {
    const ToolResult absent = RunOf(model + " " + flag + "=/nowhere/x.npz");
    EXPECT_EQ(absent.exit_code, 2);
    EXPECT_EQ(absent.err, absl::StrCat("tandem-run: ", flag,
                                       " /nowhere/x.npz: there is no folder /nowhere; make it, or "
                                       "choose another path\n"));
    EXPECT_EQ(absent.out, "") << "nothing has run";
  }
  for (size_t offset : {size_t{1}, size_t{5000}}) {
    const ToolResult damaged = RunOf(DamagedFile(offset) + " --check");
    EXPECT_EQ(damaged.exit_code, 65) << damaged.err;
  }
}

// Another process predicts with an exported model what the Estimator does.
TEST(Run, AnExportedModel) {
  RunConfig config{.model_dir = TwoDevices()};
  config.train_distribute = MirroredStrategy({"cpu:0", "cpu:1"});
  Estimator estimator(ModelFn, config);
  const std::string base = ::testing::TempDir() + "/exports", file = ::testing::TempDir() + "/x.npz";
  const auto exported = estimator.ExportModel(base, {.input_fn = Images});
  ASSERT_TRUE(exported.ok()) << exported.status();
  constexpr int64_t kRows = 21;  // more than the program computes at once, and an odd number
  std::vector<float> image, logits;
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t p = 0; p < 8 * 8; ++p) image.push_back(static_cast<float>((p * 7 + i * 13) % 17) / 17);
  }
  const HostTensor images = HostTensor::FromVector({kRows, 8, 8, 1}, image);
  ASSERT_TRUE(Env::Default()->WriteFileAtomically(file, *SerializeNpz({{"image", images}})).ok());
  const absl::Status predicted = estimator.Predict(Images, [&](const NamedTensors& p) {
    for (float v : p.at("logits").values<float>()) logits.push_back(v);
    return logits.size() < kRows * 10;
  });
  ASSERT_TRUE(predicted.ok()) << predicted;
  const std::string outputs = ::testing::TempDir() + "/y.npz";
  for (const std::string& dir : {*exported, base}) {
    const ToolResult result = RunOf(dir + " --inputs=" + file + " --outputs=" + outputs);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("exported at global step 2"));
    const auto read = ReadNpz(outputs);
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(read->size(), 1u);
    EXPECT_TRUE((*read)[0].second.BitEqual(HostTensor::FromVector({kRows, 10}, logits)));
  }
  // Its program is one as any other.
  EXPECT_EQ(RunOf(*exported + "/predict.tdx --check --variables=" + *exported + "/variables.safetensors").exit_code, 0);
  EXPECT_EQ(RunTool("tandem-dump", *exported).exit_code, 0);

  EXPECT_THAT(RunOf(*exported).err, HasSubstr("no input \"image\" was given; the model takes image:float32[b,8,8,1]"));
  EXPECT_THAT(RunOf(*exported + " --check").err, HasSubstr("predict.tdx --variables="));
  std::string weights = *Env::Default()->ReadFile(*exported + "/variables.safetensors");
  weights[weights.size() / 2] ^= 1;
  ASSERT_TRUE(Env::Default()->WriteFile(*exported + "/variables.safetensors", {weights}).ok());
  const ToolResult damaged = RunOf(*exported + " --inputs=" + file);
  EXPECT_EQ(damaged.exit_code, 65) << damaged.err;
  EXPECT_THAT(damaged.err, HasSubstr("variables.safetensors: its bytes have changed"));
}

}  // namespace
}  // namespace tandem
