// The convnets of the samples, as model_fns.
#ifndef TANDEM_SAMPLES_MODELS_H_
#define TANDEM_SAMPLES_MODELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tandem/estimator/model/estimator_spec.h"

namespace tandem {

// A model_fn over the feature "image" (float32 [b,28,28,1]) and labels, with the settings that it is usually trained
// with.
struct SampleModel {
  std::string name;
  ModelFn model_fn;
  bool one_hot_labels = false;  // true for labels float32 [b,10], false for labels int32 [b]
  std::string optimizer;
};

// "zalando": three convolutions and two dense layers, 93,322 parameters, softmax and categorical cross-entropy.
// "mnist": one convolution and two dense layers, logits and sparse cross-entropy. "multi_gpu": three convolutions with
// batch normalisation and dropout. Params that all models read: "optimizer" (adam, momentum, sgd, rmsprop),
// "learning_rate" (0: the optimizer's usual one), "decay_steps" (0: constant rate; else a cosine down to 0 over so many
// steps), "dropout" (a rate; negative: the model's own). InvalidArgument, listing the names, for another name.
absl::StatusOr<SampleModel> SampleModelByName(const std::string& name);

// Returns InvalidArgument, listing the names, unless `name` is one of adam, momentum, sgd, rmsprop.
absl::Status CheckOptimizerName(const std::string& name);

}  // namespace tandem

#endif  // TANDEM_SAMPLES_MODELS_H_
