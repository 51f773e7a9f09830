// The states of a training's hooks, on their way into checkpoints and back.
#ifndef TANDEM_ESTIMATOR_HOOK_STATES_H_
#define TANDEM_ESTIMATOR_HOOK_STATES_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/hook_state.h"
#include "estimator/session_run_hook.h"

namespace tandem {

// By SessionRunHook::checkpoint_key.
using HookStates = std::map<std::string, HookState>;

// InvalidArgument for a key that two hooks have, or that cannot be one.
absl::Status CheckCheckpointKeys(const HookList& hooks);

// SaveState of all hooks that have a key; states of other keys stay. Errors name the hook: its own, and InvalidArgument
// for a state that no checkpoint can hold.
absl::Status SaveHookStates(const HookList& hooks, HookStates* states);
// RestoreState of the hooks that have a state there. Errors name the hook and `where`, which the states are from.
absl::Status RestoreHookStates(const HookList& hooks, const HookStates& states, absl::string_view where);

// Into CheckpointData::extra, under the key, and attachments, as KEY/NAME.
void AddToCheckpoint(const HookStates& states, CheckpointData* data);
// DataLoss for an attachment of no key.
absl::StatusOr<HookStates> HookStatesOf(const CheckpointData& data);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOK_STATES_H_
