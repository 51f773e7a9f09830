#include "frontends/keras/layer_impl.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "frontends/keras/layer.h"
#include "frontends/keras/network.h"
#include "nlohmann/json.hpp"

namespace tandem::keras {
namespace {

// State of this process, as Keras has it: counters for default names, and the seed of initial values.
struct KerasSession {
  std::map<std::string, int> next;        // for each default name, the next number
  std::map<std::string, int> name_count;  // for each name, the number of layers that have or had it
  uint64_t seed = 0;
};

KerasSession& TheSession() {
  static KerasSession& session = *new KerasSession;
  return session;
}

std::string Place(SourceLocation loc) { return absl::StrCat(loc.file, ":", loc.line); }

// A graph that is used only to infer shapes. It is replaced by a new graph after an error and after many uses, because
// it grows with each.
class ScratchGraph {
 public:
  GraphBuilder* Get() {
    constexpr int kUses = 100;
    if (graph_ == nullptr || !graph_->status().ok() || ++uses_ > kUses) {
      graph_ = std::make_unique<GraphBuilder>("shapes");
      uses_ = 0;
    }
    return graph_.get();
  }
  std::string NextName() { return absl::StrCat("v", next_++); }

 private:
  std::unique_ptr<GraphBuilder> graph_;
  int uses_ = 0;
  int64_t next_ = 0;
};

ScratchGraph& TheScratchGraph() {
  static thread_local ScratchGraph graph;
  return graph;
}

std::string SpecsText(const std::vector<TensorSpec>& specs) {
  return absl::StrJoin(specs, ", ",
                       [](std::string* out, const TensorSpec& s) { absl::StrAppend(out, ShapeString(s.shape)); });
}

}  // namespace

std::string SnakeCase(absl::string_view class_name) {
  std::string snake;
  const auto is = [&](size_t i, int (*of)(int)) {
    return i < class_name.size() && of(static_cast<unsigned char>(class_name[i])) != 0;
  };
  for (size_t i = 0; i < class_name.size(); ++i) {
    // A new word begins at a capital that follows a small letter or precedes a small letter or a digit.
    const bool word =
        i > 0 && is(i, std::isupper) && (is(i - 1, std::islower) || is(i + 1, std::islower) || is(i + 1, std::isdigit));
    if (word) snake += '_';
    snake += static_cast<char>(std::tolower(static_cast<unsigned char>(class_name[i])));
  }
  return snake;
}

std::string NextName(const std::string& base, int first) {
  const int number = TheSession().next[base]++ + first;
  return number == 0 ? base : absl::StrCat(base, "_", number);
}

void ClearSession() {
  TheSession().next.clear();
  TheSession().name_count.clear();
}

namespace utils {

void SetRandomSeed(uint64_t seed) { TheSession().seed = seed; }

}  // namespace utils

// While a layer is computed, the functions of frontends/layers.h get their weights from the layer through this object.
class OwnedCall : public tandem::layers::WeightOwner {
 public:
  OwnedCall(LayerImpl* layer, const GraphCall& call) : layer_(layer), call_(call) {}

  std::string NestedName(absl::string_view base) override {
    if (!layer_->has_parts()) return "";
    const int number = parts_[std::string(base)]++;
    return number == 0 ? std::string(base) : absl::StrCat(base, "_", number);
  }

  Tensor Weight(GraphBuilder* graph, const std::string& nested, tandem::layers::WeightRequest request) override {
    const std::string name = nested.empty() ? request.name : absl::StrCat(nested, "/", request.name);
    absl::StatusOr<std::shared_ptr<WeightCell>> cell = layer_->CellOf(name, request);
    if (!cell.ok()) return graph->FailAt(layer_->class_name(), cell.status().message(), request.loc);
    if (Tensor known = graph->VariableOf(*cell); known.ok()) return known;
    VariableSpec spec;
    spec.name = call_.scratch ? TheScratchGraph().NextName() : absl::StrCat(call_.prefix, layer_->name(), "/", name);
    spec.dtype = request.dtype;
    spec.shape = std::move(request.shape);
    spec.trainable = request.trainable && layer_->trainable();
    spec.owner = *cell;
    spec.first_value = [cell = *cell](absl::string_view, DType, const Shape&, uint64_t) { return cell->Value(); };
    Tensor variable = graph->Variable(std::move(spec), request.loc);
    AddRegularization(variable, request.regularizer, request.loc);
    return variable;
  }

