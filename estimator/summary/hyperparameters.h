// The hyperparameters of a training for TensorBoard: a table, and what its plugin "hparams" compares runs by.
#ifndef TANDEM_ESTIMATOR_SUMMARY_HYPERPARAMETERS_H_
#define TANDEM_ESTIMATOR_SUMMARY_HYPERPARAMETERS_H_

#include <string>
#include <vector>

#include "estimator/params.h"

namespace tandem {

// A table in Markdown, a row for each.
std::string HyperparameterTable(const Params& params);

// Messages Summary.Value: the text "hyperparameters", and the start of a session (at `time`, seconds since 1970) of
// tensorboard/plugins/hparams/plugin_data.proto. None of no hyperparameters.
std::vector<std::string> HyperparameterValues(const Params& params, double time);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_HYPERPARAMETERS_H_
