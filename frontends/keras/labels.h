// Conversion of labels in the forms that Keras accepts. Internal to frontends/keras/.
#ifndef TANDEM_FRONTENDS_KERAS_LABELS_H_
#define TANDEM_FRONTENDS_KERAS_LABELS_H_

#include "base/source_location.h"
#include "frontends/check.h"
#include "graph/ops.h"

namespace tandem::keras {

// Converts labels that are class numbers in floating point to int32. Returns other labels unchanged.
inline Tensor WholeLabels(const Tensor& labels, SourceLocation loc) {
  return labels.ok() && frontends::IsFloat(labels.dtype()) ? Cast(labels, DType::kInt32, loc) : labels;
}

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_LABELS_H_
