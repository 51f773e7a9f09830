// The list of evaluations of one TrainAndEvaluate, and how one of them is named.
#ifndef TANDEM_ESTIMATOR_INTERNAL_EVAL_SPEC_LIST_H_
#define TANDEM_ESTIMATOR_INTERNAL_EVAL_SPEC_LIST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {

// InvalidArgument for an empty list; among several, for one without a name or with the name of another; for a name that
// cannot be part of a folder's name; for two exporters of one name; and for what EvalSpec::Validate finds.
absl::Status ValidateEvalSpecs(const std::vector<EvalSpec>& specs);

std::vector<std::string> EvaluationNames(const std::vector<EvalSpec>& specs);

// Returns "evaluation "test"" if there are several, and "evaluation" if there is one.
std::string EvaluationTitle(const std::vector<EvalSpec>& specs, const EvalSpec& spec);

// Checks `asked`, the name of the evaluation to follow that is given in `where` ("RunConfig.keep_best").
// InvalidArgument if it looks like a misspelling of one of `names`, or is empty although there are several. Other names
// are accepted, because they may belong to evaluations that the user or another process makes.
absl::Status CheckEvaluationName(absl::string_view where, const std::string& asked,
                                 const std::vector<std::string>& names);

// Returns the number of the evaluation `asked`, for features that follow evaluations of this job only. An empty name
// means the only evaluation.
absl::StatusOr<int> FindEvaluation(absl::string_view where, const std::string& asked,
                                   const std::vector<std::string>& names);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_INTERNAL_EVAL_SPEC_LIST_H_
