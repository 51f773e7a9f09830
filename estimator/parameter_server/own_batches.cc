#include "estimator/parameter_server/own_batches.h"

#include "base/status_macros.h"

namespace tandem {

absl::StatusOr<bool> OwnBatches::Next(Round* round) {
  while (true) {
    TD_ASSIGN_OR_RETURN(const bool more, all_.Next(round));
    if (!more) return false;
    round->rows.clear();
    round->examples = 0;
    for (const std::vector<HostTensor>& batch : round->replicas) {
      const int64_t rows = batch.empty() || batch[0].rank() == 0 ? 0 : batch[0].shape()[0];
      round->rows.push_back(rows);
      round->examples += rows;
    }
    if (round->examples > 0) return true;
  }
}

}  // namespace tandem
