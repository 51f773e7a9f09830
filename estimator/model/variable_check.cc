#include "estimator/model/variable_check.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"

namespace tandem {
namespace {

std::string TypeString(DType dtype, const Shape& shape) { return absl::StrCat(Name(dtype), ShapeString(shape)); }

const ModeProgram* DeclaredAs(const VariableInfo& info, const ModeProgram& program,
                              const std::vector<const ModeProgram*>& others) {
  for (const ModeProgram* other : others) {
    if (other == nullptr || other == &program) continue;
    for (const VariableSpec& v : other->variables()) {
      if (v.name == info.name && v.dtype == info.dtype && v.shape == info.shape) return other;
    }
  }
  return nullptr;
}

// Returns, for example, "component "x" of the input is float32[b,4] here and float32[b,5] there".
std::vector<std::string> DifferentComponents(const ModeProgram& here, const ModeProgram& there) {
  std::vector<std::string> differences;
  for (const ComponentSpec& a : here.components()) {
    for (const ComponentSpec& b : there.components()) {
      if (a.name != b.name || (a.dtype == b.dtype && a.shape == b.shape)) continue;
      differences.push_back(absl::StrCat("component \"", a.name, "\" of the input is ", TypeString(a.dtype, a.shape),
                                         " here and ", TypeString(b.dtype, b.shape), " there"));
    }
  }
  return differences;
}

// Returns the error for `v` of `program`, which has another type or shape in `other` or, if that is null, in memory.
absl::Status Differs(const VariableSpec& v, const ModeProgram& program, DType dtype, const Shape& shape,
                     const ModeProgram* other) {
  const std::vector<std::string> inputs =
      other != nullptr ? DifferentComponents(program, *other) : std::vector<std::string>();
  return WithExitCode(
      absl::InvalidArgumentError(absl::StrCat(
          "model_fn, mode ", ModeName(program.mode()), ": variable \"", v.name, "\" at ", program.OriginOf(v.name),
          " is ", TypeString(v.dtype, v.shape), ", and ", TypeString(dtype, shape),
          other != nullptr ? absl::StrCat(" in mode ", ModeName(other->mode())) : " in memory",
          inputs.empty()
              ? "; build the same layers in every mode"
              : absl::StrCat(": ", absl::StrJoin(inputs, ", "), "; give every input_fn examples of the same shape"))),
      kExitUsage);
}

}  // namespace

absl::Status CheckVariables(const ModeProgram& program, const VariableStore& store,
                            const std::vector<const ModeProgram*>& others) {
  for (const VariableSpec& v : program.variables()) {
    const absl::StatusOr<VariableInfo> info = store.Info(v.name);
    if (!info.ok() || (info->dtype == v.dtype && info->shape == v.shape)) continue;
    return Differs(v, program, info->dtype, info->shape, DeclaredAs(*info, program, others));
  }
  return absl::OkStatus();
}

absl::Status CheckSameVariables(const ModeProgram& program, const ModeProgram& other) {
  for (const VariableSpec& v : program.variables()) {
    for (const VariableSpec& w : other.variables()) {
      if (v.name != w.name || (v.dtype == w.dtype && v.shape == w.shape)) continue;
      return Differs(v, program, w.dtype, w.shape, &other);
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
