#include "graph/tensor.h"

#include "absl/strings/str_cat.h"
#include "graph/graph_builder.h"
#include "graph/ir/interfaces.h"
#include "graph/module/graph_module.h"

namespace tandem {

static mlir::Value ValueAt(void* value) { return mlir::Value::getFromOpaquePointer(value); }

std::string WhyAbsent(const Tensor& tensor) {
  if (!tensor.empty() && tensor.graph() == nullptr) return absl::StrCat("is poisoned: ", tensor.status().message());
  return "is an empty Tensor: it was never set, or is a gradient that does not exist";
}

absl::Status Tensor::status() const {
  if (ok()) return absl::OkStatus();
  if (empty()) return absl::InvalidArgumentError(absl::StrCat("the Tensor ", WhyAbsent(*this)));
  if (graph() == nullptr) return origin_->error;
  if (!graph()->status().ok()) return graph()->status();
  return absl::InvalidArgumentError(absl::StrCat("the Tensor ", graph()->WhyAbsent(*this)));
}

DType Tensor::dtype() const {
  return ok() ? td::ToDType(mlir::getElementTypeOrSelf(ValueAt(value_).getType())) : DType::kInvalid;
}

Shape Tensor::shape() const { return ok() ? td::ToShape(ValueAt(value_).getType()) : Shape{}; }

std::string Tensor::name() const {
  if (!ok()) return "";
  std::string name = internal::LocationName(ValueAt(value_).getLoc());
  auto result = mlir::dyn_cast<mlir::OpResult>(ValueAt(value_));
  if (result && result.getResultNumber() > 0) absl::StrAppend(&name, ":", result.getResultNumber());
  return name;
}

std::string Tensor::origin() const { return ok() ? internal::LocationFileLine(ValueAt(value_).getLoc()) : ""; }

}  // namespace tandem
