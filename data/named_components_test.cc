// Components by name, in all functions of users; what they ask for that is not there is an error of their element.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "data/dataset.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

// age, height, name.
Dataset People() {
  return Dataset::FromTensorSlices(
      {{"age", HostTensor::FromVector<float>({4}, {10, 20, 30, 40})},
       {"height", HostTensor::FromVector<int64_t>({4}, {101, 102, 103, 104})},
       {"name", HostTensor::FromStrings({4}, std::vector<std::string>{"a", "b", "c", "d"})}});
}

// The error of the first element.
std::string FirstError(const Dataset& dataset) {
  if (!dataset.status().ok()) return std::string(dataset.status().message());
  auto it = dataset.MakeIterator();
  if (!it.ok()) return std::string(it.status().message());
  Element element;
  bool end = false;
  return std::string((*it)->GetNext(&element, &end).message());
}

void ExpectParts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_TRUE(absl::StrContains(message, part)) << message << "\nlacks " << part;
}

TEST(NamedComponentsTest, InMap) {
  const Dataset dataset = People().Map([](const Element& in) -> absl::StatusOr<Element> {
    Element out;
    out.Set("y", in.Get<int64_t>("height") + 0.5);
    out.Set("text", absl::StrCat(in.Get<std::string>("name"), "!"));
    out.Set("x", in["age"]);
    return out;
  });
  EXPECT_EQ(SpecString(dataset.spec()), "y:float64[], text:string[], x:float32[]");
  const std::vector<Element> all = Read(dataset);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].Get<double>("y"), 102.5);
  EXPECT_EQ(all[2].Get<absl::string_view>("text"), "c!");
  EXPECT_EQ(all[3].Get<float>("x"), 40);
}

TEST(NamedComponentsTest, ChangeOneAndKeepTheOthers) {
  const Dataset dataset = People().Map([](const Element& in) -> absl::StatusOr<Element> {
    Element out = in;
    out.Set("age", in.Get<float>("age") * 2);
    out.Set("old", in.Get<float>("age") > 25);
    return out;
  });
  EXPECT_EQ(SpecString(dataset.spec()), "age:float32[], height:int64[], name:string[], old:bool[]");
  const std::vector<Element> all = Read(dataset);
  EXPECT_EQ(all[2].Get<float>("age"), 60);
  EXPECT_EQ(all[2].Get<bool>("old"), true);
  EXPECT_EQ(all[1].Get<bool>("old"), false);
}

// By name, in whatever order, where the description has another; by number where nothing was named.
TEST(NamedComponentsTest, InTheOrderOfTheDescription) {
  const std::vector<ComponentSpec> spec = {{"b", DType::kInt32, {}}, {"a", DType::kFloat32, {}}};
  const auto any_order = [](const Element& in) -> absl::StatusOr<Element> {
    Element out;
    const bool first = in.Get<float>("age") < 25;
    if (first) out.Set("a", 1.0f);
    out.Set("b", 2);
    if (!first) out.Set("a", 3.0f);
    return out;
  };
  for (const Dataset& dataset :
       {People().Map(any_order, {.spec = spec}), People().Map(any_order, {.names = {"b", "a"}})}) {
    const std::vector<Element> all = Read(dataset);
    ASSERT_EQ(all.size(), 4u);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(*all[i].components[0].data<int32_t>(), 2);
      EXPECT_EQ(*all[i].components[1].data<float>(), i < 2 ? 1 : 3);
    }
  }
  const auto swapped = [](const Element& in) -> absl::StatusOr<Element> {
    Element out = in;
    out.components = {in.components[1], in.components[0]};
    return out;
  };
  EXPECT_EQ(Read(People().Map(swapped, {.names = {"height", "age"}}))[0].Get<int64_t>("height"), 101);
}

