// tandem-dump and tandem-run as a user starts them, on models that this test trains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "data/files/npy.h"
#include "data/files/write_npz.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/estimator.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "passes/compile.h"
#include "runtime/executable.h"
#include "tools/dump/find_executable.h"

namespace tandem {
namespace {

using Json = nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

struct ToolResult {
  int exit_code = -1;
  std::string out, err;
};

// Runs `COMMAND ARGUMENTS` through the shell.
ToolResult Tool(const std::string& command, const std::string& arguments) {
  ToolResult result;
  const std::string err = ::testing::TempDir() + "/stderr";
  FILE* pipe = popen((command + " " + arguments + " 2>" + err).c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) result.out.append(buffer, n);
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.err = Env::Default()->ReadFile(err).value_or("");
  return result;
}

ToolResult RunTool(const std::string& tool, const std::string& arguments) { return Tool("tools/" + tool, arguments); }

// What the tools have printed they have printed completely, or they say so.
TEST(OutputTest, AFullDiskIsAnIoError) {
  const std::string ir = ::testing::TempDir() + "/empty.mlir";
  ASSERT_TRUE(Env::Default()->WriteFile(ir, {"module {}\n"}).ok());
  for (const auto& [tool, arguments] :
       {std::pair<std::string, std::string>("tandem-dump", "--help"), {"tandem-run", "--help"}, {"tandem-opt", ir}}) {
    const ToolResult result = RunTool(tool, arguments + " > /dev/full");
    EXPECT_EQ(result.exit_code, 74) << tool << result.err;
    EXPECT_THAT(result.err, ::testing::HasSubstr("standard output: ")) << tool;
  }
}

ToolResult DumpOf(const std::string& arguments) { return RunTool("tandem-dump", arguments); }
ToolResult RunOf(const std::string& arguments) { return RunTool("tandem-run", arguments); }

constexpr int64_t kExamples = 32;
constexpr int kConvLine = __LINE__ + 3;

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Conv2D(features["image"], {.filters = 4, .kernel_size = 3, .activation = Relu});
  x = layers::Flatten(layers::MaxPool2D(x, {.pool_size = 2}));
  if (params.Number("norm", 0) > 0) x = layers::BatchNormalization(x, {.training = mode == Mode::kTrain});
  x = layers::Dropout(x, {.rate = 0.25, .training = mode == Mode::kTrain});
  Tensor logits = layers::Dense(x, {.units = 10});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"logits", logits}});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) {
    return EstimatorSpec::Eval(loss, {{"accuracy", metrics::Accuracy(labels, ArgMax(logits, -1))}});
  }
  return EstimatorSpec::Train(loss, optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss));
}

absl::StatusOr<Dataset> Images(const InputContext&) {
  std::vector<float> image;
  std::vector<int64_t> label;
  for (int64_t i = 0; i < kExamples; ++i) {
    label.push_back(i % 10);
    for (int64_t p = 0; p < 8 * 8; ++p) image.push_back(static_cast<float>((p * 7 + i * 13) % 17) / 17);
  }
  return Dataset::FromTensorSlices({{"image", HostTensor::FromVector({kExamples, 8, 8, 1}, image)},
                                    {"label", HostTensor::FromVector({kExamples}, label)}})
      .Repeat()
      .Batch(8);
}

// Trains two steps on `devices` and evaluates; the same model_dir for every call with the same arguments.
std::string ModelDir(const std::vector<std::string>& devices, bool norm = false) {
  const std::string dir = ::testing::TempDir() + "/model_" + std::to_string(devices.size()) + (norm ? "_norm" : "");
  if (Env::Default()->Exists(dir)) return dir;
  RunConfig config{.model_dir = dir, .seed = 3};
  config.train_distribute = MirroredStrategy(devices);
  config.threads = 2;
  Estimator estimator(ModelFn, config, {{"norm", norm ? 1.0 : 0.0}});
  const absl::Status trained = estimator.Train(Images, {.steps = 2});
  EXPECT_TRUE(trained.ok()) << trained;
  const auto result = estimator.Evaluate(Images, {.steps = 2});
  EXPECT_TRUE(result.ok()) << result.status();
  return dir;
}

std::string TwoDevices() { return ModelDir({"cpu:0", "cpu:1"}); }

