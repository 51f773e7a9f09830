// Walks a step of td ops, as phase `input` leaves it, and lets a format translate what is there.
#ifndef TANDEM_PASSES_TRANSLATION_WALK_STEP_H_
#define TANDEM_PASSES_TRANSLATION_WALK_STEP_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/dtype.h"
#include "base/host_tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "passes/translation/program_values.h"

namespace tandem::translation {

// What a format makes of a step. A walk asks for each argument and each op once, in the step's order.
class StepTranslation {
 public:
  virtual ~StepTranslation() = default;

  // The format's name in errors, such as "ONNX".
  virtual absl::string_view format() const = 0;
  virtual bool HasType(DType dtype) const = 0;
  // True if TranslateOp takes ops of this name, such as "td.conv2d".
  virtual bool Translates(const std::string& op) const = 0;

  virtual void SetInput(mlir::Value argument, const std::string& name) = 0;
  virtual void SetVariable(mlir::Value argument, const std::string& name, const HostTensor& value) = 0;
  // A step scalar whose value is known.
  virtual void SetScalar(mlir::Value argument, const std::string& name, const HostTensor& value) = 0;
  virtual absl::Status TranslateOp(mlir::Operation* op) = 0;
};

struct Output {
  std::string name;
  mlir::Value value;
};

// Returns the outputs that `values` names, in its order. Changes `step`: composite ops that the format lacks are
// replaced by simpler ones (td::DecomposeOp).
//
// Errors: Unimplemented, with the op's name and the user's file and line, for an op that has no form in the format or
// combines rows of the batch, for an element type that the format lacks, and for a step scalar without a value;
// FailedPrecondition for a step without inputs; DataLoss for an output that the step lacks or a variable of another
// type or shape; errors of `translation` and of `values`.
absl::StatusOr<std::vector<Output>> WalkStep(mlir::func::FuncOp step, const ProgramValues& values,
                                             StepTranslation& translation);

}  // namespace tandem::translation

#endif  // TANDEM_PASSES_TRANSLATION_WALK_STEP_H_
