// Every gradient against central differences on the reference interpreter.
#include <cmath>
#include <set>

#include "graph/gradients/gradient_cases.h"
#include "graph/gradients/gradients.h"
#include "graph/ir/build.h"
#include "graph/ir/dialect.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/reference_util.h"
#include "graph/reference/interpreter.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

namespace tandem {
namespace {

bool IsFloat(mlir::Type t) { return mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(t)); }

// A small generator, so that values are the same everywhere.
class Random {
 public:
  double Uniform(double low, double high) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * static_cast<double>(state_ >> 11) * 0x1.0p-53;
  }

 private:
  uint64_t state_ = 20240607;
};

void CheckCase(const GradientCase& c) {
  SCOPED_TRACE(c.op + "\n" + c.function);
  mlir::MLIRContext context;
  context.loadDialect<td::TdDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(c.function, &context);
  ASSERT_TRUE(module);
  auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
  ASSERT_TRUE(main);
  bool uses_op = false;
  main.walk([&](mlir::Operation* op) { uses_op = uses_op || op->getName().getStringRef() == c.op; });
  ASSERT_TRUE(uses_op) << "the case does not use its op";

  // loss = sum over float results of sum(result * weights); the weights are further arguments.
  mlir::Block& body = main.getBody().front();
  mlir::Operation* terminator = body.getTerminator();
  mlir::OpBuilder b(terminator);
  mlir::Location loc = main.getLoc();
  unsigned num_arguments = main.getNumArguments();
  mlir::Value loss;
  for (mlir::Value r : llvm::to_vector(terminator->getOperands())) {
    if (!IsFloat(r.getType())) continue;
    mlir::Value product = td::BuildMul(b, loc, r, body.addArgument(r.getType(), loc));
    mlir::Value sum = td::BuildSumTo(b, loc, product, {}, r);
    loss = loss ? td::BuildAdd(b, loc, loss, sum) : sum;
  }
  ASSERT_TRUE(loss) << "no floating-point result";
  std::vector<mlir::Value> xs;
  std::vector<unsigned> x_index;
  for (unsigned i = 0; i < num_arguments; ++i) {
    if (!IsFloat(body.getArgument(i).getType())) continue;
    xs.push_back(body.getArgument(i));
    x_index.push_back(i);
  }
  std::vector<mlir::Value> gradients;
  internal::GradientError error;
  ASSERT_TRUE(internal::BuildGradients(b, loss, xs, &gradients, &error)) << error.message;
  llvm::SmallVector<mlir::Value> returned = {loss};
  for (size_t i = 0; i < xs.size(); ++i) {
    if (c.zero) {
      EXPECT_FALSE(gradients[i]) << "argument " << x_index[i] << " must have no gradient";
    }
    if (!gradients[i]) continue;
    EXPECT_EQ(gradients[i].getType(), xs[i].getType());
    returned.push_back(gradients[i]);
  }
  if (!c.zero) {
    ASSERT_GT(returned.size(), 1u) << "no gradient reaches an argument";
  }
  terminator->setOperands(returned);
  main.setType(b.getFunctionType(body.getArgumentTypes(), mlir::ValueRange(returned).getTypes()));
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));

  InterpreterInputs in;
  in.batch = c.batch;
  Random random;
  for (unsigned i = 0; i < body.getNumArguments(); ++i) {
    mlir::Type type = body.getArgument(i).getType();
    td::RefTensor t = td::MakeResult(type, c.batch);
    for (double& v : t.values) {
      if (!IsFloat(type)) {
        v = std::floor(random.Uniform(0, t.dtype == DType::kBool ? 2 : static_cast<double>(c.int_limit)));
      } else {
        v = i < num_arguments ? random.Uniform(c.low, c.high) : random.Uniform(0.5, 1.5);
      }
    }
    in.arguments.push_back(std::move(t));
  }
  auto analytic = Interpret(main, in);
  ASSERT_TRUE(analytic.ok()) << analytic.status();
  size_t next = 1;
  for (size_t k = 0; k < xs.size(); ++k) {
    // Without a gradient it is 0, unless the op defines that.
    if (c.zero) continue;
    std::vector<double>& x = in.arguments[x_index[k]].values;
    const std::vector<double> gradient =
        gradients[k] ? analytic->results[next++].values : std::vector<double>(x.size(), 0);
    ASSERT_EQ(gradient.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      constexpr double kStep = 1e-5;
      double saved = x[i];
      x[i] = saved + kStep;
      auto up = Interpret(main, in);
      x[i] = saved - kStep;
      auto down = Interpret(main, in);
      x[i] = saved;
      ASSERT_TRUE(up.ok() && down.ok());
      double numeric = (up->results[0].values[0] - down->results[0].values[0]) / (2 * kStep);
      ASSERT_NEAR(gradient[i], numeric, 1e-6 * (1 + std::fabs(numeric)))
          << "argument " << x_index[k] << ", element " << i;
    }
  }
}

TEST(GradientCheck, EveryDifferentiableOpHasACase) {
  mlir::MLIRContext context;
  context.loadDialect<td::TdDialect>();
  std::set<std::string> with_case;
  for (const GradientCase& c : GradientCases()) with_case.insert(c.op);
  int differentiable = 0;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "td" || !name.hasInterface<td::GradientOp>()) continue;
    ++differentiable;
    EXPECT_TRUE(with_case.count(name.getStringRef().str()))
        << name.getStringRef().str() << " has a gradient but no case in graph/gradient_cases_*.cc";
  }
  EXPECT_GT(differentiable, 20);
}

class GradientCaseTest : public testing::TestWithParam<int> {};

TEST_P(GradientCaseTest, MatchesCentralDifferences) { CheckCase(GradientCases()[GetParam()]); }

INSTANTIATE_TEST_SUITE_P(Ops, GradientCaseTest, testing::Range(0, static_cast<int>(GradientCases().size())),
                         [](const testing::TestParamInfo<int>& info) {
                           return GradientCases()[info.param].op.substr(3) + "_" + std::to_string(info.param);
                         });

}  // namespace
}  // namespace tandem
