#include "frontends/keras/layer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "frontends/keras/layer_impl.h"
#include "frontends/keras/network.h"
#include "graph/graph_builder.h"

namespace tandem::keras {
namespace {

absl::Status NoLayer(SourceLocation loc) {
  return absl::InvalidArgumentError(absl::StrCat("the layer that is called at ", loc.file, ":", loc.line,
                                                 " is empty: a keras::Layer without a class"));
}

}  // namespace

const Shape& KerasTensor::shape() const {
  static const Shape& none = *new Shape;
  return call_ != nullptr ? call_->outputs[index_].shape : none;
}

DType KerasTensor::dtype() const { return call_ != nullptr ? call_->outputs[index_].dtype : DType::kInvalid; }

absl::Status KerasTensor::status() const {
  if (call_ != nullptr || !status_.ok()) return status_;
  return absl::InvalidArgumentError("a keras::KerasTensor was never set; make it with keras::Input or a layer");
}

std::string KerasTensor::ToString() const {
  if (call_ == nullptr) return "an empty KerasTensor";
  return absl::StrCat(call_->layer->class_name(), " \"", call_->layer->name(), "\" at ", call_->loc.file, ":",
                      call_->loc.line);
}

KerasTensors Layer::Outputs(const KerasTensors& xs, SourceLocation loc) const {
  return impl_ != nullptr ? impl_->Call(xs, loc) : KerasTensors(KerasTensor(NoLayer(loc)));
}

KerasTensor Layer::operator()(const KerasTensors& xs, SourceLocation loc) const {
  KerasTensors outputs = Outputs(xs, loc);
  if (outputs.size() == 1) return outputs[0];
  return KerasTensor(
      absl::InvalidArgumentError(absl::StrCat(impl_->ToString(), " at ", loc.file, ":", loc.line, ": has ",
                                              outputs.size(), " results; take them with Outputs()")));
}

KerasTensor Layer::operator()(const KerasTensor& x, SourceLocation loc) const { return (*this)(KerasTensors(x), loc); }

KerasTensor Layer::operator()(std::initializer_list<KerasTensor> xs, SourceLocation loc) const {
  return (*this)(KerasTensors(xs), loc);
}

Tensor Layer::operator()(const std::vector<Tensor>& xs, const CallOptions& options, SourceLocation loc) const {
  if (impl_ == nullptr) return Tensor::Poisoned(NoLayer(loc));
  std::vector<Tensor> outputs = impl_->CallOnGraph(xs, options.training, loc);
  if (outputs.size() == 1) return outputs[0];
  return outputs[0].graph()->FailAt(impl_->class_name(), absl::StrCat("has ", outputs.size(), " results"), loc);
}

Tensor Layer::operator()(const Tensor& x, const CallOptions& options, SourceLocation loc) const {
  return (*this)(std::vector<Tensor>{x}, options, loc);
}

const std::string& Layer::name() const {
  static const std::string& none = *new std::string;
  return impl_ != nullptr ? impl_->name() : none;
}

const std::string& Layer::class_name() const {
  static const std::string& none = *new std::string;
  return impl_ != nullptr ? impl_->class_name() : none;
}

bool Layer::trainable() const { return impl_ != nullptr && impl_->trainable(); }

const Layer& Layer::set_trainable(bool trainable) const {
  if (impl_ != nullptr) impl_->set_trainable(trainable);
  return *this;
}

std::vector<Weight> Layer::weights() const {
  std::vector<Weight> weights;
  if (impl_ == nullptr) return weights;
  for (auto& cell : impl_->ListedCells()) weights.emplace_back(std::move(cell));
  return weights;
}

absl::StatusOr<HostTensors> Layer::GetWeights() const {
  HostTensors values;
  for (const Weight& weight : weights()) {
    TD_ASSIGN_OR_RETURN(HostTensor value, weight.Value());
    values.push_back(value.Clone());
  }
  return values;
}

absl::Status Layer::SetWeights(const HostTensors& values) const {
  const std::vector<Weight> weights = this->weights();
  std::vector<std::string> problems;
  if (weights.size() != values.size()) {
    problems.push_back(absl::StrCat("it has ", weights.size(), " weights and gets ", values.size()));
  }
  for (size_t i = 0; i < weights.size() && i < values.size(); ++i) {
    if (weights[i].dtype() == values[i].dtype() && weights[i].shape() == values[i].shape()) continue;
    problems.push_back(absl::StrCat("number ", i, ", \"", weights[i].name(), "\", is ", Name(weights[i].dtype()), " ",
                                    ShapeString(weights[i].shape()), " and gets ", Name(values[i].dtype()), " ",
                                    ShapeString(values[i].shape())));
  }
  if (!problems.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("SetWeights of ", impl_ != nullptr ? impl_->ToString() : "no layer",
                                                   ": ", absl::StrJoin(problems, "; ")));
  }
  for (size_t i = 0; i < weights.size(); ++i) TD_RETURN_IF_ERROR(weights[i].Assign(values[i].Clone()));
  return absl::OkStatus();
}

}  // namespace tandem::keras
