// The keys under which a training stores texts in CheckpointData::extra.
#ifndef TANDEM_ESTIMATOR_MODEL_EXTRA_KEYS_H_
#define TANDEM_ESTIMATOR_MODEL_EXTRA_KEYS_H_

#include <string>

#include "estimator/checkpoint/checkpoint.h"

namespace tandem {

inline constexpr char kBestKey[] = "best";
inline constexpr char kDataKey[] = "data";  // key of the input's Dataset::Fingerprint
inline constexpr char kStepScalarsKey[] = "step_scalars";
// All other keys in CheckpointData::extra are those of hooks (hook_states.h).

// Returns the text under a key; "" if there is none.
inline std::string Extra(const CheckpointData& data, const char* key) {
  const auto it = data.extra.find(key);
  return it == data.extra.end() ? "" : it->second;
}

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_EXTRA_KEYS_H_
