// Why a loop of steps ended.
#ifndef TANDEM_ESTIMATOR_STOP_REASON_H_
#define TANDEM_ESTIMATOR_STOP_REASON_H_

namespace tandem {

// kPeerSignal: another worker was asked to stop by a signal.
enum class StopReason { kEndOfInput, kStopRequested, kMaxRounds, kSignal, kPeerSignal };

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_STOP_REASON_H_
