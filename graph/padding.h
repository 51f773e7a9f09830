// Padding of windows at the border of an image.
#ifndef TANDEM_GRAPH_PADDING_H_
#define TANDEM_GRAPH_PADDING_H_

#include <cstdint>

namespace tandem {

enum class Padding : int8_t {
  kValid,  // only windows that lie inside the image
  kSame,   // zeros around it, so that there are ceil(size / stride) windows; the odd one comes last, as in TensorFlow
};

}  // namespace tandem

#endif  // TANDEM_GRAPH_PADDING_H_
