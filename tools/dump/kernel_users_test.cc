// Kernels that are equal are one: a dump names all commands that launch it, each with its place in the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"
#include "passes/compile/compile.h"
#include "tools/dump/json_dump.h"
#include "tools/dump/text_dump.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

TEST(KernelUsers, ADumpNamesAllOfThem) {
  GraphBuilder graph;
  const Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 5}), y = graph.Input("y", DType::kFloat32, {kBatch, 5});
  int line = 0;
  for (const auto& [name, input] : {std::pair{"left", x}, std::pair{"right", y}}) {
    const NameScope scope(&graph, name);
    line = __LINE__ + 1;
    graph.Output(absl::StrCat(name, "_out"), Exp(Tanh(input)));
  }
  graph.Output("other", ReduceSum(Sqrt(graph.Input("z", DType::kFloat32, {kBatch, 3})), {1}));
  CompileOptions options = {.batch_per_replica = 64, .cache_dir = ::testing::TempDir() + "/kernel_users"};
  const auto executable = CompileGraph(graph, "predict", options);
  ASSERT_TRUE(executable.ok()) << executable.status();

  const Json dump = DumpJson(**executable, /*expand_replicas=*/false);
  std::vector<std::vector<std::string>> shared;
  for (const Json& kernel : dump["kernels"]) {
    ASSERT_FALSE(kernel["users"].empty()) << kernel;
    if (kernel["users"].size() == 1) continue;
    std::vector<std::string>& names = shared.emplace_back();
    for (const Json& user : kernel["users"]) {
      names.push_back(user["name"]);
      EXPECT_THAT(user["source"].get<std::string>(), HasSubstr(absl::StrCat("kernel_users_test.cc:", line)));
    }
  }
  EXPECT_THAT(shared, ElementsAre(ElementsAre(HasSubstr("left"), HasSubstr("right"))));

  const std::string text = DumpText(dump);
  const size_t first = text.find("    launched by "), end = text.find('\n', text.find('\n', first) + 1);
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_THAT(text.substr(first, end - first), HasSubstr("left"));
  EXPECT_THAT(text.substr(first, end - first), HasSubstr("right"));
  EXPECT_THAT(text.substr(end), Not(HasSubstr("launched by"))) << "a kernel of one command has its name";
}

}  // namespace
}  // namespace tandem
