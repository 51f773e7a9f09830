#include "estimator/model/hook_states.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "estimator/checkpoint/json_text.h"
#include "estimator/model/extra_keys.h"

namespace tandem {
namespace {

std::string NameOf(const SessionRunHook& hook) {
  return CallUserCode([&] { return hook.name(); }).value_or("SessionRunHook");
}

absl::Status InState(const SessionRunHook& hook, const char* method, const absl::Status& status) {
  return status.ok() ? status : Annotate(status, absl::StrCat(NameOf(hook), "::", method, ": "));
}

// Returns the hook's checkpoint_key; "" if it has none.
absl::StatusOr<std::string> KeyOf(const SessionRunHook& hook) {
  absl::StatusOr<std::string> key = CallUserCode([&] { return hook.checkpoint_key(); });
  TD_RETURN_IF_ERROR(InState(hook, "checkpoint_key", key.status()));
  const absl::string_view own[] = {kBestKey, kDataKey, kStepScalarsKey};
  const bool taken = std::find(std::begin(own), std::end(own), *key) != std::end(own);
  if (!taken && !absl::StrContains(*key, '/') && JsonText(*key).ok()) return key;
  return absl::InvalidArgumentError(absl::StrCat(
      NameOf(hook), "::checkpoint_key: \"", PrintableLine(*key), "\" cannot be a key: ",
      taken ? "checkpoints have something else under it" : "it must be UTF-8 without a '/'", "; choose another one"));
}

absl::Status CheckState(const HookState& state) {
  if (!JsonText(state.text).ok()) {
    return absl::InvalidArgumentError("HookState.text is not UTF-8; put other bytes into a tensor of uint8");
  }
  for (const auto& [name, tensor] : state.tensors) {
    TD_RETURN_IF_ERROR(Annotate(tensor.status(), absl::StrCat("HookState.tensors[\"", PrintableLine(name), "\"]: ")));
    if (!tensor.empty() && tensor.dtype() != DType::kString && JsonText(name).ok()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "HookState.tensors[\"", PrintableLine(name), "\"] ",
        tensor.empty() ? "is empty" : "must have numbers and a name in UTF-8; text is for HookState.text"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckCheckpointKeys(const HookList& hooks) {
  std::map<std::string, const SessionRunHook*> seen;
  for (const auto& hook : hooks) {
    if (hook == nullptr) continue;  // null hooks are reported by BeginHooks
    TD_ASSIGN_OR_RETURN(const std::string key, KeyOf(*hook));
    if (key.empty()) continue;
    const auto [first, is_new] = seen.insert({key, hook.get()});
    if (is_new) continue;
    return absl::InvalidArgumentError(absl::StrCat(NameOf(*hook), "::checkpoint_key: \"", key, "\" is the key of ",
                                                   first->second == hook.get()
                                                       ? "the same hook, which is given twice"
                                                       : absl::StrCat("another hook, ", NameOf(*first->second)),
                                                   "; give each hook a key of its own"));
  }
  return absl::OkStatus();
}

absl::Status SaveHookStates(const HookList& hooks, HookStates* states) {
  for (const auto& hook : hooks) {
    TD_ASSIGN_OR_RETURN(const std::string key, KeyOf(*hook));
    if (key.empty()) continue;
    absl::StatusOr<HookState> state = CallUserCode([&] { return hook->SaveState(); });
    const absl::Status status = state.ok() ? CheckState(*state) : state.status();
    TD_RETURN_IF_ERROR(InState(*hook, "SaveState", status));
    (*states)[key] = *std::move(state);
  }
  return absl::OkStatus();
}

absl::Status RestoreHookStates(const HookList& hooks, const HookStates& states, absl::string_view where) {
  for (const auto& hook : hooks) {
    TD_ASSIGN_OR_RETURN(const std::string key, KeyOf(*hook));
    const auto found = states.find(key);
    if (key.empty() || found == states.end()) continue;
    const absl::Status restored = CallUserCode([&] { return hook->RestoreState(found->second); });
    TD_RETURN_IF_ERROR(
        Annotate(InState(*hook, "RestoreState", restored), where.empty() ? "" : absl::StrCat(where, ": ")));
  }
  return absl::OkStatus();
}

void AddToCheckpoint(const HookStates& states, CheckpointData* data) {
  for (const auto& [key, state] : states) {
    data->extra[key] = state.text;
    for (const auto& [name, tensor] : state.tensors) data->attachments[absl::StrCat(key, "/", name)] = tensor;
  }
}

absl::StatusOr<HookStates> HookStatesOf(const CheckpointData& data) {
  HookStates states;
  for (const auto& [key, text] : data.extra) {
    if (key != kBestKey && key != kDataKey && key != kStepScalarsKey) states[key].text = text;
  }
  for (const auto& [path, tensor] : data.attachments) {
    const size_t slash = path.find('/');
    const auto found = states.find(path.substr(0, slash));
    if (slash == std::string::npos || found == states.end()) {
      return absl::DataLossError(
          absl::StrCat("the attachment \"", PrintableLine(path), "\" belongs to no hook's state in ", kStateName));
    }
    found->second.tensors[path.substr(slash + 1)] = tensor;
  }
  return states;
}

}  // namespace tandem
