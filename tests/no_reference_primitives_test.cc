// No compiled sample runs a reference implementation of oneDNN: those are loops without vectors, up to a hundred times
// slower than the others, and nothing but the time shows them.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "passes/compile/compile.h"
#include "runtime/library_calls/library_call.h"
#include "samples/networks.h"

namespace tandem {
namespace {

struct Model {
  std::string name;
  Tensor (*build)(const Tensor& x, const networks::NetworkOptions& options);
  Shape x_shape;  // without the batch
  bool has_library_calls;
};

const Model kModels[] = {
    {"ZalandoConvnet",
     [](const Tensor& x, const networks::NetworkOptions& options) { return networks::ZalandoConvnet(x, options); },
     {28, 28, 1},
     true},
    {"MnistConvnet",
     [](const Tensor& x, const networks::NetworkOptions& options) { return networks::MnistConvnet(x, options); },
     {28, 28, 1},
     true},
    {"MultiGpuConvnet",
     [](const Tensor& x, const networks::NetworkOptions& options) { return networks::MultiGpuConvnet(x, options); },
     {28, 28, 1},
     true},
    {"Linear",
     [](const Tensor& x, const networks::NetworkOptions& options) { return networks::Linear(x, options); },
     {1},
     false},
};

struct Batch {
  int devices;
  int64_t rows;  // per device
};

// The samples' defaults (two devices with 64 images or 10 points, one with 64 images) and what the benchmarks run.
std::vector<Batch> BatchesOf(const Model& model) {
  if (model.name == "Linear") return {{2, 10}, {1, 32}};
  return {{2, 64}, {1, 64}, {1, 512}};
}

void BuildGraph(const Model& model, const std::string& mode, GraphBuilder& graph) {
  Shape shape = model.x_shape;
  shape.insert(shape.begin(), kBatch);
  Tensor x = graph.Input("x", DType::kFloat32, shape);
  const bool linear = model.name == "Linear";
  Tensor y = model.build(x, {.training = mode == "train", .logits = true});
  if (mode == "predict") {
    graph.Output("y", y);
    return;
  }
  Tensor label =
      linear ? graph.Input("label", DType::kFloat32, {kBatch, 1}) : graph.Input("label", DType::kInt32, {kBatch});
  Tensor loss = linear ? losses::MeanSquaredError(label, y) : losses::SparseSoftmaxCrossEntropy(label, y);
  if (mode == "train") optimizers::Adam({.learning_rate = 1e-3}).Minimize(loss);
  graph.Output("loss", loss);
}

class NoReferencePrimitives : public ::testing::TestWithParam<std::string> {};

TEST_P(NoReferencePrimitives, InAnyModelAtTheBatchSizesOfTheSamples) {
  const std::string mode = GetParam();
  for (const Model& model : kModels) {
    for (const Batch& batch : BatchesOf(model)) {
      SCOPED_TRACE(absl::StrCat(model.name, ", ", batch.devices, " x ", batch.rows));
      GraphBuilder graph("test");
      BuildGraph(model, mode, graph);
      CompileOptions options;
      options.devices.clear();
      for (int d = 0; d < batch.devices; ++d) options.devices.push_back(absl::StrCat("cpu:", d));
      options.batch_per_replica = batch.rows;
      auto executable = CompileGraph(graph, mode, options);
      ASSERT_TRUE(executable.ok()) << executable.status();
      int calls = 0;
      for (const auto& program : (*executable)->index().programs) {
        for (const auto& section : program.sections) {
          for (const auto& command : section.commands) {
            const format::LibraryCall* call = command.body.As<format::LibraryCall>();
            if (call == nullptr) continue;
            ++calls;
            EXPECT_FALSE(call->implementation.empty()) << command.name;
            EXPECT_EQ(call->implementation.find("ref"), std::string::npos)
                << command.name << " (" << InfoOf(*call).name << ") runs " << call->implementation;
          }
        }
      }
      EXPECT_TRUE(calls > 0 || !model.has_library_calls);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, NoReferencePrimitives, ::testing::Values("train", "eval", "predict"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tandem
