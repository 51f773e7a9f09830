#include "estimator/serving/server/predict_body.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/serving/server/json_reader.h"
#include "estimator/serving/server/predictions_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<TensorSignature>& OneInput() {
  static const auto* inputs = new std::vector<TensorSignature>{{"x", DType::kFloat32, {kBatch, 2, 3}}};
  return *inputs;
}

const std::vector<TensorSignature>& TwoInputs() {
  static const auto* inputs =
      new std::vector<TensorSignature>{{"a", DType::kInt32, {kBatch}}, {"flags", DType::kBool, {kBatch, 2}}};
  return *inputs;
}

std::string ErrorOf(absl::string_view text, const std::vector<TensorSignature>& inputs = OneInput()) {
  const auto body = ParsePredictBody(text, inputs);
  EXPECT_EQ(body.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(body.status().message());
}

TEST(PredictBody, RowsOfTheOnlyInput) {
  for (const char* text : {R"({"instances": [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [-1, 1e2, 0.25]]]})",
                           R"({"instances":[{"x":[[1,2,3],[4,5,6]]},[[7,8,9],[-1,1e2,0.25]]]})",
                           R"({"inputs": [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [-1, 1e2, 0.25]]]})",
                           R"( {"signature_name":"serving_default", "inputs": {"\u0078": [[[1,2,3],[4,5,6]],
                               [[7,8,9],[-1,1e2,0.25]]]}} )"}) {
    const auto body = ParsePredictBody(text, OneInput());
    ASSERT_TRUE(body.ok()) << body.status() << text;
    EXPECT_EQ(body->rows, 2);
    const HostTensor& x = body->inputs.at("x");
    EXPECT_EQ(x.shape(), (Shape{2, 2, 3}));
    EXPECT_THAT(x.values<float>(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 100, 0.25));
  }
}

TEST(PredictBody, SeveralInputs) {
  const char* rows = R"({"instances": [{"flags": [true, false], "a": 7}, {"a": -8, "flags": [false, false]}]})";
  const char* columns = R"({"inputs": {"flags": [[true, false], [false, false]], "a": [7, -8]}})";
  for (const char* text : {rows, columns}) {
    const auto body = ParsePredictBody(text, TwoInputs());
    ASSERT_TRUE(body.ok()) << body.status();
    EXPECT_EQ(body->form, text == rows ? BodyForm::kRows : BodyForm::kColumns);
    EXPECT_THAT(body->inputs.at("a").values<int32_t>(), ElementsAre(7, -8));
    const bool* flags = body->inputs.at("flags").data<bool>();
    EXPECT_TRUE(flags[0] && !flags[1] && !flags[2] && !flags[3]);
  }
}

TEST(PredictBody, NoRows) {
  for (const char* text : {R"({"instances": []})", R"({"inputs": []})", R"({"inputs": {"x": []}})"}) {
    const auto body = ParsePredictBody(text, OneInput());
    ASSERT_TRUE(body.ok()) << body.status();
    EXPECT_EQ(body->rows, 0);
    EXPECT_EQ(body->inputs.at("x").shape(), (Shape{0, 2, 3}));
  }
}

