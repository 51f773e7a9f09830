// Writes a training's hyperparameters for TensorBoard: a table, and data by which its plugin "hparams" compares runs.
#ifndef TANDEM_ESTIMATOR_SUMMARY_HYPERPARAMETERS_H_
#define TANDEM_ESTIMATOR_SUMMARY_HYPERPARAMETERS_H_

#include <string>
#include <vector>

#include "estimator/config/params.h"

namespace tandem {

// Returns a table in Markdown with a row for each hyperparameter.
std::string HyperparameterTable(const Params& params);

// Returns messages Summary.Value: the text "hyperparameters", and the start of a session (at `time`, seconds since
// 1970) of tensorboard/plugins/hparams/plugin_data.proto. Empty if there are no hyperparameters.
std::vector<std::string> HyperparameterValues(const Params& params, double time);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_HYPERPARAMETERS_H_
