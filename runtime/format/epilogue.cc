#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "runtime/format/index.h"

namespace tandem::format {

std::string Epilogue::Text() const {
  std::vector<std::string> parts;
  if (bias) parts.push_back("bias");
  if (residual) parts.push_back("residual");
  if (relu() || gelu()) parts.push_back(relu() ? "relu" : "gelu");
  if (gradient) parts.push_back("gradient");
  if (saves) parts.push_back(relu() ? "mask" : "input");
  if (sums == Summed::kY) parts.push_back("y_sums");
  if (sums == Summed::kA) parts.push_back("a_sums");
  if (sums == Summed::kB) parts.push_back("b_sums");
  return parts.empty() ? "none" : absl::StrJoin(parts, "+");
}

}  // namespace tandem::format
