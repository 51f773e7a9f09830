#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/models/model.h"

namespace tandem::benchmarks {
namespace {

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

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : Makers()) names.push_back(name);
  return names;
}

absl::StatusOr<BenchModel> MakeModel(absl::string_view name, const ModelOptions& options) {
  if (options.image_size < 0 || options.image_size % 32 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--image_size: ", options.image_size, " is not a positive multiple of 32"));
  }
  for (const auto& [known, maker] : Makers()) {
    if (known != name) continue;
    BenchModel model = maker(options);
    model.training = options.training;
    return model;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--model: \"", name, "\" is none of ", absl::StrJoin(ModelNames(), ", ")));
}

}  // namespace tandem::benchmarks
