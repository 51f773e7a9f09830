#include "graph/module/graph_module.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/element_count.h"
#include "graph/ir/dialect.h"
#include "graph/module/to_attribute.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace tandem::internal {

GraphModule::GraphModule(absl::string_view name)
    : context_(mlir::MLIRContext::Threading::DISABLED), builder_(&context_) {
  context_.loadDialect<td::TdDialect, mlir::func::FuncDialect>();
  mlir::Location loc = mlir::UnknownLoc::get(&context_);
  module_ = mlir::ModuleOp::create(loc, llvm::StringRef(name.data(), name.size()));
  builder_.setInsertionPointToEnd(module_->getBody());
  main_ = builder_.create<mlir::func::FuncOp>(loc, "main", builder_.getFunctionType({}, {}));
  mlir::Block* body = main_.addEntryBlock();
  builder_.setInsertionPointToEnd(body);
  auto end = builder_.create<mlir::func::ReturnOp>(loc);
  builder_.setInsertionPoint(end);
  context_.getDiagEngine().registerHandler([this](mlir::Diagnostic& diagnostic) {
    // Outside of CaptureDiagnostics the message goes to the handler of the passes.
    if (capturing_ == 0) return mlir::failure();
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      if (!diagnostics_.empty()) diagnostics_ += "; ";
      diagnostics_ += diagnostic.str();
    }
    return mlir::success();
  });
}

void GraphModule::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

std::string GraphModule::Scoped(absl::string_view base) const { return absl::StrCat(scope_, base); }

namespace {

std::string Unique(const std::string& base, std::set<std::string>& taken, std::unordered_map<std::string, int>& next) {
  if (taken.insert(base).second) return base;
  for (int& i = next[base];;) {
    std::string name = absl::StrCat(base, "_", ++i);
    if (taken.insert(name).second) return name;
  }
}

}  // namespace

std::string GraphModule::TakeName(absl::string_view base) { return Unique(Scoped(base), names_, next_suffix_); }

std::string GraphModule::TakeGlobalName(absl::string_view name) {
  return Unique(std::string(name), names_, next_suffix_);
}

std::string GraphModule::UniqueScope(absl::string_view base) {
  std::unordered_map<std::string, int> next;  // numbers names of scopes apart from names of ops
  return Unique(Scoped(base), scopes_, next).substr(scope_.size());
}

void GraphModule::PushScope(absl::string_view name) {
  scope_lengths_.push_back(scope_.size());
  if (!name.empty()) absl::StrAppend(&scope_, name, "/");
}

void GraphModule::PopScope() {
  if (scope_lengths_.empty()) return;
  scope_.resize(scope_lengths_.back());
  scope_lengths_.pop_back();
}

mlir::Location GraphModule::Location(absl::string_view name, SourceLocation loc) {
  mlir::Location file = mlir::FileLineColLoc::get(&context_, loc.file, loc.line, 0);
  return mlir::NameLoc::get(mlir::StringAttr::get(&context_, llvm::StringRef(name.data(), name.size())), file);
}

mlir::Value GraphModule::Find(absl::string_view name) const {
  auto it = values_.find(std::string(name));
  return it == values_.end() ? mlir::Value() : it->second;
}

