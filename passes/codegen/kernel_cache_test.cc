// Kernels on disk: what is found, what a change of target or build does, and that damage costs time only.
#include "passes/codegen/kernel_cache.h"

#include <sys/stat.h>

#include <string>

#include "base/env.h"
#include "graph/ir/dialect.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/codegen/compile.h"
#include "passes/codegen/cpu_target.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

class KernelCacheTest : public ::testing::Test {
 protected:
  KernelCacheTest() {
    Env::Default()->DeleteRecursively(dir_).IgnoreError();
    context_.loadDialect<td::TdDialect, exec::ExecDialect, mlir::func::FuncDialect>();
  }

  // A kernel of `name` that doubles its operand, or squares it.
  std::vector<CompiledKernel> Compile(const std::string& name, const std::string& op, const std::string& build = "1",
                                      const std::string& target = "x86-64-v3") {
    const std::string text =
        "func.func private @" + name +
        "(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {\n %0 = " + op +
        " %x, %x : tensor<?x4xf32>\n return %0 : tensor<?x4xf32> }\n";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    auto compiled = CompileKernels(*module, *CpuTargetByName(target), 1, KernelCache(dir_), build);
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    return compiled.ok() ? *std::move(compiled) : std::vector<CompiledKernel>(1);
  }

  std::string OnlyFile() const {
    auto names = Env::Default()->ListDir(dir_);
    EXPECT_TRUE(names.ok() && names->size() == 1) << names.status();
    return JoinPath(dir_, names->front());
  }

  const std::string dir_ = JoinPath(::testing::TempDir(), "kernels");
  mlir::MLIRContext context_;
};

TEST_F(KernelCacheTest, AnEqualKernelOfAnyNameIsFound) {
  CompiledKernel first = Compile("kernel_3", "td.add")[0];
  CompiledKernel second = Compile("kernel_7", "td.add")[0];
  EXPECT_FALSE(first.cached);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(second.name, "kernel_7");
  EXPECT_EQ(second.symbol, first.symbol);
  EXPECT_EQ(second.elf_object, first.elf_object);
  EXPECT_EQ(second.bitcode, first.bitcode);
}

TEST_F(KernelCacheTest, AnotherOpTargetOrBuildIsNot) {
  Compile("k", "td.add");
  EXPECT_FALSE(Compile("k", "td.mul")[0].cached);
  EXPECT_FALSE(Compile("k", "td.add", "2")[0].cached);
  EXPECT_FALSE(Compile("k", "td.add", "1", "x86-64-v4")[0].cached);
  EXPECT_TRUE(Compile("k", "td.add")[0].cached);
}

TEST_F(KernelCacheTest, AFileThatOthersCanWriteIsCompiledAgain) {
  Compile("k", "td.add");
  ASSERT_EQ(chmod(OnlyFile().c_str(), 0666), 0);
  EXPECT_FALSE(Compile("k", "td.add")[0].cached);
  EXPECT_TRUE(Compile("k", "td.add")[0].cached);  // replaced by a file of this user alone
}

TEST_F(KernelCacheTest, ADamagedFileIsCompiledAgain) {
  CompiledKernel first = Compile("k", "td.add")[0];
  Env* env = Env::Default();
  std::string bytes = *env->ReadFile(OnlyFile());
  for (size_t at : {size_t{0}, size_t{5}, size_t{9}, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    ASSERT_TRUE(env->WriteFile(OnlyFile(), {damaged}).ok());
    CompiledKernel again = Compile("k", "td.add")[0];
    EXPECT_FALSE(again.cached) << at;
    EXPECT_EQ(again.elf_object, first.elf_object);
    EXPECT_TRUE(Compile("k", "td.add")[0].cached) << at;  // written anew
  }
  ASSERT_TRUE(env->WriteFile(OnlyFile(), {bytes.substr(0, 10)}).ok());
  EXPECT_FALSE(Compile("k", "td.add")[0].cached);
}

// Two files that changed places, as a copy gone wrong leaves them: each is whole, and neither is what its name says.
TEST_F(KernelCacheTest, AnotherKernelsFileIsCompiledAgain) {
  Env* env = Env::Default();
  const CompiledKernel sum = Compile("k", "td.add")[0];
  const std::string sum_file = OnlyFile();
  const CompiledKernel product = Compile("k", "td.mul")[0];
  ASSERT_NE(sum.symbol, product.symbol);
  const std::string product_file = JoinPath(dir_, product.symbol.substr(3) + ".tdk");
  const std::string sum_bytes = *env->ReadFile(sum_file), product_bytes = *env->ReadFile(product_file);
  ASSERT_TRUE(env->WriteFile(sum_file, {product_bytes}).ok());
  ASSERT_TRUE(env->WriteFile(product_file, {sum_bytes}).ok());
  const CompiledKernel sum_again = Compile("k", "td.add")[0], product_again = Compile("k", "td.mul")[0];
  EXPECT_FALSE(sum_again.cached);
  EXPECT_FALSE(product_again.cached);
  EXPECT_EQ(sum_again.elf_object, sum.elf_object);
  EXPECT_EQ(product_again.elf_object, product.elf_object);
  EXPECT_EQ(*env->ReadFile(sum_file), sum_bytes);
  EXPECT_TRUE(Compile("k", "td.mul")[0].cached);
}

TEST_F(KernelCacheTest, ADirectoryThatCannotBeMadeCostsNothingElse) {
  ASSERT_TRUE(Env::Default()->WriteFile(dir_, {"a file"}).ok());
  EXPECT_FALSE(Compile("k", "td.add")[0].elf_object.empty());
  EXPECT_TRUE(Env::Default()->DeleteFile(dir_).ok());
}

}  // namespace
}  // namespace tandem
