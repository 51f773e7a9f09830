#include "estimator/job/cooperation.h"

#include "estimator/workers/shared_input.h"

namespace tandem {

std::unique_ptr<WorkerInput> Cooperation::MakeInput(const Share& share, BatchDealer* dealer) {
  return std::make_unique<SharedInput>(dealer);
}

}  // namespace tandem
