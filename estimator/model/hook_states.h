// Puts the states of a training's hooks into checkpoints and restores them.
#ifndef TANDEM_ESTIMATOR_MODEL_HOOK_STATES_H_
#define TANDEM_ESTIMATOR_MODEL_HOOK_STATES_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/loop/hook_state.h"
#include "estimator/loop/session_run_hook.h"

namespace tandem {

// The hooks' states, by SessionRunHook::checkpoint_key.
using HookStates = std::map<std::string, HookState>;

// InvalidArgument if two hooks have the same key, or a key is not allowed.
absl::Status CheckCheckpointKeys(const HookList& hooks);

// Calls SaveState of all hooks that have a key, and replaces their states; states under other keys are kept. Errors
// name the hook: its own errors, and InvalidArgument for a state that no checkpoint can hold.
absl::Status SaveHookStates(const HookList& hooks, HookStates* states);
// Calls RestoreState of the hooks that have a state in `states`. Errors name the hook and `where`, the states' origin.
absl::Status RestoreHookStates(const HookList& hooks, const HookStates& states, absl::string_view where);

// Adds the states to CheckpointData::extra, under the key, and to its attachments, as KEY/NAME.
void AddToCheckpoint(const HookStates& states, CheckpointData* data);
// Returns the states in a checkpoint. DataLoss for an attachment that belongs to no key.
absl::StatusOr<HookStates> HookStatesOf(const CheckpointData& data);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_HOOK_STATES_H_
