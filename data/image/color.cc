#include "data/image/color.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/image/image_argument.h"

namespace tandem {
namespace {

using image_internal::Call;

float FromPixel(float v) { return v; }
float FromPixel(uint8_t v) { return v * (1.0f / 255.0f); }
void ToPixel(float v, float* out) { *out = v; }
void ToPixel(float v, uint8_t* out) { *out = v > 0 ? std::min(v * 255.5f, 255.0f) : 0; }

// Sets each value of `result` to f(value, channel), where `value` is scaled to [0, 1] if pixels are bytes.
template <typename T, typename F>
void MapValues(const HostTensor& image, HostTensor* result, F f) {
  const T* in = image.data<T>();
  T* out = result->data<T>();
  const int64_t channels = image.shape()[2];
  for (int64_t i = 0; i < image.num_elements(); i += channels) {
    for (int64_t c = 0; c < channels; ++c) ToPixel(f(FromPixel(in[i + c]), c), &out[i + c]);
  }
}

struct Hsv {
  float h, s, v;
};

Hsv ToHsv(float r, float g, float b) {
  const float max = std::max({r, g, b}), range = max - std::min({r, g, b});
  Hsv hsv = {0, max > 0 ? range / max : 0, max};
  if (range <= 0) return hsv;
  const float norm = 1.0f / (6.0f * range);
  if (r == max) {
    hsv.h = norm * (g - b);
  } else if (g == max) {
    hsv.h = norm * (b - r) + 2.0f / 6.0f;
  } else {
    hsv.h = norm * (r - g) + 4.0f / 6.0f;
  }
  if (hsv.h < 0) hsv.h += 1.0f;
  return hsv;
}

// Converts to RGB as in Smith, "Color gamut transform pairs", SIGGRAPH 1978.
void ToRgb(const Hsv& hsv, float rgb[3]) {
  const float chroma = hsv.s * hsv.v, low = hsv.v - chroma, sixths = hsv.h * 6.0f;
  const float middle = chroma * (1.0f - std::abs(std::fmod(sixths, 2.0f) - 1.0f));
  // The hue circle has six sixths. In each, one colour (0 red, 1 green, 2 blue) has the full chroma and another the
  // middle part.
  constexpr int kFull[] = {0, 1, 1, 2, 2, 0}, kMiddle[] = {1, 0, 2, 1, 0, 2};
  const int sixth = std::isfinite(sixths) ? std::clamp(static_cast<int>(sixths), 0, 5) : 0;
  rgb[0] = rgb[1] = rgb[2] = low;
  rgb[kFull[sixth]] += chroma;
  rgb[kMiddle[sixth]] += middle;
}

// Converts each RGB pixel to hue, saturation and value, lets f(&hsv) change them, and converts back.
template <typename T, typename F>
void MapHsv(const HostTensor& image, HostTensor* result, F f) {
  const T* in = image.data<T>();
  T* out = result->data<T>();
  for (int64_t i = 0; i < image.num_elements(); i += 3) {
    Hsv hsv = ToHsv(FromPixel(in[i]), FromPixel(in[i + 1]), FromPixel(in[i + 2]));
    f(&hsv);
    float rgb[3];
    ToRgb(hsv, rgb);
    for (int c = 0; c < 3; ++c) ToPixel(rgb[c], &out[i + c]);
  }
}

// Returns the mean of each channel; the sums are accumulated in double.
template <typename T>
std::vector<float> Means(const HostTensor& image) {
  const int64_t channels = image.shape()[2];
  std::vector<double> sums(channels);
  const T* in = image.data<T>();
  for (int64_t i = 0; i < image.num_elements(); i += channels) {
    for (int64_t c = 0; c < channels; ++c) sums[c] += FromPixel(in[i + c]);
  }
  std::vector<float> means(channels);
  for (int64_t c = 0; c < channels; ++c) means[c] = sums[c] / (image.num_elements() / channels);
  return means;
}

absl::Status CheckFinite(const Call& call, absl::string_view name, float value, float low, float high) {
  if (std::isfinite(value) && value >= low && value <= high) return absl::OkStatus();
  return call.Wrong(name, " is ", value, "; it must be finite", low > -INFINITY ? absl::StrCat(" and >= ", low) : "",
                    high < INFINITY ? absl::StrCat(" and <= ", high) : "");
}

// Returns a new picture with the type and shape of `image`. `fill` writes its values, and is called with a value of the
// element type, as a tag, and the result.
template <typename F>
absl::StatusOr<HostTensor> Filled(const Call& call, const HostTensor& image, F fill) {
  TD_ASSIGN_OR_RETURN(HostTensor result, NewImage(call, image.dtype(), image.shape()));
  TD_RETURN_IF_ERROR(CatchResourceErrors(call.function, [&] {
    if (image.dtype() == DType::kUInt8) {
      fill(uint8_t{}, &result);
    } else {
      fill(float{}, &result);
    }
    return absl::OkStatus();
  }));
  return result;
}

}  // namespace

absl::StatusOr<HostTensor> AdjustBrightness(const HostTensor& image, float delta, SourceLocation location) {
  const Call call{"AdjustBrightness", location};
  TD_RETURN_IF_ERROR(CheckPixels(call, image));
  TD_RETURN_IF_ERROR(CheckFinite(call, "delta", delta, -INFINITY, INFINITY));
  return Filled(call, image, [&](auto tag, HostTensor* result) {
    MapValues<decltype(tag)>(image, result, [&](float v, int64_t) { return v + delta; });
  });
}

absl::StatusOr<HostTensor> AdjustContrast(const HostTensor& image, float factor, SourceLocation location) {
  const Call call{"AdjustContrast", location};
  TD_RETURN_IF_ERROR(CheckPixels(call, image));
  TD_RETURN_IF_ERROR(CheckFinite(call, "factor", factor, -INFINITY, INFINITY));
  return Filled(call, image, [&](auto tag, HostTensor* result) {
    const std::vector<float> means = Means<decltype(tag)>(image);
    MapValues<decltype(tag)>(image, result, [&](float v, int64_t c) { return (v - means[c]) * factor + means[c]; });
  });
}

absl::StatusOr<HostTensor> AdjustSaturation(const HostTensor& image, float factor, SourceLocation location) {
  const Call call{"AdjustSaturation", location};
  TD_RETURN_IF_ERROR(CheckRgb(call, image));
  TD_RETURN_IF_ERROR(CheckFinite(call, "factor", factor, 0, INFINITY));
  return Filled(call, image, [&](auto tag, HostTensor* result) {
    MapHsv<decltype(tag)>(image, result, [&](Hsv* hsv) { hsv->s = std::clamp(hsv->s * factor, 0.0f, 1.0f); });
  });
}

absl::StatusOr<HostTensor> AdjustHue(const HostTensor& image, float delta, SourceLocation location) {
  const Call call{"AdjustHue", location};
  TD_RETURN_IF_ERROR(CheckRgb(call, image));
  TD_RETURN_IF_ERROR(CheckFinite(call, "delta", delta, -1, 1));
  return Filled(call, image, [&](auto tag, HostTensor* result) {
    MapHsv<decltype(tag)>(image, result, [&](Hsv* hsv) { hsv->h += delta - std::floor(hsv->h + delta); });
  });
}

}  // namespace tandem
