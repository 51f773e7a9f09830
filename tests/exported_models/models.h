// The models whose translations to formats of others are tested: those of samples and benchmarks, of Keras, and some
// that have all layers and ops.
#ifndef TANDEM_TESTS_EXPORTED_MODELS_MODELS_H_
#define TANDEM_TESTS_EXPORTED_MODELS_MODELS_H_

#include <functional>
#include <string>
#include <vector>

#include "data/element.h"
#include "estimator/model/estimator_spec.h"

namespace tandem::exported_models {

struct TestModel {
  std::string name;
  std::vector<ComponentSpec> features;
  std::function<TensorsByName(TensorsByName& inputs)> predict;
};

// `full`: images of 224 x 224 pixels and sequences of 128 tokens.
std::vector<TestModel> TestModels(bool full);

// Parts of them.
void AddNetworks(bool full, std::vector<TestModel>& models);
void AddKeras(bool full, std::vector<TestModel>& models);
void AddLayers(std::vector<TestModel>& models);
void AddOps(std::vector<TestModel>& models);

}  // namespace tandem::exported_models

#endif  // TANDEM_TESTS_EXPORTED_MODELS_MODELS_H_
