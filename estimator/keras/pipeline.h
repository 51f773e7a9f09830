// Makes the input of a Fit, an Evaluate or a Predict. Internal to estimator/keras.
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

// Returns global batches in `replicas` parts; components have the names of the model's inputs and outputs, or "label".
// InvalidArgument for a wrong number of arrays, arrays with different numbers of rows, batches with fewer rows than
// there are devices, and a dataset without batches.
absl::StatusOr<Dataset> MakePipeline(const Data& data, const PipelineOptions& options, const Network& network,
                                     const std::vector<std::string>& outputs, int replicas);

// Splits the rows of `data`: returns the first floor(rows * (1 - split)) rows, and the rest for validation.
// InvalidArgument for a Dataset, and if one of the parts is empty.
absl::StatusOr<std::pair<Data, Data>> SplitForValidation(const Data& data, double split);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_PIPELINE_H_
