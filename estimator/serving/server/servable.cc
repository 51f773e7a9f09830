#include "estimator/serving/server/servable.h"

#include <utility>

#include "base/env.h"
#include "base/status_macros.h"
#include "estimator/serving/model.h"
#include "estimator/serving/signature.h"

namespace tandem::serving {
namespace {

class ExportedModel : public Servable {
 public:
  ExportedModel(std::unique_ptr<Model> model, int64_t rows_per_step)
      : model_(std::move(model)), rows_per_step_(rows_per_step) {}

  const std::vector<TensorSignature>& inputs() const override { return model_->inputs(); }
  const std::vector<TensorSignature>& outputs() const override { return model_->outputs(); }
  int64_t rows_per_step() const override { return rows_per_step_; }
  absl::StatusOr<NamedTensors> Predict(const NamedTensors& inputs) override { return model_->Predict(inputs); }

 private:
  const std::unique_ptr<Model> model_;
  const int64_t rows_per_step_;
};

NamedTensors Zeros(const std::vector<TensorSignature>& inputs, int64_t rows) {
  NamedTensors zeros;
  for (const TensorSignature& input : inputs) {
    Shape shape = input.shape;
    shape[0] = rows;
    zeros[input.name] = HostTensor::Zeros(input.dtype, std::move(shape));
  }
  return zeros;
}

}  // namespace

LoadServable ExportedModels(int threads) {
  return [threads](const std::string& path) -> absl::StatusOr<std::unique_ptr<Servable>> {
    TD_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, LoadModel(path, {.threads = threads}));
    TD_ASSIGN_OR_RETURN(const ModelSignature signature, ReadSignature(Env::Default(), model->path()));
    auto servable = std::make_unique<ExportedModel>(std::move(model), signature.rows_per_step);
    for (const int64_t rows : {int64_t{1}, signature.rows_per_step}) {
      // A model may have no predictions for zeros; requests with other values get theirs all the same.
      servable->Predict(Zeros(servable->inputs(), rows)).status().IgnoreError();
    }
    return servable;
  };
}

}  // namespace tandem::serving