std::vector<std::string> GraphModule::names() const {
  std::vector<std::string> names;
  for (const auto& entry : values_) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status GraphModule::Error(absl::string_view op, absl::string_view name, SourceLocation loc,
                                absl::string_view message, mlir::ValueRange operands) const {
  std::string shapes;
  bool all_told = true;
  for (mlir::Value v : operands) {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(v.getType());
    if (!type) continue;
    std::string shape = ShapeString(td::ToShape(type));
    all_told = all_told && absl::StrContains(message, shape);
    absl::StrAppend(&shapes, shapes.empty() ? "" : ", ", Name(td::ToDType(type.getElementType())), " ", shape);
  }
  std::string text = absl::StrCat(op, " \"", name, "\" at ", loc.file, ":", loc.line, ": ", message);
  if (!all_told) absl::StrAppend(&text, " (operands ", shapes, ")");
  return absl::InvalidArgumentError(text);
}

namespace {

// Rewrites MLIR's message about an operand that an op's type constraint refuses in the words of the API; returns other
// messages unchanged.
std::string InTermsOfTheApi(absl::string_view message, mlir::ValueRange operands) {
  absl::string_view rest = message;
  int64_t index = 0;
  const size_t end = message.find(" must be ");
  if (!absl::ConsumePrefix(&rest, "operand #") || end == absl::string_view::npos ||
      !absl::SimpleAtoi(message.substr(9, end - 9), &index) || index < 0 || index >= operands.size()) {
    return std::string(message);
  }
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(operands[index].getType());
  const absl::string_view wanted = message.substr(end, message.find(", but got") - end);
  const bool floats = absl::StrContains(wanted, "float"), integers = absl::StrContains(wanted, "32-bit signless int");
  const bool booleans = absl::StrContains(wanted, "1-bit signless int") && !integers;
  if (!type || !(floats || integers || booleans)) return std::string(message);
  const char* kind = floats && integers ? "a number" : floats ? "floating-point" : integers ? "int32 or int64" : "bool";
  const char* remedy = floats     ? "convert it with Cast(x, DType::kFloat32)"
                       : integers ? "convert it with Cast(x, DType::kInt32)"
                                  : "make it with a comparison, such as Greater(x, y)";
  return absl::StrCat("operand ", index, " must be ", kind, ", got ", Name(td::ToDType(type.getElementType())), " ",
                      ShapeString(td::ToShape(type)), "; ", remedy);
}

// Says why an op of this kind cannot have this number of operands; "" if it can. Type inference does not check it.
std::string CountProblem(const mlir::RegisteredOperationName& op, size_t operands) {
  size_t wanted = operands;
  if (op.hasTrait<mlir::OpTrait::ZeroOperands>()) wanted = 0;
  if (op.hasTrait<mlir::OpTrait::OneOperand>()) wanted = 1;
  if (op.hasTrait<mlir::OpTrait::NOperands<2>::Impl>()) wanted = 2;
  if (op.hasTrait<mlir::OpTrait::NOperands<3>::Impl>()) wanted = 3;
  if (op.hasTrait<mlir::OpTrait::NOperands<4>::Impl>()) wanted = 4;
  if (op.hasTrait<mlir::OpTrait::NOperands<5>::Impl>()) wanted = 5;
  return wanted == operands ? "" : absl::StrCat("takes ", wanted, " operands, got ", operands);
}

// Limit for sizes, offsets and strides: sums and differences of smaller ones do not overflow.
constexpr int64_t kMaxSize = int64_t{1} << 40;

// Says why `value` cannot be a list of sizes or the shape of a result; "" if it can.
std::string SizesProblem(absl::string_view key, const Attr& value, bool of_result) {
  const auto* sizes = std::get_if<std::vector<int64_t>>(&value);
  if (sizes == nullptr) return "";
  for (size_t i = 0; i < sizes->size(); ++i) {
    const int64_t size = (*sizes)[i];
    if (size > kMaxSize || size < -kMaxSize) return absl::StrCat("`", key, "` has ", size, ", which is out of range");
    if (of_result && size < 1 && !(i == 0 && size == kBatch)) {
      return absl::StrCat("the shape ", ShapeString(*sizes), " must have sizes of at least 1",
                          size == kBatch ? "; the batch is dimension 0 only" : "");
    }
  }
  return "";
}

llvm::LogicalResult CheckResultSizes(mlir::Operation* op) {
  for (mlir::Type type : op->getResultTypes()) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
    if (!tensor) continue;
    const Shape shape = td::ToShape(tensor);
    const bool batched = !shape.empty() && shape[0] == kBatch;
    if (CheckedNumElements(absl::MakeConstSpan(shape).subspan(batched ? 1 : 0)) >= 0) continue;
    return op->emitOpError() << "has a result of shape " << ShapeString(shape)
                             << ", which has more elements than can be addressed";
  }
  return mlir::success();
}

}  // namespace