TEST(PredictBody, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(ErrorOf(R"({"instances": [[[1, 2, 3], [4, "x", 6]]]})"),
            "instances[0][1][1]: there is a string where float32 is expected (byte 31 of the body)");
  EXPECT_THAT(ErrorOf(R"({"instances": [[[1, 2, 3], [4, 5, 6]], [[1, 2], [4, 5, 6]]]})"),
              HasSubstr("instances[1][0]: there is ] where \",\" and the next of 3 values is expected"));
  EXPECT_THAT(ErrorOf(R"({"instances": [[[1, 2, 3, 4], [4, 5, 6]]]})"),
              HasSubstr("instances[0][0]: there is , where the end of a list of 3 values is expected"));
  EXPECT_THAT(ErrorOf(R"({"instances": [[1, 2]]})"),
              HasSubstr("instances[0][0]: there is 1 where a list of 3 values is expected"));
  EXPECT_THAT(ErrorOf(R"({"instances": [{"x": [[1, 2, 3], [4, 5, null]]}]})"),
              HasSubstr("instances[0].x[1][2]: there is null where float32 is expected"));
  EXPECT_THAT(ErrorOf(R"({"inputs": {"x": 3}})"), HasSubstr("inputs.x: there is 3 where a list of rows is expected"));
  EXPECT_THAT(ErrorOf(R"({"instances": [{"a": 1}]})", TwoInputs()),
              HasSubstr("instances[0]: input \"flags\" is missing; the model takes it as bool[b,2]"));
  EXPECT_THAT(ErrorOf(R"({"instances": [{"a": 1, "flag": [true, true]}]})", TwoInputs()),
              HasSubstr("instances[0]: \"flag\" is no input of the model; did you mean \"flags\"?"));
  EXPECT_THAT(ErrorOf(R"({"instances": [{"a": 1, "a": 1}]})", TwoInputs()), HasSubstr("\"a\" is there twice"));
  EXPECT_THAT(ErrorOf(R"({"inputs": {"a": [1], "flags": []}})", TwoInputs()),
              HasSubstr("\"flags\" has 0 rows, and \"a\" has 1"));
  EXPECT_THAT(ErrorOf(R"({"inputs": {"a": [1], "a": [1]}})", TwoInputs()), HasSubstr("twice"));
  EXPECT_THAT(ErrorOf(R"({"inputs": {"a": [1]}})", TwoInputs()), HasSubstr("inputs: input \"flags\" is missing"));
  EXPECT_THAT(ErrorOf(R"({"instances": [], "inputs": []})"), HasSubstr("twice"));
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("no \"instances\""));
  EXPECT_THAT(ErrorOf(R"({"instance": []})"), HasSubstr("did you mean \"instances\"?"));
  EXPECT_THAT(ErrorOf(R"({"signature_name": "train", "instances": []})"), HasSubstr("no signature \"train\""));
  EXPECT_THAT(ErrorOf(""), HasSubstr("the body: there is the end of the body where an object is expected (byte 0"));
  EXPECT_THAT(ErrorOf(R"({"instances": []} x)"), HasSubstr("there is x where the end is expected"));
  EXPECT_THAT(ErrorOf("{\"instances\": [\"\x01\xff"), HasSubstr("a string"));
}

TEST(PredictBody, EveryTruncatedBodyIsAnError) {
  const std::string text = R"({"instances": [{"x": [[1, 2, 3], [4, 5, 6]]}, [[7, 8, 9], [-1, 1e2, 0.25]]]})";
  ASSERT_TRUE(ParsePredictBody(text, OneInput()).ok());
  for (size_t size = 0; size < text.size(); ++size) ErrorOf(text.substr(0, size));
}

template <typename T>
bool Reads(absl::string_view text, T* value) {
  JsonReader reader(text);
  return reader.ReadValue(value) && reader.ReadEnd().ok();
}

