// HookState: the state of a hook that a checkpoint keeps.
#ifndef TANDEM_ESTIMATOR_LOOP_HOOK_STATE_H_
#define TANDEM_ESTIMATOR_LOOP_HOOK_STATE_H_

#include <string>

#include "tandem/base/api.h"
#include "tandem/base/named_tensors.h"

namespace TANDEM_API tandem {

// What SessionRunHook::SaveState returns.
struct HookState {
  std::string text;      // any text in UTF-8
  NamedTensors tensors;  // tensors of number types, such as the best weights so far; must not be modified afterwards
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_HOOK_STATE_H_
