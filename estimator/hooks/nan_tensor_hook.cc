#include "estimator/hooks/nan_tensor_hook.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"

namespace tandem {

absl::Status NanTensorHook::AfterRun(RunContext& context, const RunValues& values) {
  if (values.finite) return absl::OkStatus();
  const bool known = values.Has("loss");
  const double loss = known ? values.Number("loss") : 0;
  const bool bad_loss = known && !std::isfinite(loss);
  const std::string bad = std::isnan(loss) ? "NaN" : loss > 0 ? "Inf" : "-Inf";
  const std::string what = bad_loss ? absl::StrCat("loss = ", bad)
                           : known  ? absl::StrCat("loss = ", loss, " and an update that is not finite")
                                    : "a loss or an update that is not finite";
  TD_LOG(ERROR) << "Model diverged with " << what << ".";
  std::string where;
  if (absl::StatusOr<std::string> op = context.FindNonFinite(); !op.ok()) {
    where = absl::StrCat("the search for its origin failed: ", op.status().message());
  } else if (op->empty()) {
    where = "running the step again did not reproduce it";
  } else {
    where = absl::StrCat("first seen in ", *op);
  }
  const std::string message = absl::StrCat(
      bad_loss ? absl::StrCat(bad, " loss")
      : known  ? "Non-finite update"
               : "Non-finite loss or update",
      " during training: step ", values.step, " gave ", what, "; ", where,
      ". The variables are those of the step before and nothing that is not finite was saved. Look at that op and this "
      "batch; where a gradient or the loss has grown, lower the learning rate or clip the gradients.");
  if (fail_on_nan_) return WithExitCode(absl::InternalError(message), kExitInternal);
  TD_LOG(WARNING) << message;
  context.RequestStop();
  return absl::OkStatus();
}

}  // namespace tandem
