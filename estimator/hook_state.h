// HookState: what a checkpoint keeps of a hook.
#ifndef TANDEM_ESTIMATOR_HOOK_STATE_H_
#define TANDEM_ESTIMATOR_HOOK_STATE_H_

#include <string>

#include "base/named_tensors.h"

namespace tandem {

struct HookState {
  std::string text;      // UTF-8
  NamedTensors tensors;  // of numbers, such as the best weights so far; they must not be written any more
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOK_STATE_H_