// A copy of the model's train executable with one bit changed.
std::string DamagedFile(size_t offset_from_end) {
  const auto path = FindExecutable(TwoDevices(), "train");
  EXPECT_TRUE(path.ok()) << path.status();
  std::string bytes = Env::Default()->ReadFile(*path).value_or("");
  EXPECT_GT(bytes.size(), offset_from_end);
  bytes[bytes.size() - offset_from_end] ^= 1;
  const std::string copy = ::testing::TempDir() + "/damaged.tdx";
  EXPECT_TRUE(Env::Default()->WriteFile(copy, {bytes}).ok());
  return copy;
}

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
  const std::string conv = "tools_test.cc:" + std::to_string(kConvLine);
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
        "\n    gradient of conv2d/kernel\n", "Kernels (", "tools_test.cc:", "Memory per device: peak "}) {
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

// The train executable after `change`, with right checksums, in a file of this name.
std::string Changed(const std::string& name,
                    const std::function<void(fb::ExecutableT&, std::vector<SegmentData>&)>& change) {
  const auto path = FindExecutable(TwoDevices(), "train");
  EXPECT_TRUE(path.ok()) << path.status();
  const auto executable = Executable::Load(*path);
  EXPECT_TRUE(executable.ok()) << executable.status();
  fb::ExecutableT index = (*executable)->index();
  std::vector<SegmentData> segments;
  for (size_t i = 0; i < index.segments.size(); ++i) {
    const fb::SegmentT& s = *index.segments[i];
    segments.push_back({s.kind, s.name, std::string((*executable)->segment(static_cast<int>(i)))});
  }
  change(index, segments);
  const std::string copy = ::testing::TempDir() + "/" + name;
  EXPECT_TRUE(Env::Default()->WriteFile(copy, {BuildExecutable(std::move(index), segments)}).ok());
  return copy;
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
  EveryFormatWorks(Changed("no_debug.tdx", [](fb::ExecutableT& e, auto&) {
    e.debug = nullptr;
    for (auto& k : e.kernels) std::fill(k->locations.begin(), k->locations.end(), 0);
    for (auto& section : e.programs[0]->sections) {
      for (auto& command : section->commands) command->location = 0;
    }
  }));
}

// Names and paths are bytes.
TEST(Dump, NamesNeedNotBeUtf8) {
  const std::string dir = ::testing::TempDir() + "/m\xff";
  ASSERT_TRUE(Env::Default()->CreateDirs(dir).ok());
  EveryFormatWorks(Changed("m\xff/names.tdx", [](fb::ExecutableT& e, auto&) {
    e.mode = "train";
    e.producer = "\xc3(";
    for (auto& c : e.collectives) c->tensors[0] += "\xff";
    for (auto& k : e.kernels) k->name += "\xe2\x82";
    for (auto& v : e.variables) v->name += "\xff";
    for (auto& section : e.programs[0]->sections) {
      for (auto& command : section->commands) command->name = "\xf0" + command->name;
    }
  }));
}

TEST(Run, LaunchesThatDoNotFitTheirKernelsAreRefused) {
  const std::string file = Changed("launch.tdx", [](fb::ExecutableT& e, auto&) {
    for (auto& section : e.programs[0]->sections) {
      for (auto& command : section->commands) {
        if (command->body.type == fb::CommandBody::KernelLaunch && !command->inputs.empty())
          return command->inputs.pop_back();
      }
    }
  });
  const ToolResult result = RunOf(file);
  EXPECT_EQ(result.exit_code, 65);
  EXPECT_THAT(result.err, ContainsRegex("launch.tdx: programs.0..sections.*inputs and .* outputs; kernel kernel_"));
}

TEST(Opt, OnlyRegularFilesOfTheSizeOfTextAreRead) {
  const std::string fifo = ::testing::TempDir() + "/fifo.mlir", sparse = ::testing::TempDir() + "/sparse.mlir";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_TRUE(Env::Default()->WriteFile(sparse, {"module {}"}).ok());
  ASSERT_EQ(truncate(sparse.c_str(), off_t{1} << 40), 0);
  for (const char* flags : {"", " --compile-to=input"}) {
    // One that waits for a writer, or reads for ever, is stopped.
    const auto opt = [&](const std::string& input) {
      return Tool("ulimit -v 8000000; timeout 60 tools/tandem-opt", input + flags);
    };
    for (const std::string& input : {fifo, std::string("/dev/zero")}) {
      const ToolResult result = opt(input);
      EXPECT_EQ(result.exit_code, 2) << result.err;
      EXPECT_THAT(result.err, HasSubstr(input + ": cannot read: it is a "));
    }
    const ToolResult huge = opt(sparse);
    EXPECT_EQ(huge.exit_code, 65) << huge.err;
    EXPECT_THAT(huge.err, HasSubstr("sparse.mlir: has 1099511627776 bytes, and at most "));
    EXPECT_EQ(opt(::testing::TempDir() + "/absent.mlir").exit_code, 66);
  }
  const ToolResult piped = RunTool("tandem-opt", "- < /dev/null");
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
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
  const std::string file = Changed("deep.tdx", [&](fb::ExecutableT&, std::vector<SegmentData>& segments) {
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
  const absl::Status predicted = estimator.Predict(Images, [&](const Prediction& p) {
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
  EXPECT_EQ(DumpOf(*exported).exit_code, 0);

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
