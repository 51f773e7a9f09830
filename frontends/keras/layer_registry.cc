// Makes layers from the class names in files.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "frontends/keras/option_layer.h"

namespace tandem::keras {
namespace {

const std::map<std::string, LayerClass>& Classes() {
  static const auto& classes = *new std::map<std::string, LayerClass>([] {
    std::map<std::string, LayerClass> by_name;
    for (const auto& list : {DenseLayerClasses(), WindowLayerClasses(), NormLayerClasses(), ShapeLayerClasses(),
                             MergeLayerClasses(), ActivationLayerClasses()}) {
      for (const LayerClass& one : list) by_name[one.class_name] = one;
    }
    return by_name;
  }());
  return classes;
}

}  // namespace

bool IsLayerClass(const std::string& class_name) { return Classes().contains(class_name); }

std::vector<std::string> LayerClassNames() {
  std::vector<std::string> names;
  for (const auto& [name, one] : Classes()) names.push_back(name);
  return names;
}

absl::StatusOr<std::shared_ptr<LayerImpl>> LayerFromConfig(const std::string& class_name, const Json& config,
                                                           SourceLocation loc) {
  const auto found = Classes().find(class_name);
  if (found == Classes().end()) {
    return absl::InvalidArgumentError(absl::StrCat("the class \"", class_name, "\" is not known"));
  }
  LayerNaming naming;
  ConfigReader common(config);
  bool trainable = true;
  common.Field("name", naming.name);
  common.Field("trainable", trainable);
  TD_RETURN_IF_ERROR(common.status());
  naming.trainable = trainable;
  if (const auto shape = config.find("batch_input_shape"); shape != config.end()) {
    Shape sizes;
    TD_RETURN_IF_ERROR(ShapeFromJson(*shape, &sizes));
    const bool known = !sizes.empty() && std::count(sizes.begin() + 1, sizes.end(), kBatch) == 0;
    if (known) naming.input_shape.assign(sizes.begin() + 1, sizes.end());
  }
  std::vector<std::string> ignored;
  absl::StatusOr<std::shared_ptr<LayerImpl>> layer = found->second.make(config, naming, loc, &ignored);
  if (!layer.ok()) {
    return Annotate(layer.status(), absl::StrCat(class_name, " \"", naming.name, "\": "));
  }
  // Keys that the model's reader handles itself, and keys whose information other keys have too.
  for (const char* known : {"name", "trainable", "dtype", "batch_input_shape", "batch_shape", "build_config", "sparse",
                            "ragged", "query_shape", "key_shape", "value_shape"}) {
    std::erase(ignored, known);
  }
  if (!ignored.empty()) {
    TD_LOG(INFO) << class_name << " \"" << naming.name << "\": the file's " << absl::StrJoin(ignored, ", ")
                 << " is not known and counts for nothing.";
  }
  return layer;
}

}  // namespace tandem::keras
