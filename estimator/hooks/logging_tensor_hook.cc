#include "estimator/hooks/logging_tensor_hook.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/logging.h"

namespace tandem {
namespace {

constexpr int64_t kShownElements = 6;

std::string ElementString(const HostTensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kFloat32:
      return absl::StrFormat("%.8g", t.data<float>()[i]);
    case DType::kFloat64:
      return absl::StrFormat("%.12g", t.data<double>()[i]);
    case DType::kInt32:
      return absl::StrCat(t.data<int32_t>()[i]);
    case DType::kInt64:
      return absl::StrCat(t.data<int64_t>()[i]);
    case DType::kUInt8:
      return absl::StrCat(static_cast<int>(t.data<uint8_t>()[i]));
    case DType::kBool:
      return t.data<bool>()[i] ? "true" : "false";
    case DType::kBFloat16:  // no values outside of compiled programs have this type
    case DType::kString:    // compiled programs have no values of this type
    case DType::kInvalid:
      break;
  }
  return "?";
}

}  // namespace

std::string ShortString(const HostTensor& tensor) {
  if (tensor.empty()) return "none";
  if (tensor.rank() == 0) return ElementString(tensor, 0);
  std::string text = "[";
  const int64_t shown = std::min(tensor.num_elements(), kShownElements);
  for (int64_t i = 0; i < shown; ++i) absl::StrAppend(&text, i ? " " : "", ElementString(tensor, i));
  absl::StrAppend(&text, shown < tensor.num_elements() ? " ...]" : "]");
  return text;
}

absl::Status LoggingTensorHook::Begin(HookContext& context) {
  if (every_n_iter_ <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("every_n_iter must be positive, got ", every_n_iter_));
  }
  for (const std::string& tensor : tensors_) context.Fetch(tensor);
  iterations_ = 0;
  last_time_ = -1;
  return absl::OkStatus();
}

std::vector<std::string> LoggingTensorHook::BeforeRun(RunContext& context) {
  return due() ? tensors_ : std::vector<std::string>();
}

absl::Status LoggingTensorHook::AfterRun(RunContext& context, const RunValues& values) {
  if (due()) {
    std::string line;
    for (const std::string& tensor : tensors_) {
      auto it = values.tensors.find(tensor);
      absl::StrAppend(&line, tensor, " = ", it == values.tensors.end() ? "none" : ShortString(it->second), ", ");
    }
    absl::StrAppend(&line, "step = ", values.step);
    const double now = clock_();
    if (last_time_ >= 0) absl::StrAppendFormat(&line, " (%.3f sec)", now - last_time_);
    last_time_ = now;
    TD_LOG(INFO) << line;
  }
  ++iterations_;
  return absl::OkStatus();
}

}  // namespace tandem
