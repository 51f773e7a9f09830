// The bytes of models, read field by field.
#include "estimator/onnx/encode_model.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "data/files/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The fields of a message: numbers as text, and bytes.
using Fields = std::multimap<uint32_t, std::string>;

Fields Parsed(absl::string_view bytes) {
  Fields fields;
  wire::Reader reader(bytes);
  while (!reader.done()) {
    uint32_t field = 0;
    wire::Type type{};
    uint64_t number = 0;
    absl::string_view content;
    if (!reader.ReadTag(&field, &type)) break;
    if (type == wire::Type::kVarint && reader.ReadVarint(&number)) {
      fields.emplace(field, std::to_string(number));
    } else if (type == wire::Type::kBytes && reader.ReadBytes(&content)) {
      fields.emplace(field, content);
    } else if (type == wire::Type::kFixed32 && reader.ReadFixed32(&content)) {
      fields.emplace(field, content);
    } else {
      ADD_FAILURE() << "malformed bytes at " << reader.position();
      break;
    }
  }
  return fields;
}

std::vector<std::string> All(const Fields& fields, uint32_t field) {
  std::vector<std::string> values;
  for (auto [it, end] = fields.equal_range(field); it != end; ++it) values.push_back(it->second);
  return values;
}

std::string One(const Fields& fields, uint32_t field) {
  const std::vector<std::string> values = All(fields, field);
  EXPECT_THAT(values, SizeIs(1)) << "field " << field;
  return values.empty() ? "" : values[0];
}

onnx::Model SmallModel() {
  onnx::Model model{.name = "predict"};
  model.inputs = {{"x", DType::kFloat32, {kBatch, 2}}};
  model.outputs = {{"y", DType::kInt64, {kBatch}}};
  model.nodes = {{.name = "node",
                  .op_type = "Op",
                  .inputs = {"x", "w"},
                  .outputs = {"y"},
                  .attributes = {{"f", 0.5f}, {"i", int64_t{-1}}, {"list", std::vector<int64_t>{3, -4}}}}};
  model.initializers = {{"w", HostTensor::FromVector<float>({2}, {1, 2})}};
  return model;
}

TEST(EncodeModelTest, HasTheFieldsOfTheFormat) {
  const onnx::ModelImage image = onnx::EncodeModel(SmallModel(), onnx::WeightsPlace::kModel, "m.data");
  EXPECT_THAT(image.data.pieces, IsEmpty());
  const std::string bytes = absl::StrJoin(image.model.pieces, "");
  EXPECT_EQ(static_cast<int64_t>(bytes.size()), image.model.size());
  const Fields model = Parsed(bytes);
  EXPECT_EQ(One(model, 1), "8");
  EXPECT_EQ(One(model, 2), "tandem");
  EXPECT_EQ(One(Parsed(One(model, 8)), 2), "17");

  const Fields graph = Parsed(One(model, 7));
  EXPECT_EQ(One(graph, 2), "predict");
  const Fields node = Parsed(One(graph, 1));
  EXPECT_THAT(All(node, 1), ElementsAre("x", "w"));
  EXPECT_EQ(One(node, 2), "y");
  EXPECT_EQ(One(node, 3), "node");
  EXPECT_EQ(One(node, 4), "Op");

  const std::vector<std::string> attributes = All(node, 5);
  ASSERT_THAT(attributes, SizeIs(3));
  EXPECT_EQ(One(Parsed(attributes[0]), 20), "1");
  EXPECT_EQ(One(Parsed(attributes[0]), 2), std::string("\0\0\0\x3f", 4));
  EXPECT_EQ(One(Parsed(attributes[1]), 20), "2");
  EXPECT_EQ(One(Parsed(attributes[1]), 3), std::to_string(UINT64_MAX));
  EXPECT_EQ(One(Parsed(attributes[2]), 20), "7");
  EXPECT_THAT(All(Parsed(attributes[2]), 8), ElementsAre("3", std::to_string(UINT64_MAX - 3)));

  const Fields weight = Parsed(One(graph, 5));
  EXPECT_EQ(One(weight, 1), "2");
  EXPECT_EQ(One(weight, 2), "1");
  EXPECT_EQ(One(weight, 8), "w");
  EXPECT_EQ(One(weight, 9), std::string("\0\0\x80\x3f\0\0\0\x40", 8));
}

