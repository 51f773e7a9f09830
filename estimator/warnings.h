// The warnings that RunConfig.silence switches off, by name.
#ifndef TANDEM_ESTIMATOR_WARNINGS_H_
#define TANDEM_ESTIMATOR_WARNINGS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tandem {

// Training ends with its input, before the steps that were asked for.
inline constexpr absl::string_view kInputEndedEarly = "input_ended_early";
// The input has no end, and no number of steps is given.
inline constexpr absl::string_view kEndlessTraining = "endless_training";
// A value of Params that nothing has asked for.
inline constexpr absl::string_view kUnreadParams = "unread_params";

// A loss or metric of probabilities gets what a layer without Softmax or Sigmoid has made.
inline constexpr absl::string_view kScoresForProbabilities = "scores_for_probabilities";
// A loss of logits gets the result of Softmax or Sigmoid.
inline constexpr absl::string_view kProbabilitiesForLogits = "probabilities_for_logits";
// Parameter servers get updates with momentum of several workers.
inline constexpr absl::string_view kStaleMomentum = "stale_momentum";
// A summary or a metric of the training that is NaN or infinite.
inline constexpr absl::string_view kWatchedNotFinite = "watched_not_finite";
// An evaluation or prediction where nothing has been trained.
inline constexpr absl::string_view kUntrainedWeights = "untrained_weights";

// What is wrong with a list of names; empty: nothing.
std::string SilenceProblem(const std::vector<std::string>& silence);

// To the log, unless `silence` has `name`. The line says how to switch it off.
void LogWarning(const std::vector<std::string>& silence, absl::string_view name, absl::string_view message);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WARNINGS_H_
