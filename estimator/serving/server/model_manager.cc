#include "estimator/serving/server/model_manager.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem::serving {

absl::StatusOr<std::unique_ptr<ModelManager>> ModelManager::Start(const ServerOptions& options,
                                                                  const LoadServable& load, Metrics* metrics) {
  std::unique_ptr<ModelManager> manager(new ModelManager);
  for (const ModelOptions& model : options.models) {
    TD_ASSIGN_OR_RETURN(manager->models_[model.name],
                        ServedModel::Start(model, options, load, metrics->ForModel(model.name)));
  }
  return manager;
}

absl::StatusOr<const ServedModel*> ModelManager::Find(const std::string& name) const {
  const auto it = models_.find(name);
  if (it != models_.end()) return it->second.get();
  std::vector<std::string> names;
  for (const auto& [known, model] : models_) names.push_back(known);
  const std::string nearest = DidYouMean(name, names);
  return absl::NotFoundError(
      absl::StrCat("there is no model \"", PrintableLine(name), "\"",
                   nearest.empty() ? absl::StrCat("; there is ", absl::StrJoin(names, ", ")) : nearest));
}

absl::Status ModelManager::Ready() const {
  for (const auto& [name, model] : models_) TD_RETURN_IF_ERROR(model->Find(std::nullopt).status());
  return absl::OkStatus();
}

void ModelManager::Stop() {
  for (auto& [name, model] : models_) model->Stop();
}

}  // namespace tandem::serving
