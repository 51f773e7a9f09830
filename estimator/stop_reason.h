// Why a loop of steps ended.
#ifndef TANDEM_ESTIMATOR_STOP_REASON_H_
#define TANDEM_ESTIMATOR_STOP_REASON_H_

namespace tandem {

enum class StopReason { kEndOfInput, kStopRequested, kMaxRounds, kSignal };

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_STOP_REASON_H_
