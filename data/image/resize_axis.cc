#include "data/image/resize_axis.h"

#include <algorithm>
#include <cmath>

namespace tandem::image_internal {
namespace {

// All arithmetic is in float and in TensorFlow's order, because weights computed in double would differ in the last
// bits.
float Scale(int64_t in, int64_t out) { return in / static_cast<float>(out); }

SumAxis Empty(int64_t out, int64_t span) {
  SumAxis axis;
  axis.start.resize(out);
  axis.count.resize(out);
  axis.span = span;
  axis.weights.resize(out * span);
  return axis;
}

}  // namespace

LerpAxis MakeLerpAxis(int64_t in, int64_t out) {
  LerpAxis axis;
  axis.lower.resize(out);
  axis.upper.resize(out);
  axis.fraction.resize(out);
  const float scale = Scale(in, out);
  for (int64_t i = 0; i < out; ++i) {
    const float centre = (static_cast<float>(i) + 0.5f) * scale - 0.5f;
    const float floor = std::floor(centre);
    axis.lower[i] = std::max<int64_t>(static_cast<int64_t>(floor), 0);
    axis.upper[i] = std::min<int64_t>(static_cast<int64_t>(std::ceil(centre)), in - 1);
    axis.fraction[i] = centre - floor;
  }
  return axis;
}

SumAxis MakeAreaAxis(int64_t in, int64_t out) {
  const float scale = Scale(in, out);
  // An output pixel covers parts of up to ceil(scale) + 1 input pixels; rounding may add one more.
  SumAxis axis = Empty(out, static_cast<int64_t>(std::ceil(scale)) + 2);
  for (int64_t i = 0; i < out; ++i) {
    const float begin = i * scale, end = (i + 1) * scale;
    const int64_t first = std::floor(begin), last = std::ceil(end);
    axis.start[i] = std::min(first, in - 1);
    for (int64_t p = first; p < last; ++p) {
      float weight = 1;
      if (p < begin) {
        weight = p + 1 > end ? scale : p + 1 - begin;
      } else if (p + 1 > end) {
        weight = end - p;
      }
      // If rounding leads beyond the last input pixel, the weight goes to the last pixel.
      const int64_t k = std::min(p, in - 1) - axis.start[i];
      axis.weights[i * axis.span + k] += weight;
      axis.count[i] = k + 1;
    }
  }
  return axis;
}

SumAxis MakeTriangleAxis(int64_t in, int64_t out) {
  const float inverse_scale = 1.0 / (static_cast<float>(out) / static_cast<float>(in));
  const float width = std::max(inverse_scale, 1.0f), inverse_width = 1.0f / width;
  SumAxis axis = Empty(out, std::min<int64_t>(2 * static_cast<int64_t>(std::ceil(width)) + 1, in));
  for (int64_t i = 0; i < out; ++i) {
    const float centre = (i + 0.5f) * inverse_scale;
    const int64_t first = std::clamp<int64_t>(std::ceil(centre - width - 0.5f), 0, in - 1);
    const int64_t last = std::clamp<int64_t>(std::floor(centre + width - 0.5f), 0, in - 1);
    axis.start[i] = first;
    axis.count[i] = std::min<int64_t>(last + 1 - first, axis.span);
    float* const weights = &axis.weights[i * axis.span];
    float total = 0;
    for (int64_t k = 0; k < axis.count[i]; ++k) {
      const float distance = std::abs((static_cast<float>(first + k) + 0.5f - centre) * inverse_width);
      weights[k] = distance < 1.0f ? 1.0f - distance : 0.0f;
      total += weights[k];
    }
    const float factor = 1.0f / total;
    for (int64_t k = 0; k < axis.count[i]; ++k) weights[k] *= factor;
  }
  return axis;
}

std::vector<int32_t> MakeNearestAxis(int64_t in, int64_t out) {
  std::vector<int32_t> pixels(out);
  const float scale = Scale(in, out);
  for (int64_t i = 0; i < out; ++i) {
    pixels[i] = std::min(static_cast<int64_t>(std::floor((static_cast<float>(i) + 0.5f) * scale)), in - 1);
  }
  return pixels;
}

}  // namespace tandem::image_internal