 private:
  LayerImpl* const layer_;
  const GraphCall& call_;
  std::map<std::string, int> parts_;
};

Tensor CallContext::Weight(tandem::layers::WeightRequest request) const {
  return owner_->Weight(graph(), "", std::move(request));
}

LayerImpl::LayerImpl(LayerNaming naming, SourceLocation loc)
    : naming_(std::move(naming)), location_(loc), has_own_name_(!naming_.name.empty()), named_(has_own_name_) {
  if (!has_own_name_ && naming_.class_name != "InputLayer") {
    // Keras names a model of class Functional "model", as if its class were Model.
    naming_.name = NextName(SnakeCase(naming_.class_name == "Functional" ? "Model" : naming_.class_name));
  }
  seed_ = TheSession().seed;
  const int before = TheSession().name_count[naming_.name]++;
  if (before > 0) first_value_suffix_ = absl::StrCat("#", before);
}

LayerImpl::~LayerImpl() = default;

std::string LayerImpl::ToString() const {
  return absl::StrCat(class_name(), " \"", name(), "\" (", Place(location_), ")");
}

void LayerImpl::set_trainable(bool trainable) { naming_.trainable = trainable; }

std::vector<std::shared_ptr<WeightCell>> LayerImpl::OrderedCells() const {
  std::vector<std::shared_ptr<WeightCell>> ordered, others;
  for (const auto& cell : cells()) {
    (cell->trainable && cell->layer->trainable() ? ordered : others).push_back(cell);
  }
  ordered.insert(ordered.end(), others.begin(), others.end());
  return ordered;
}

absl::StatusOr<nlohmann::ordered_json> LayerImpl::Config() const { return nlohmann::ordered_json::object(); }

absl::StatusOr<std::shared_ptr<WeightCell>> LayerImpl::CellOf(const std::string& name,
                                                              const tandem::layers::WeightRequest& request) {
  for (const auto& cell : cells_) {
    if (cell->name != name) continue;
    if (cell->dtype == request.dtype && cell->shape == request.shape) return cell;
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", this->name(), "\" was built for ", built_from_, " at ", Place(built_at_), ", where its weight \"", name,
        "\" became ", ShapeString(cell->shape), ", and this input needs ", ShapeString(request.shape)));
  }
  auto cell = std::make_shared<WeightCell>();
  cell->layer = this;
  cell->name = name;
  cell->first_value_key = absl::StrCat(this->name(), "/", name, first_value_suffix_);
  cell->seed = seed_;
  cell->dtype = request.dtype;
  cell->shape = request.shape;
  cell->trainable = request.trainable;
  cell->initializer = request.initializer(request.shape);
  cell->first_value = request.initializer.first_value();
  cells_.push_back(cell);
  return cell;
}

absl::Status LayerImpl::CheckInputs(size_t count, SourceLocation loc) const {
  const size_t low = static_cast<size_t>(min_inputs()), high = static_cast<size_t>(max_inputs());
  if (count >= low && count <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(ToString(), " at ", Place(loc), ": takes ", low,
                                                 high == low         ? ""
                                                 : high > low + 1000 ? " or more"
                                                                     : absl::StrCat(" to ", high),
                                                 high == 1 ? " input" : " inputs", ", got ", count));
}

