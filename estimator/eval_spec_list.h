// The evaluations of one TrainAndEvaluate, and what names one of them.
#ifndef TANDEM_ESTIMATOR_EVAL_SPEC_LIST_H_
#define TANDEM_ESTIMATOR_EVAL_SPEC_LIST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {

// InvalidArgument: none at all; one of several that has no name, or that of another; a name that is none of a folder;
// two exporters of one name; and what EvalSpec::Validate finds.
absl::Status ValidateEvalSpecs(const std::vector<EvalSpec>& specs);

std::vector<std::string> EvaluationNames(const std::vector<EvalSpec>& specs);

// "evaluation "test"" among several, "evaluation" of one.
std::string EvaluationTitle(const std::vector<EvalSpec>& specs, const EvalSpec& spec);

// What `where` ("RunConfig.keep_best") has asked for with `asked`. InvalidArgument: a misspelling of one of the names;
// nothing where there are several. A name that is near to none may be that of evaluations made elsewhere, by hand or in
// another process.
absl::Status CheckEvaluationName(absl::string_view where, const std::string& asked,
                                 const std::vector<std::string>& names);

// The same for what only goes by evaluations of the job: its number. Nothing asked for is the only one.
absl::StatusOr<int> FindEvaluation(absl::string_view where, const std::string& asked,
                                   const std::vector<std::string>& names);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVAL_SPEC_LIST_H_