bool GraphModule::HasAttributes(mlir::OperationName name, const mlir::RegisteredOperationName& info,
                                mlir::Location location, mlir::ValueRange operands,
                                const mlir::NamedAttrList& attributes) {
  const int results = info.hasTrait<mlir::OpTrait::OneResult>()           ? 1
                      : info.hasTrait<mlir::OpTrait::NResults<2>::Impl>() ? 2
                                                                          : 0;
  if (results == 0) return true;
  // Creates the op with results of no type, only for MLIR's verifier: that reports a missing attribute before it
  // reports the wrong types.
  mlir::OperationState state(location, name);
  state.addOperands(operands);
  state.addAttributes(attributes);
  state.addTypes(llvm::SmallVector<mlir::Type>(results, builder_.getNoneType()));
  mlir::Operation* probe = mlir::Operation::create(state);
  const std::string text = CaptureDiagnostics([&] { (void)name.verifyInvariants(probe); });
  probe->destroy();
  if (!absl::StrContains(text, "requires attribute")) return true;
  diagnostics_ = text;
  return false;
}

absl::StatusOr<mlir::Operation*> GraphModule::Emit(absl::string_view op, mlir::ValueRange operands, const Attrs& attrs,
                                                   SourceLocation loc) {
  std::string base = OpDisplayName(op, attrs);
  auto error = [&](absl::string_view message) { return Error(op, Scoped(base), loc, message, operands); };
  mlir::OperationName op_name(absl::StrCat("td.", op), &context_);
  std::optional<mlir::RegisteredOperationName> info = op_name.getRegisteredInfo();
  if (!info) return error("there is no such op");
  auto* infer = info->getInterface<mlir::InferTypeOpInterface>();

  if (std::string problem = CountProblem(*info, operands.size()); !problem.empty()) return error(problem);

  mlir::NamedAttrList list;
  Shape shape;
  DType dtype = DType::kInvalid;
  bool has_shape = false;
  if (!infer && !operands.empty()) {
    shape = td::ToShape(operands[0].getType());
    dtype = td::ToDType(mlir::getElementTypeOrSelf(operands[0].getType()));
    has_shape = true;
  }
  for (const auto& [key, value] : attrs) {
    if (std::string problem = SizesProblem(key, value, /*of_result=*/key == "shape"); !problem.empty()) {
      return error(problem);
    }
    if (!infer && key == "shape" && std::holds_alternative<std::vector<int64_t>>(value)) {
      shape = std::get<std::vector<int64_t>>(value);
      has_shape = true;
    } else if (!infer && key == "dtype" && std::holds_alternative<DType>(value)) {
      dtype = std::get<DType>(value);
    } else {
      absl::StatusOr<mlir::Attribute> attribute = ToAttribute(&context_, op, key, value);
      if (!attribute.ok()) return error(attribute.status().message());
      list.append(key, *attribute);
    }
  }

  mlir::Location location = Location(Scoped(base), loc);
  llvm::SmallVector<mlir::Type> types;
  mlir::Operation* operation = nullptr;
  std::string diagnostics = CaptureDiagnostics([&] {
    auto report = [&] { return mlir::emitError(location); };
    mlir::DictionaryAttr dictionary = list.getDictionary(&context_);
    if (infer) {
      // Initialises properties as Operation::create does.
      std::vector<int64_t> storage(info->getOpPropertyByteSize() / sizeof(int64_t) + 1);
      mlir::OpaqueProperties properties(storage.data());
      bool has_properties = info->getOpPropertyByteSize() > 0;
      bool ok = true;
      if (has_properties) {
        info->initOpProperties(properties, nullptr);
        info->populateDefaultProperties(properties);
        ok = mlir::succeeded(info->setOpPropertiesFromAttribute(op_name, properties, dictionary, report)) &&
             mlir::succeeded(info->verifyInherentAttrs(list, report));
      }
      // Type inference reads attributes without testing whether they exist.
      const bool all_given = llvm::all_of(info->getAttributeNames(), [&](mlir::StringAttr n) { return list.get(n); });
      ok = ok && (all_given || HasAttributes(op_name, *info, location, operands, list));
      ok = ok &&
           mlir::succeeded(infer->inferReturnTypes(&context_, location, operands, dictionary, properties, {}, types));
      if (has_properties) info->destroyOpProperties(properties);
      if (!ok) return;
    } else if (has_shape && dtype != DType::kInvalid) {
      types.push_back(td::TensorType(&context_, dtype, shape));
    }
    mlir::OperationState state(location, op_name);
    state.addOperands(operands);
    state.addAttributes(list);
    state.addTypes(types);
    operation = builder_.create(state);
    if (mlir::failed(op_name.verifyInvariants(operation)) || mlir::failed(CheckResultSizes(operation))) {
      operation->erase();
      operation = nullptr;
    }
  });
  if (!operation) {
    absl::string_view message = diagnostics;
    absl::ConsumePrefix(&message, absl::StrCat("'td.", op, "' op "));
    return error(message.empty() ? "invalid operands" : InTermsOfTheApi(message, operands));
  }
  std::string name = TakeName(base);
  operation->setLoc(Location(name, loc));
  for (mlir::OpResult r : operation->getResults()) {
    Register(r.getResultNumber() == 0 ? name : absl::StrCat(name, ":", r.getResultNumber()), r);
  }
  return operation;
}

