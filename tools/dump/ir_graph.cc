#include "tools/dump/ir_graph.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/llvm_memory.h"
#include "graph/ir/dialect.h"
#include "graph/ir/text_check.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/base/pass_util.h"
#include "passes/exec/dialect.h"
#include "passes/exec/library_call.h"
#include "runtime/library_calls/library_call.h"

namespace tandem {
namespace {

// Returns the type without "tensor" and brackets: "?x3xf32" for "tensor<?x3xf32>".
std::string ShortType(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  llvm::StringRef shape = stream.str();
  if (shape.consume_front("tensor<")) shape.consume_back(">");
  return shape.str();
}

void SetLocation(mlir::Location loc, IrOp* op) {
  op->name = LocationName(loc);
  std::string file;
  int line = 0;
  if (LocationFileLine(loc, &file, &line)) op->source = absl::StrCat(file, ":", line);
}

class GraphReader {
 public:
  explicit GraphReader(mlir::ModuleOp module) : module_(module) {}

  std::vector<IrOp> Read() {
    for (const char* name : {"step", "main"}) {
      auto function = module_.lookupSymbol<mlir::func::FuncOp>(name);
      if (!function || function.isExternal()) continue;
      for (mlir::BlockArgument argument : function.getArguments()) {
        IrOp op;
        op.op = "argument";
        op.type = ShortType(argument.getType());
        SetLocation(argument.getLoc(), &op);
        ids_[argument] = Add(std::move(op), -1);
      }
      AddBlock(function.getBody().front(), -1);
      break;
    }
    return std::move(ops_);
  }

 private:
  int Add(IrOp op, int parent) {
    op.parent = parent;
    std::sort(op.inputs.begin(), op.inputs.end());
    op.inputs.erase(std::unique(op.inputs.begin(), op.inputs.end()), op.inputs.end());
    ops_.push_back(std::move(op));
    return static_cast<int>(ops_.size()) - 1;
  }

  // Returns the index of the op that makes a value, or -1 if that op is not shown.
  int IdOf(mlir::Value value) const {
    auto it = ids_.find(value);
    return it == ids_.end() ? -1 : it->second;
  }

  // Records that each value of `to` (such as a block argument) comes from the same op as the value of `from`.
  void Equate(mlir::ValueRange to, mlir::ValueRange from) {
    for (auto [inner, outer] : llvm::zip(to, from)) ids_[inner] = IdOf(outer);
  }

  void AddBlock(mlir::Block& block, int parent) {
    for (mlir::Operation& operation : block) {
      if (operation.hasTrait<mlir::OpTrait::IsTerminator>()) continue;
      const int id = Add(Describe(&operation), parent);
      for (mlir::Value result : operation.getResults()) ids_[result] = id;
      if (auto map = mlir::dyn_cast<exec::MapMicrobatchesOp>(operation)) {
        mlir::Block& body = map.getBody().front();
        Equate(body.getArguments(), map.getOperands());
        AddBlock(body, id);
        Equate(map.getResults(), body.getTerminator()->getOperands());
      } else if (auto launch = mlir::dyn_cast<exec::LaunchOp>(operation)) {
        AddKernel(launch.getKernel(), launch.getOperands(), id);
      } else if (auto launch = mlir::dyn_cast<exec::GroupedLaunchOp>(operation)) {
        AddKernel(launch.getKernel(), launch.getOperands(), id);
      }
    }
  }

  IrOp Describe(mlir::Operation* operation) const {
    IrOp op;
    op.op = operation->getName().getStringRef().str();
    if (auto call = mlir::dyn_cast<exec::LibraryCallOp>(operation)) {
      op.op = absl::StrCat("library ", InfoOf(LibraryCallOf(call)).name);
    }
    if (operation->getNumResults() > 0) op.type = ShortType(operation->getResult(0).getType());
    SetLocation(operation->getLoc(), &op);
    if (auto launch = mlir::dyn_cast<exec::LaunchOp>(operation)) op.kernel = launch.getKernel().str();
    if (auto launch = mlir::dyn_cast<exec::GroupedLaunchOp>(operation)) op.kernel = launch.getKernel().str();
    for (mlir::Value value : operation->getOperands()) {
      if (const int input = IdOf(value); input >= 0) op.inputs.push_back(input);
    }
    return op;
  }

  void AddKernel(llvm::StringRef name, mlir::ValueRange operands, int id) {
    auto kernel = module_.lookupSymbol<mlir::func::FuncOp>(name);
    // Kernels cannot launch kernels. The check prevents endless recursion on a malformed text.
    if (!kernel || kernel.isExternal() || in_kernel_) return;
    Equate(kernel.getArguments(), operands);
    in_kernel_ = true;
    AddBlock(kernel.getBody().front(), id);
    in_kernel_ = false;
  }

  mlir::ModuleOp module_;
  llvm::DenseMap<mlir::Value, int> ids_;
  bool in_kernel_ = false;
  std::vector<IrOp> ops_;
};

}  // namespace

namespace {

// Parses `text`, and calls `read` with the module if that succeeds.
void WithModule(absl::string_view text, llvm::function_ref<void(mlir::ModuleOp)> read) {
  const LlvmMemoryScope scope("reading the IR");
  if (!td::CheckText(text, "the program").ok()) return;
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, td::TdDialect, exec::ExecDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, [](mlir::Diagnostic&) { return mlir::success(); });
  // The parser needs a zero byte after the text, which the copy has.
  const auto module = mlir::parseSourceString<mlir::ModuleOp>(std::string(text), &context);
  if (module) read(*module);
}

}  // namespace

std::vector<IrOp> ParseIrGraph(absl::string_view text) {
  std::vector<IrOp> ops;
  WithModule(text, [&](mlir::ModuleOp module) { ops = GraphReader(module).Read(); });
  return ops;
}

}  // namespace tandem
