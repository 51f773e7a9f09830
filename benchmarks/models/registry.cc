#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/models/model.h"

namespace tandem::benchmarks {
namespace {

void Build(const BenchModel& model, GraphBuilder& graph, FlopCounter& flops) {
  InputTensors inputs;
  for (const InputSpec& spec : model.inputs) {
    Shape shape = spec.row_shape;
    shape.insert(shape.begin(), kBatch);
    inputs[spec.name] = graph.Input(spec.name, spec.dtype, shape);
  }
  const Tensor loss = model.loss(inputs, flops);
  graph.Output("loss", loss);
  if (model.training) model.optimizer->Minimize(loss);
}

using Maker = std::function<BenchModel(const ModelOptions&)>;

const std::vector<std::pair<std::string, Maker>>& Makers() {
  static const auto* makers = new std::vector<std::pair<std::string, Maker>>{
      {"s0", ZalandoModel},    {"s2", MultiGpuModel},       {"s4", MnistModel},
      {"linear", LinearModel}, {"mlp", MlpModel},           {"transformer", TransformerModel},
      {"vgg16", Vgg16Model},   {"resnet50", Resnet50Model},
  };
  return *makers;
}

}  // namespace

HostTensor RandomRows(const InputSpec& spec, int64_t rows, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(0, 1);
  Shape shape = spec.row_shape;
  shape.insert(shape.begin(), rows);
  HostTensor values(spec.dtype, shape);
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    if (spec.dtype == DType::kInt32) {
      values.data<int32_t>()[i] = static_cast<int32_t>(random() % spec.limit);
    } else {
      values.data<float>()[i] = uniform(random);
    }
  }
  return values;
}

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : Makers()) names.push_back(name);
  return names;
}

BenchModel WithBuild(BenchModel model) {
  model.build = [parts = model](GraphBuilder& graph, FlopCounter& flops) { Build(parts, graph, flops); };
  return model;
}

absl::StatusOr<BenchModel> MakeModel(absl::string_view name, const ModelOptions& options) {
  if (options.image_size < 0 || options.image_size % 32 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--image_size: ", options.image_size, " is not a positive multiple of 32"));
  }
  if (options.tokens < 0) return absl::InvalidArgumentError(absl::StrCat("--tokens: ", options.tokens, " is below 0"));
  for (const auto& [known, maker] : Makers()) {
    if (known != name) continue;
    BenchModel model = maker(options);
    model.training = options.training;
    return WithBuild(std::move(model));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--model: \"", name, "\" is none of ", absl::StrJoin(ModelNames(), ", ")));
}

}  // namespace tandem::benchmarks