TEST(EncodeModelTest, TheBatchIsADimensionOfAnySize) {
  const onnx::ModelImage image = onnx::EncodeModel(SmallModel(), onnx::WeightsPlace::kModel, "m.data");
  const Fields graph = Parsed(One(Parsed(absl::StrJoin(image.model.pieces, "")), 7));
  const Fields input = Parsed(One(graph, 11));
  EXPECT_EQ(One(input, 1), "x");
  const Fields tensor_type = Parsed(One(Parsed(One(input, 2)), 1));
  EXPECT_EQ(One(tensor_type, 1), "1");
  const std::vector<std::string> dimensions = All(Parsed(One(tensor_type, 2)), 1);
  ASSERT_THAT(dimensions, SizeIs(2));
  EXPECT_EQ(One(Parsed(dimensions[0]), 2), "batch");
  EXPECT_EQ(One(Parsed(dimensions[1]), 1), "2");
}

TEST(EncodeModelTest, LargeWeightsLieInAFileOfTheirOwn) {
  onnx::Model model = SmallModel();
  model.initializers.push_back({"large", HostTensor::Zeros(DType::kFloat32, {300})});
  HostTensor numbers = HostTensor::Zeros(DType::kFloat32, {5000});
  numbers.data<float>()[0] = 1;
  model.initializers.push_back({"larger", numbers});
  const onnx::ModelImage image = onnx::EncodeModel(model, onnx::WeightsPlace::kData, "m.data");
  const Fields graph = Parsed(One(Parsed(absl::StrJoin(image.model.pieces, "")), 7));
  const std::vector<std::string> weights = All(graph, 5);
  ASSERT_THAT(weights, SizeIs(3));
  EXPECT_THAT(All(Parsed(weights[0]), 9), SizeIs(1));  // 8 bytes, in the model
  const std::vector<std::string> offsets = {"0", "4096"}, lengths = {"1200", "20000"};
  for (int i = 0; i < 2; ++i) {
    const Fields weight = Parsed(weights[1 + i]);
    EXPECT_THAT(All(weight, 9), IsEmpty());
    EXPECT_EQ(One(weight, 14), "1");
    std::map<std::string, std::string> entries;
    for (const std::string& entry : All(weight, 13)) entries[One(Parsed(entry), 1)] = One(Parsed(entry), 2);
    EXPECT_EQ(entries["location"], "m.data");
    EXPECT_EQ(entries["offset"], offsets[i]);
    EXPECT_EQ(entries["length"], lengths[i]);
  }
  const std::string data = absl::StrJoin(image.data.pieces, "");
  ASSERT_EQ(data.size(), 4096u + 20000u);
  EXPECT_EQ(data.substr(4096, 4), std::string("\0\0\x80\x3f", 4));
}

TEST(EncodeModelTest, AModelOf2GiBHasASecondFileInAnyCase) {
  constexpr int64_t kBytes = int64_t{1} << 30;
  onnx::Model model = SmallModel();
  const HostTensor large(DType::kUInt8, {kBytes});  // is neither read nor copied
  model.initializers.push_back({"a", large});
  EXPECT_EQ(onnx::EncodeModel(model, onnx::WeightsPlace::kModel, "m.data").data.size(), 0);
  model.initializers.push_back({"b", large});
  const onnx::ModelImage image = onnx::EncodeModel(model, onnx::WeightsPlace::kModel, "m.data");
  EXPECT_EQ(image.data.size(), 2 * kBytes);
  EXPECT_LT(image.model.size(), 1000);
}

}  // namespace
}  // namespace tandem
