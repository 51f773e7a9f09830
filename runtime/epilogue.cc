#include "runtime/epilogue.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/executable_generated.h"

namespace tandem {

bool Epilogue::relu() const { return activation == fb::Activation::Relu; }
bool Epilogue::gelu() const { return activation == fb::Activation::Gelu; }

bool Epilogue::is_forward() const { return !gelu() && !saves && !gradient && sums == fb::Summed::None; }

std::string Epilogue::Text() const {
  std::vector<std::string> parts;
  if (bias) parts.push_back("bias");
  if (residual) parts.push_back("residual");
  if (relu() || gelu()) parts.push_back(relu() ? "relu" : "gelu");
  if (gradient) parts.push_back("gradient");
  if (saves) parts.push_back(relu() ? "mask" : "input");
  if (sums == fb::Summed::Y) parts.push_back("y_sums");
  if (sums == fb::Summed::A) parts.push_back("a_sums");
  if (sums == fb::Summed::B) parts.push_back("b_sums");
  return parts.empty() ? "none" : absl::StrJoin(parts, "+");
}

}  // namespace tandem

namespace flatbuffers {

tandem::fb::Epilogue Pack(const tandem::Epilogue& e) {
  return tandem::fb::Epilogue(e.bias, e.residual, e.activation, e.saves, e.gradient, e.sums);
}

tandem::Epilogue UnPack(const tandem::fb::Epilogue& e) {
  return {e.bias(), e.residual(), e.activation(), e.saves(), e.gradient(), e.sums()};
}

}  // namespace flatbuffers