namespace {

// Converts "max_pool" to "MaxPool".
std::string CamelCase(absl::string_view words) {
  std::string result;
  bool upper = true;
  for (char c : words) {
    if (c == '_') {
      upper = true;
      continue;
    }
    result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return result;
}

const char* DisplayName(td::ComparePredicate predicate) {
  switch (predicate) {
    case td::ComparePredicate::kEq:
      return "Equal";
    case td::ComparePredicate::kNe:
      return "NotEqual";
    case td::ComparePredicate::kLt:
      return "Less";
    case td::ComparePredicate::kLe:
      return "LessEqual";
    case td::ComparePredicate::kGt:
      return "Greater";
    case td::ComparePredicate::kGe:
      break;
  }
  return "GreaterEqual";
}

// Returns an attribute's string; "" if there is none.
std::string Word(const Attrs& attrs, absl::string_view wanted) {
  for (const auto& [key, value] : attrs) {
    if (key == wanted && std::holds_alternative<std::string>(value)) return std::get<std::string>(value);
  }
  return "";
}

}  // namespace

std::string OpDisplayName(absl::string_view op, const Attrs& attrs) {
  static const auto* kNames = new std::map<std::string, std::string>{
      {"matmul", "MatMul"}, {"conv2d", "Conv2D"}, {"argmax", "ArgMax"}, {"max", "Maximum"}, {"min", "Minimum"}};
  // td.compare is one op for all comparisons, and td.reduce for all reductions: an attribute tells which one it is.
  if (op == "compare") {
    if (auto predicate = td::symbolizeComparePredicate(Word(attrs, "predicate"))) return DisplayName(*predicate);
  }
  if (op == "reduce") {
    if (auto kind = td::symbolizeReduceKind(Word(attrs, "kind"))) return CamelCase(stringifyEnum(*kind).str());
  }
  auto it = kNames->find(std::string(op));
  return it != kNames->end() ? it->second : CamelCase(op);
}

llvm::DenseSet<mlir::Operation*> OpsBehind(llvm::ArrayRef<mlir::Value> values) {
  llvm::DenseSet<mlir::Operation*> seen;
  llvm::SmallVector<mlir::Value> todo(values);
  while (!todo.empty()) {
    mlir::Operation* op = todo.pop_back_val().getDefiningOp();
    if (op != nullptr && seen.insert(op).second) todo.append(op->operand_begin(), op->operand_end());
  }
  return seen;
}

std::string LocationName(mlir::Location loc) {
  std::string name;
  loc->walk([&](mlir::Location l) {
    auto named = mlir::dyn_cast<mlir::NameLoc>(l);
    if (!named) return mlir::WalkResult::advance();
    name = named.getName().str();
    return mlir::WalkResult::interrupt();
  });
  return name;
}

std::string LocationFileLine(mlir::Location loc) {
  std::string text;
  loc->walk([&](mlir::Location l) {
    auto file = mlir::dyn_cast<mlir::FileLineColLoc>(l);
    if (!file) return mlir::WalkResult::advance();
    text = absl::StrCat(file.getFilename().str(), ":", file.getLine());
    return mlir::WalkResult::interrupt();
  });
  return text;
}

}  // namespace tandem::internal
