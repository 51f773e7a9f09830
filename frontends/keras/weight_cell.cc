#include "frontends/keras/weight_cell.h"

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "frontends/keras/layer.h"
#include "frontends/keras/layer_impl.h"

namespace tandem::keras {
namespace {

absl::StatusOr<HostTensor> FirstValue(const WeightCell& cell) {
  if (cell.first_value != nullptr) {
    return CallUserCode([&] { return cell.first_value(cell.first_value_key, cell.dtype, cell.shape, cell.seed); });
  }
  HostTensor value(cell.dtype, cell.shape);
  TD_RETURN_IF_ERROR(FillInitialValue(cell.initializer, cell.first_value_key, cell.seed, cell.dtype,
                                      NumElements(cell.shape), value.raw()));
  return value;
}

}  // namespace

std::string WeightCell::FullName() const { return absl::StrCat(layer->name(), "/", name); }

absl::StatusOr<HostTensor> WeightCell::Value() const {
  if (value.has_value()) return *value;
  absl::StatusOr<HostTensor> result = holder != nullptr ? holder->Read(*this) : FirstValue(*this);
  if (!result.ok()) return Annotate(result.status(), absl::StrCat("weight \"", FullName(), "\": "));
  return result;
}

absl::Status WeightCell::Assign(const HostTensor& tensor) {
  if (tensor.dtype() != dtype || tensor.shape() != shape) {
    return absl::InvalidArgumentError(absl::StrCat("weight \"", FullName(), "\" is ", Name(dtype), " ",
                                                   ShapeString(shape), " and cannot become ", Name(tensor.dtype()), " ",
                                                   ShapeString(tensor.shape())));
  }
  value = tensor;
  holder = nullptr;
  ++writes;
  return absl::OkStatus();
}

std::string Weight::name() const { return cell_->FullName(); }
const Shape& Weight::shape() const { return cell_->shape; }
DType Weight::dtype() const { return cell_->dtype; }
bool Weight::trainable() const { return cell_->trainable && cell_->layer->trainable(); }
absl::StatusOr<HostTensor> Weight::Value() const { return cell_->Value(); }
absl::Status Weight::Assign(const HostTensor& value) const { return cell_->Assign(value); }

}  // namespace tandem::keras