TEST(JsonReader, Numbers) {
  float f = 0;
  EXPECT_TRUE(Reads("-0.5e1", &f) && f == -5);
  EXPECT_TRUE(Reads("1e-60", &f) && f == 0);
  EXPECT_TRUE(Reads("1e-45", &f) && f > 0) << "denormal";
  EXPECT_TRUE(Reads("NaN", &f) && std::isnan(f));
  EXPECT_TRUE(Reads("-Infinity", &f) && f == -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(Reads("Infinity", &f) && f == std::numeric_limits<float>::infinity());
  for (const char* text : {"1e39", "-1e400", "01", "+1", ".5", "1.", "-", "--1", "nan", "inf", "0x10", "true", "1 2"}) {
    EXPECT_FALSE(Reads(text, &f)) << text;
  }
  double d = 0;
  EXPECT_TRUE(Reads("1e-400", &d) && d == 0);
  EXPECT_FALSE(Reads("1e400", &d));
  int32_t i = 0;
  EXPECT_TRUE(Reads("-2147483648", &i) && i == std::numeric_limits<int32_t>::min());
  for (const char* text : {"2147483648", "1.0", "1e3", "NaN", "-", ""}) EXPECT_FALSE(Reads(text, &i)) << text;
  int64_t l = 0;
  EXPECT_TRUE(Reads("9223372036854775807", &l) && l == std::numeric_limits<int64_t>::max());
  uint8_t u = 0;
  EXPECT_TRUE(Reads("255", &u) && u == 255);
  EXPECT_FALSE(Reads("256", &u) || Reads("-1", &u));
}

TEST(JsonReader, Strings) {
  std::string s;
  JsonReader good(R"("a\"\\\/\b\f\n\r\t\u00e4\u20AC\ud83d\ude00")");
  ASSERT_TRUE(good.ReadString(&s));
  EXPECT_EQ(s, "a\"\\/\b\f\n\r\t\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  for (const char* text : {"\"a", "\"a\nb\"", R"("\x")", R"("\u12")", R"("\u12g4")", R"("\ud83d")", R"("\ud83dx")",
                           R"("\ude00")", R"("\ud83d\u0041")", "\"\\"}) {
    JsonReader bad(text);
    EXPECT_FALSE(bad.ReadString(&s)) << text;
  }
}

Prediction Of(NamedTensors outputs, int64_t begin, int64_t rows) {
  return {std::make_shared<const NamedTensors>(std::move(outputs)), begin, rows};
}

TEST(PredictionsJson, RowsAndColumns) {
  const HostTensor y = HostTensor::FromVector<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(PredictionsJson(Of({{"y", y}}, 1, 2), BodyForm::kRows), "{\"predictions\":[[3.0,4.0],[5.0,6.0]]}\n");
  EXPECT_EQ(PredictionsJson(Of({{"y", y}}, 1, 1), BodyForm::kColumns), "{\"outputs\":[[3.0,4.0]]}\n");
  EXPECT_EQ(PredictionsJson(Of({{"y", y}}, 0, 0), BodyForm::kRows), "{\"predictions\":[]}\n");
  const HostTensor n = HostTensor::FromVector<int64_t>({3}, {7, 8, -9});
  EXPECT_EQ(PredictionsJson(Of({{"y", y}, {"a \"n\"", n}}, 2, 1), BodyForm::kRows),
            "{\"predictions\":[{\"a \\\"n\\\"\":-9,\"y\":[5.0,6.0]}]}\n");
  EXPECT_EQ(PredictionsJson(Of({{"y", y}, {"n", n}}, 1, 2), BodyForm::kColumns),
            "{\"outputs\":{\"n\":[8,-9],\"y\":[[3.0,4.0],[5.0,6.0]]}}\n");
}

TEST(PredictionsJson, NumbersReadBackAsTheSameValue) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {0.1f,  1e-7f, 16777216, 3.4028235e38f, 1e-45f,
                                     -0.0f, 1e20f, NAN,      -kInfinity,    kInfinity};
  const HostTensor y = HostTensor::FromVector<float>({1, static_cast<int64_t>(values.size())}, values);
  const std::string text = PredictionsJson(Of({{"y", y}}, 0, 1), BodyForm::kColumns);
  EXPECT_EQ(text, "{\"outputs\":[[0.1,1e-07,16777216.0,3.4028235e+38,1e-45,-0.0,1e+20,NaN,-Infinity,Infinity]]}\n");
  const std::string back = absl::StrCat("{\"inputs\": ", text.substr(11));
  const auto body = ParsePredictBody(back, {{"y", DType::kFloat32, {kBatch, y.shape()[1]}}});
  ASSERT_TRUE(body.ok()) << body.status();
  for (size_t i = 0; i < values.size(); ++i) {
    const float value = body->inputs.at("y").data<float>()[i];
    EXPECT_TRUE(std::isnan(values[i]) ? std::isnan(value) : std::memcmp(&value, &values[i], sizeof value) == 0) << i;
  }
}

}  // namespace
}  // namespace tandem::serving
