// Describes and computes the first value of a variable.
#ifndef TANDEM_BASE_INITIALIZER_H_
#define TANDEM_BASE_INITIALIZER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/dtype.h"

namespace TANDEM_API tandem {

// The values of the random kinds depend on the variable's name and the run's seed (FillInitialValue).
struct Initializer {
  // Zeros, one value, uniform, normal cut at two deviations, and normal.
  enum class Kind : int8_t { kZeros, kConstant, kUniform, kTruncatedNormal, kNormal };
  static constexpr int kKinds = 5;
  Kind kind = Kind::kZeros;
  double a = 0;  // kConstant: value; kUniform: low;  kTruncatedNormal, kNormal: mean
  // kUniform: high; kTruncatedNormal: standard deviation of the distribution, which is cut at two deviations;
  // kNormal: standard deviation
  double b = 0;
};

// Writes `count` elements of `dtype` to `out`. They depend only on (initializer, name, seed, count). Element i uses
// word i % 4 of Philox4x32 with counter (i / 4 as 64 bits, Fingerprint64(name) as 64 bits), low half first, and key
// `seed`:
//   kUniform          a + (b - a) * UniformFloat(word), in float32
//   kTruncatedNormal  a + b * Q(P + (1 - 2 P) * (word + 0.5) / 2^32) in float64, with Q the normal quantile function
//                     (Wichura, "Algorithm AS 241", 1988) and P = Phi(-2): a normal variable cut at two deviations
//   kNormal           a + b * Q((word + 0.5) / 2^32) in float64
// InvalidArgument, without the variable's name, for a random kind with a type that is not floating-point, an unknown
// kind, or a type that no variable can have.
absl::Status FillInitialValue(const Initializer& initializer, absl::string_view name, uint64_t seed, DType dtype,
                              int64_t count, void* out);

}  // namespace tandem

#endif  // TANDEM_BASE_INITIALIZER_H_
