#include "tests/errors/api_edge.h"

#include <cctype>
#include <fstream>
#include <memory>
#include <regex>
#include <set>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace tandem::edge {
namespace {

// Letters and digits, as lower case.
std::string Plain(const std::string& text) {
  std::string plain;
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

}  // namespace

World::World() {
  x = graph.Input("x", DType::kFloat32, {kBatch, 4});
  image = graph.Input("image", DType::kFloat32, {kBatch, 8, 8, 3});
  labels = graph.Input("labels", DType::kInt32, {kBatch});
  ints = graph.Input("ints", DType::kInt32, {kBatch, 4});
  flags = graph.Input("flags", DType::kBool, {kBatch, 4});
  scalar = graph.Constant(1.0f);
  w = graph.Variable({.name = "w", .shape = {4, 3}});
  m = graph.Constant(HostTensor::Zeros(DType::kFloat32, {4, 3}));
  foreign = other.Input("x", DType::kFloat32, {kBatch, 4});
  GraphBuilder past;
  gone = past.Input("x", DType::kFloat32, {kBatch, 4});
}

void Check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.function + ", " + row.argument);
    World world;
    ASSERT_TRUE(world.graph.status().ok()) << world.graph.status();
    const absl::Status status = row.call(world);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    const std::string message(status.message());
    EXPECT_TRUE(absl::StrContains(Plain(message), Plain(row.named.empty() ? row.function : row.named))) << message;
    EXPECT_TRUE(absl::StrContains(message, row.says)) << message;
  }
}

void Check(const std::vector<Call>& calls) {
  for (const Call& row : calls) {
    SCOPED_TRACE(row.function + ", " + row.argument);
    const absl::Status status = row.call();
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.code(), absl::StatusCode::kInternal) << status;
    EXPECT_NE(status.code(), absl::StatusCode::kUnknown) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), row.function)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), row.says)) << status;
  }
}

void CheckCoverage(const std::string& header, const std::vector<Row>& rows) {
  std::set<std::string> with_row;
  for (const Row& row : rows) with_row.insert(row.function);
  std::ifstream file(header);
  ASSERT_TRUE(file.good()) << header;
  const std::regex declaration(R"(^(?:inline )?(?:void|[A-Z]\w*(?:<[\w:<> ]+>)?) (\w+)\(.*)");
  std::smatch match;
  int functions = 0;
  for (std::string line; std::getline(file, line);) {
    if (!std::regex_match(line, match, declaration) || match[1] == "operator") continue;
    ++functions;
    EXPECT_TRUE(with_row.count(match[1])) << header << " declares " << match[1] << ", which has no row in the table";
  }
  EXPECT_GT(functions, 0) << header;
}

}  // namespace tandem::edge
