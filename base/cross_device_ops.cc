#include "base/cross_device_ops.h"

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/built_in_cross_device_ops.h"
#include "base/status_macros.h"
#include "base/user_code.h"

namespace tandem {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, CrossDeviceOpsFactory, std::less<>> factories = BuiltInCrossDeviceOps();
};

Registry& TheRegistry() {
  static auto* registry = new Registry;
  return *registry;
}

bool IsName(absl::string_view name) {
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') return false;
  }
  return !name.empty();
}

absl::StatusOr<CrossDeviceOpsFactory> FindFactory(absl::string_view name) {
  {
    Registry& registry = TheRegistry();
    std::lock_guard<std::mutex> lock(registry.mutex);
    if (const auto found = registry.factories.find(name); found != registry.factories.end()) return found->second;
  }
  return absl::InvalidArgumentError(absl::StrCat("no cross-device ops are registered under \"", name,
                                                 "\"; registered: ", absl::StrJoin(RegisteredCrossDeviceOps(), ", "),
                                                 ". Call RegisterCrossDeviceOps before"));
}

}  // namespace

absl::Status CrossDeviceOps::BatchAllReduce(absl::Span<const PerReplica> tensors, ParallelFor parallel_for) {
  for (const PerReplica& tensor : tensors) TD_RETURN_IF_ERROR(AllReduce(tensor, parallel_for));
  return absl::OkStatus();
}

absl::Status CrossDeviceOps::Broadcast(int root, absl::Span<const PerReplica> tensors, ParallelFor parallel_for) {
  for (const PerReplica& tensor : tensors) {
    const auto bytes = static_cast<size_t>(tensor.elements) * SizeOf(tensor.dtype);
    parallel_for(static_cast<int64_t>(tensor.values.size()), [&](int64_t r) {
      if (r != root) std::memcpy(tensor.values[r], tensor.values[root], bytes);
    });
  }
  return absl::OkStatus();
}

absl::Status RegisterCrossDeviceOps(absl::string_view name, CrossDeviceOpsFactory factory) {
  if (!IsName(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("RegisterCrossDeviceOps: \"", name, "\" cannot be a name: use letters, digits, '_', '-' and '.'"));
  }
  if (factory == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("RegisterCrossDeviceOps: no function that makes \"", name, "\""));
  }
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  if (!registry.factories.emplace(std::string(name), std::move(factory)).second) {
    return absl::AlreadyExistsError(
        absl::StrCat("RegisterCrossDeviceOps: there are cross-device ops named \"", name, "\" already"));
  }
  return absl::OkStatus();
}

std::vector<std::string> RegisteredCrossDeviceOps() {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  std::vector<std::string> names;
  for (const auto& entry : registry.factories) names.push_back(entry.first);
  return names;
}

absl::Status CheckCrossDeviceOps(absl::string_view name) { return FindFactory(name).status(); }

absl::StatusOr<std::unique_ptr<CrossDeviceOps>> NewCrossDeviceOps(absl::string_view name) {
  TD_ASSIGN_OR_RETURN(const CrossDeviceOpsFactory factory, FindFactory(name));
  absl::StatusOr<std::unique_ptr<CrossDeviceOps>> ops = CallUserCode(factory);
  if (!ops.ok()) return Annotate(ops.status(), absl::StrCat("making cross-device ops \"", name, "\": "));
  if (*ops == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the function that makes cross-device ops \"", name, "\" returned null"));
  }
  return ops;
}

}  // namespace tandem
