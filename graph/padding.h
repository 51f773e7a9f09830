// Padding of windows at the border of an image.
#ifndef TANDEM_GRAPH_PADDING_H_
#define TANDEM_GRAPH_PADDING_H_

#include <cstdint>

#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// What is beyond the border.
enum class Padding : int8_t {
  kValid,  // only windows that lie inside the image
  // Zeros around the image, so that there are ceil(size / stride) windows; of an odd number of zeros one more comes
  // last, as in TensorFlow.
  kSame,
};

}  // namespace tandem

#endif  // TANDEM_GRAPH_PADDING_H_
