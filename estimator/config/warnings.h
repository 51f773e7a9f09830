// The warnings that RunConfig.silence can switch off, by name.
#ifndef TANDEM_ESTIMATOR_CONFIG_WARNINGS_H_
#define TANDEM_ESTIMATOR_CONFIG_WARNINGS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tandem {

// Training ended with its input, before the number of steps that was asked for.
inline constexpr absl::string_view kInputEndedEarly = "input_ended_early";
// The input has no end, and no number of steps is set.
inline constexpr absl::string_view kEndlessTraining = "endless_training";
// A value of Params was never read.
inline constexpr absl::string_view kUnreadParams = "unread_params";

// A loss or metric of probabilities gets the result of a layer without Softmax or Sigmoid.
inline constexpr absl::string_view kScoresForProbabilities = "scores_for_probabilities";
// A loss of logits gets the result of Softmax or Sigmoid.
inline constexpr absl::string_view kProbabilitiesForLogits = "probabilities_for_logits";
// Parameter servers get updates with momentum from several workers.
inline constexpr absl::string_view kStaleMomentum = "stale_momentum";
// A summary or a metric of the training is NaN or infinite.
inline constexpr absl::string_view kWatchedNotFinite = "watched_not_finite";
// An evaluation or prediction uses a model that has not been trained.
inline constexpr absl::string_view kUntrainedWeights = "untrained_weights";

// Returns what is wrong with a list of names; "" if nothing.
std::string SilenceProblem(const std::vector<std::string>& silence);

// Logs the warning, unless `silence` has `name`. The line says how to switch it off.
void LogWarning(const std::vector<std::string>& silence, absl::string_view name, absl::string_view message);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CONFIG_WARNINGS_H_
