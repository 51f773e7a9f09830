// Penalties on weights, as Keras' regularizers: l1 * sum|w| + l2 * sum w^2.
#ifndef TANDEM_FRONTENDS_REGULARIZERS_H_
#define TANDEM_FRONTENDS_REGULARIZERS_H_

#include <string>

#include "absl/status/status.h"
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/frontends/part_config.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {

// The factors of the penalty. They can also be set by Keras' name: "l1" and "l2" (the factor is 0.01), "l1_l2" (0.01
// each), or a class, "L1", "L2" or "L1L2" (0). Another name is an error of the layer that uses it.
struct Regularizer {
  Regularizer() = default;
  Regularizer(double l1_factor, double l2_factor) : l1(l1_factor), l2(l2_factor) {}
  Regularizer(const char* name);         // NOLINT: implicit
  Regularizer(const std::string& name);  // NOLINT: implicit

  double l1 = 0;
  double l2 = 0;
  // True if there is no penalty.
  bool empty() const { return l1 == 0 && l2 == 0 && problem_.empty(); }
  // Returns Keras' class L1, L2 or L1L2 with its factors. named() is false if there is no penalty.
  PartConfig config() const;
  // InvalidArgument for an unknown name, and for factors that are negative or not finite.
  absl::Status status() const;

 private:
  std::string problem_;
};

// Penalties with these factors.
inline Regularizer L1(double factor) { return {factor, 0}; }
inline Regularizer L2(double factor) { return {0, factor}; }
inline Regularizer L1L2(double l1, double l2) { return {l1, l2}; }

// Adds the penalty on `variable` to its graph's regularisation losses (losses::RegularizationLoss adds them up).
// Factors must be finite and not negative.
void AddRegularization(const Tensor& variable, const Regularizer& regularizer,
                       SourceLocation loc = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_REGULARIZERS_H_
