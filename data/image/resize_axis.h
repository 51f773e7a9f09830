// The input pixels and weights of each output pixel along one axis of a picture.
#ifndef TANDEM_DATA_IMAGE_RESIZE_AXIS_H_
#define TANDEM_DATA_IMAGE_RESIZE_AXIS_H_

#include <cstdint>
#include <vector>

namespace tandem::image_internal {

// Output pixel i is in[lower[i]] + (in[upper[i]] - in[lower[i]]) * fraction[i].
struct LerpAxis {
  std::vector<int32_t> lower, upper;
  std::vector<float> fraction;
};
// Returns the same numbers as TensorFlow's compute_interpolation_weights with HalfPixelScaler.
LerpAxis MakeLerpAxis(int64_t in, int64_t out);

// Output pixel i is the sum over k < count[i] of weights[i * span + k] * in[start[i] + k]; 1 <= count[i] <= span.
struct SumAxis {
  std::vector<int32_t> start, count;
  std::vector<float> weights;
  int32_t span = 0;
};
// Weights are the parts of the input pixels that an output pixel covers, in input pixels, as in TensorFlow's
// ResizeArea.
SumAxis MakeAreaAxis(int64_t in, int64_t out);
// Weights form a triangle that is 2 * max(1, in / out) input pixels wide, normalised, as in TensorFlow's
// ScaleAndTranslate.
SumAxis MakeTriangleAxis(int64_t in, int64_t out);

// Returns the input pixel that contains the centre of each output pixel.
std::vector<int32_t> MakeNearestAxis(int64_t in, int64_t out);

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_RESIZE_AXIS_H_
