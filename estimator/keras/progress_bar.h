// Keras' progress bar and epoch lines. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_PROGRESS_BAR_H_
#define TANDEM_ESTIMATOR_KERAS_PROGRESS_BAR_H_

#include "estimator/keras/callback.h"

namespace tandem::keras {

// Of params.verbose 1 (a bar that is drawn over) or 2 (a line for each epoch); last of a Fit's or Evaluate's callbacks.
// Bytes are those of Keras 2.15, on the console (console.h). The clock is asked once where a bar begins and once for
// each change of it, as there: with verbose 1 for each batch and at the end, with verbose 2 at the end.
CallbackPtr MakeProgressBar(const FitParams& params);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_PROGRESS_BAR_H_