absl::StatusOr<std::vector<Tensor>> LayerImpl::CallIn(const GraphCall& call, const std::vector<Tensor>& inputs) {
  TD_RETURN_IF_ERROR(CheckInputs(inputs.size(), call.loc));
  GraphBuilder* graph = call.graph;
  OwnedCall owner(this, call);
  std::vector<Tensor> outputs;
  {
    const NameScope scope(graph, graph->UniqueName(name()));
    const tandem::layers::WeightOwnerScope owner_scope(graph, &owner);
    CallContext context(call, inputs, trainable(), &owner);
    const absl::Status thrown = CallUserCode([&] { outputs = Compute(context); });
    if (!thrown.ok()) {
      return Annotate(thrown, absl::StrCat(ToString(), " at ", Place(call.loc), ": its function "));
    }
  }
  if (!graph->status().ok()) return graph->status();
  for (const Tensor& output : outputs) {
    if (output.ok() && output.graph() == graph) continue;
    return absl::InvalidArgumentError(absl::StrCat(ToString(), " at ", Place(call.loc), ": its result ",
                                                   output.ok() ? "is of another graph" : WhyAbsent(output)));
  }
  return outputs;
}

absl::StatusOr<std::vector<TensorSpec>> LayerImpl::Infer(const std::vector<TensorSpec>& inputs,
                                                         const std::vector<size_t>& same_as, SourceLocation loc) {
  GraphBuilder* graph = TheScratchGraph().Get();
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensors.push_back(same_as[i] < i
                          ? tensors[same_as[i]]
                          : graph->Input(TheScratchGraph().NextName(), inputs[i].dtype, inputs[i].shape, loc));
  }
  TD_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                      CallIn({.graph = graph, .loc = loc, .scratch = true}, tensors));
  std::vector<TensorSpec> specs;
  for (const Tensor& output : outputs) specs.push_back({output.dtype(), output.shape()});
  return specs;
}

KerasTensors LayerImpl::Call(const KerasTensors& inputs, SourceLocation loc) {
  std::vector<TensorSpec> specs;
  std::vector<std::string> names;
  std::vector<size_t> same_as;
  for (const KerasTensor& input : inputs) {
    same_as.push_back(std::find(inputs.begin(), inputs.end(), input) - inputs.begin());
    if (absl::Status status = input.status(); !status.ok()) return KerasTensor(std::move(status));
    specs.push_back({input.dtype(), input.shape()});
    names.push_back(input.ToString());
  }
  if (absl::Status status = CheckInputs(specs.size(), loc); !status.ok()) return KerasTensor(std::move(status));
  named_ = true;
  const bool first = built_inputs_.empty();
  if (first) {
    built_at_ = loc;
    built_from_ = SpecsText(specs);
  }
  absl::StatusOr<std::vector<TensorSpec>> outputs = Infer(specs, same_as, loc);
  if (!outputs.ok()) {
    return KerasTensor(Annotate(outputs.status(), "", absl::StrCat(" (called on ", absl::StrJoin(names, ", "), ")")));
  }
  if (first) built_inputs_ = specs;
  auto call = std::make_shared<LayerCall>();
  call->layer = shared_from_this();
  call->inputs = inputs;
  call->outputs = *std::move(outputs);
  call->number = calls_++;
  call->loc = loc;
  KerasTensors results;
  for (size_t i = 0; i < call->outputs.size(); ++i) results.emplace_back(call, static_cast<int>(i));
  return results;
}

std::vector<Tensor> LayerImpl::CallOnGraph(const std::vector<Tensor>& inputs, std::optional<bool> training,
                                           SourceLocation loc) {
  GraphBuilder* graph = nullptr;
  for (const Tensor& input : inputs) {
    if (input.ok() && graph == nullptr) graph = input.graph();
  }
  if (graph == nullptr) return {inputs.empty() ? Tensor() : inputs[0]};
  if (!std::exchange(named_, true)) naming_.name = graph->UniqueName(SnakeCase(class_name()));
  if (built_inputs_.empty()) {
    built_at_ = loc;
    for (const Tensor& input : inputs) built_inputs_.push_back({input.dtype(), input.shape()});
    built_from_ = SpecsText(built_inputs_);
  }
  absl::StatusOr<std::vector<Tensor>> outputs =
      CallIn({.graph = graph, .training = training.value_or(graph->training()), .loc = loc}, inputs);
  if (outputs.ok()) return *std::move(outputs);
  graph->Fail(outputs.status());
  return {graph->Poisoned()};
}

}  // namespace tandem::keras
