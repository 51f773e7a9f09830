// Keras' progress bar and epoch lines. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_PROGRESS_BAR_H_
#define TANDEM_ESTIMATOR_KERAS_PROGRESS_BAR_H_

#include "estimator/keras/callback.h"

namespace tandem::keras {

// Returns the callback that a Fit or an Evaluate calls last. It prints a bar that is redrawn (params.verbose 1) or a
// line for each epoch (2). Writes the same bytes as Keras 2.15 to the console (console.h). Reads the clock as Keras
// does: when a bar begins and at each of its changes, which are each batch and the end (verbose 1) or only the end
// (verbose 2).
CallbackPtr MakeProgressBar(const FitParams& params);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_PROGRESS_BAR_H_