TEST(NamedComponentsTest, InEveryFunction) {
  const auto young = [](const Element& in) -> absl::StatusOr<bool> { return in.Get<float>("age") < 25; };
  EXPECT_EQ(Read(People().Filter(young)).size(), 2u);
  EXPECT_EQ(Read(People().TakeWhile(young)).size(), 2u);
  const auto parity = [](const Element& in) -> absl::StatusOr<std::string> {
    return absl::StrCat(in.Get<int64_t>("height") % 2);
  };
  EXPECT_EQ(Read(People().Dedupe(parity)).size(), 2u);
  const auto twice = [](const Element& in) -> absl::StatusOr<Dataset> {
    return Dataset::Range(in.Get<int64_t>("height") - 100);
  };
  EXPECT_EQ(Read(People().FlatMap(twice)).size(), 1u + 2 + 3 + 4);
  const auto length = [](const Element& in) -> absl::StatusOr<int64_t> { return in.Get<int64_t>("height"); };
  EXPECT_EQ(Read(People().BucketBySequenceLength(length, {103}, {2, 2})).size(), 2u);
  const Dataset into = People().MapInto(
      [](const Element& in, absl::Span<const ComponentBuffer> out) -> absl::Status {
        *static_cast<float*>(out[0].memory) = in.Get<float>("age");
        return absl::OkStatus();
      },
      {.spec = {{"x", DType::kFloat32, {}}}});
  EXPECT_EQ(Read(into)[3].Get<float>("x"), 40);
  // Of batches, and of stages in between.
  const Dataset batches = People().Shuffle(4).Batch(2).Filter(
      [](const Element& in) -> absl::StatusOr<bool> { return in["age"].values<float>().size() == 2; });
  EXPECT_EQ(Read(batches).size(), 2u);
  const Dataset sums = Dataset::Range(4).Scan(
      [] {
        Element zero;
        zero.Set("count", int64_t{0});
        zero.Set("sum", int64_t{0});
        return zero;
      }(),
      [](const Element& state, const Element& in, Element* next) -> absl::StatusOr<Element> {
        next->Set("sum", state.Get<int64_t>("sum") + in.Get<int64_t>("value"));
        next->Set("count", state.Get<int64_t>("count") + 1);
        Element out;
        out.Set("mean", static_cast<double>(next->Get<int64_t>("sum")) / next->Get<int64_t>("count"));
        out.Set("n", next->Get<int64_t>("count"));
        return out;
      },
      {{"n", DType::kInt64, {}}, {"mean", DType::kFloat64, {}}});
  EXPECT_EQ(Read(sums)[3].Get<double>("mean"), 1.5);
  const Dataset made = Dataset::FromGenerator(
      [](int64_t* position, Element* out, bool* end) -> absl::Status {
        *end = *position == 3;
        out->Set("b", *position * 0.5f);
        out->Set("a", *position);
        ++*position;
        return absl::OkStatus();
      },
      {{"a", DType::kInt64, {}}, {"b", DType::kFloat32, {}}});
  ASSERT_EQ(Read(made).size(), 3u);
  EXPECT_EQ(Read(made)[2].Get<int64_t>("a"), 2);
}

template <typename F>
std::string ErrorOf(F f) {
  return FirstError(People().Map(
      [f](const Element& in) -> absl::StatusOr<Element> {
        Element out;
        out.Set("x", f(in));
        return out;
      },
      {.spec = {{"x", DType::kFloat32, {}}}}));
}

TEST(NamedComponentsTest, WhatIsNotThereIsAnErrorOfTheElement) {
  int line = __LINE__ + 1;
  ExpectParts(ErrorOf([](const Element& in) { return in.Get<float>("agee"); }),
              {absl::StrCat("named_components_test.cc:", line, ": component 'agee' is not there"),
               "the element has 'age', 'height', 'name'; did you mean 'age'?", "Map, element 0 of the source"});
  ExpectParts(ErrorOf([](const Element& in) { return in["hight"].data<float>()[0]; }),
              {"component 'hight' is not there", "did you mean 'height'?"});
  ExpectParts(ErrorOf([](const Element& in) { return in.Get<float>("height"); }),
              {"component 'height' is int64, not float32; ask for Get<int64_t>"});
  ExpectParts(ErrorOf([](const Element& in) { return in.Get<float>("name"); }), {"ask for Get<std::string>"});
  line = __LINE__ + 1;
  ExpectParts(ErrorOf([](const Element& in) { return in.components[1].data<float>()[0]; }),
              {absl::StrCat("named_components_test.cc:", line, ": HostTensor::data<float>: the tensor is int64 []"),
               "ask for data<int64_t>()"});
  ExpectParts(ErrorOf([](const Element&) { return HostTensor::FromVector<float>({2}, {1}).data<float>()[1]; }),
              {"the shape [2] has 2 elements, but 1 value is given"});
  ExpectParts(FirstError(People().Batch(2).Filter(
                  [](const Element& in) -> absl::StatusOr<bool> { return in.Get<float>("age") > 0; })),
              {"component 'age' has 2 elements, not one", "in[\"age\"] has them all", "Filter"});
}

TEST(NamedComponentsTest, NamesOfResults) {
  const MapOptions spec = {.spec = {{"x", DType::kFloat32, {}}, {"y", DType::kFloat32, {}}}};
  const auto sets = [](std::vector<std::string> names) {
    return [names](const Element& in) -> absl::StatusOr<Element> {
      Element out;
      for (const std::string& name : names) out.Set(name, in["age"]);
      return out;
    };
  };
  ExpectParts(FirstError(People().Map(sets({"x"}), spec)), {"the function sets no component 'y'; it sets 'x'"});
  ExpectParts(FirstError(People().Map(sets({"x", "y", "z"}), spec)),
              {"the function sets a component 'z', which is none of those described, 'x', 'y'"});
  ExpectParts(FirstError(People().Map([](const Element& in) -> absl::StatusOr<Element> {
                Element out;
                out.components = {in["age"]};
                out.Set("x", in["age"]);
                return out;
              })),
              {"Element::Set(\"x\"): the element has 1 components without names"});
}

}  // namespace
}  // namespace tandem
