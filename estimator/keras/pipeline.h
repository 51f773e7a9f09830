// The input of a Fit, an Evaluate or a Predict. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_PIPELINE_H_
#define TANDEM_ESTIMATOR_KERAS_PIPELINE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "data/dataset.h"
#include "estimator/keras/compiled_model.h"
#include "estimator/keras/data.h"
#include "frontends/keras/network.h"

namespace tandem::keras {

// Global batches in `replicas` parts; components have the names of the model's inputs and outputs, or "label".
// InvalidArgument: arrays that are not as many as inputs and outputs or have other numbers of rows, batches that are
// smaller than the devices are many, a dataset without batches.
absl::StatusOr<Dataset> MakePipeline(const Data& data, const PipelineOptions& options, const Network& network,
                                     const std::vector<std::string>& outputs, int replicas);

// The last floor(rows * (1 - split)) rows on are for validation: the parts of `data` before and behind.
// InvalidArgument for a Dataset, and where one of them is empty.
absl::StatusOr<std::pair<Data, Data>> SplitForValidation(const Data& data, double split);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_PIPELINE_H_
