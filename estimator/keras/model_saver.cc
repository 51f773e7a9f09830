#include "estimator/keras/model_saver.h"

#include <utility>

#include "estimator/keras/model.h"

namespace tandem::keras {
namespace {

ModelSaver& CurrentSaver() {
  static auto& saver = *new ModelSaver();
  return saver;
}

}  // namespace

void SetModelSaver(ModelSaver saver) { CurrentSaver() = std::move(saver); }

absl::Status SaveModelTo(Model& model, const std::string& path, bool weights_only) {
  if (CurrentSaver() != nullptr) return CurrentSaver()(model, path, weights_only);
  return weights_only ? model.SaveWeights(path) : model.Save(path);
}

}  // namespace tandem::keras
