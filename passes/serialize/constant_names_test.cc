// Large constants in printed text: their names, and the way back.
#include "passes/serialize/constant_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/exit_code.h"
#include "graph/ir/dialect.h"
#include "graph/ir/shape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include "passes/exec/dialect.h"
#include "passes/pipeline/pipeline.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ConstantNamesTest : public ::testing::Test {
 protected:
  ConstantNamesTest() {
    mlir::DialectRegistry registry;
    registry.insert<mlir::func::FuncDialect, td::TdDialect, exec::ExecDialect>();
    context_.appendDialectRegistry(registry);
  }
  mlir::OwningOpRef<mlir::ModuleOp> Parsed(const std::string& text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    EXPECT_TRUE(module) << text;
    return module;
  }
  static std::string Print(mlir::ModuleOp module, int64_t most, ConstantPrinter::ByName* named = nullptr) {
    return ConstantPrinter().Print(module, most, mlir::OpPrintingFlags(), named);
  }
  mlir::MLIRContext context_;
};

constexpr char kConstants[] = R"(
  func.func @step() -> (tensor<4xf32> {td.output = "a"}) {
    %a = td.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %b = td.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %c = td.constant dense<[1.0, 2.0, 3.0, 5.0]> : tensor<4xf32>
    %d = td.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %e = td.constant dense<7.0> : tensor<8xf32>
    return %a : tensor<4xf32>
  })";

TEST_F(ConstantNamesTest, LargeOnesHaveNamesByTheirBytes) {
  const auto module = Parsed(kConstants);
  const std::string before = Print(*module, 100);
  ConstantPrinter::ByName named;
  const std::string text = Print(*module, 3, &named);
  EXPECT_EQ(named.size(), 2u) << "equal numbers have one name";
  for (const auto& [name, elements] : named) {
    EXPECT_THAT(text, HasSubstr("td.constant dense_resource<" + name + "> : tensor<4xf32>"));
    EXPECT_EQ(name, ConstantName(ConstantBytes(elements)));
  }
  EXPECT_THAT(text, HasSubstr("dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>"));
  EXPECT_THAT(text, HasSubstr("dense<7.000000e+00> : tensor<8xf32>"));
  EXPECT_THAT(text, Not(HasSubstr("dialect_resources")));
  EXPECT_EQ(Print(*module, 3), text) << "a second time in the same context";
  EXPECT_EQ(Print(*module, 100), before) << "the module is as it was";
}

TEST_F(ConstantNamesTest, TextWithNamesCanBeRead) {
  const std::string text = Print(*Parsed(kConstants), 3);
  mlir::MLIRContext other(context_.getDialectRegistry());
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &other);
  ASSERT_TRUE(module);
  std::vector<std::string> names;
  module->walk([&](td::ConstantOp op) {
    if (auto named = mlir::dyn_cast<mlir::DenseResourceElementsAttr>(op.getValue())) {
      names.push_back(named.getRawHandle().getKey().str());
    }
  });
  ASSERT_EQ(names.size(), 3u);
  EXPECT_EQ(names[0], names[1]);
  EXPECT_NE(names[0], names[2]);
}

TEST_F(ConstantNamesTest, BytesMakeTheConstantAgain) {
  for (const std::string& constant :
       {std::string("dense<[1.0, -2.5, 3.0]> : tensor<3xf32>"),
        std::string("dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>"),
        std::string("dense<[true, false, true, true, false]> : tensor<5xi1>"),
        std::string("dense<[1, 2, 255]> : tensor<3xui8>"), std::string("dense<9.0> : tensor<3xf64>")}) {
    auto module = Parsed("func.func @f() {\n%c = td.constant " + constant + "\nreturn\n}");
    module->walk([&](td::ConstantOp op) {
      const auto elements = mlir::cast<mlir::DenseElementsAttr>(op.getValue());
      const std::string bytes = ConstantBytes(elements);
      EXPECT_EQ(ConstantOfBytes(elements.getType(), bytes), elements) << constant;
      EXPECT_FALSE(ConstantOfBytes(elements.getType(), bytes + "x")) << constant;
      EXPECT_FALSE(ConstantOfBytes(elements.getType(), bytes.substr(1))) << constant;
    });
  }
}

TEST_F(ConstantNamesTest, AProgramIsNotCompiledFromANameAlone) {
  const auto module = Parsed(R"(
    func.func @main() {
      %c = td.constant dense_resource<numbers_12> : tensor<4xf32> loc("w"("model.cc":7:0))
      return
    })");
  const absl::Status status = RunPipeline(*module, {}, nullptr);
  EXPECT_EQ(ExitCodeFor(status), kExitBadData);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("model.cc:7: the text leaves out the numbers of the constant numbers_12"));
}

}  // namespace
}  // namespace tandem
