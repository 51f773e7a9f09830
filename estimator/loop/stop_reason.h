// StopReason: why a loop of steps ended.
#ifndef TANDEM_ESTIMATOR_LOOP_STOP_REASON_H_
#define TANDEM_ESTIMATOR_LOOP_STOP_REASON_H_

#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// kPeerSignal: a signal asked another worker to stop.
enum class StopReason { kEndOfInput, kStopRequested, kMaxRounds, kSignal, kPeerSignal };

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_STOP_REASON_H_
