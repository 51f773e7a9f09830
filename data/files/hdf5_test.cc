// HDF5 trees: what is written is read again, names that lead nowhere, damage, and files that cannot be written.
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/fault_injecting_env.h"
#include "data/files/hdf5_attributes.h"
#include "data/files/hdf5_reader.h"
#include "data/files/hdf5_tree.h"
#include "data/files/hdf5_writer.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

HostTensor Floats(Shape shape, const std::vector<float>& values) { return HostTensor::FromVector(shape, values); }

// A file of every kind of thing.
Hdf5Group SampleTree() {
  Hdf5Group root;
  root.attributes["keras_version"] = Hdf5Value::String("2.15.0");
  root.attributes["model_config"] = Hdf5Value::String(std::string(100000, 'x'));
  root.attributes["empty"] = Hdf5Value::String("");
  root.attributes["layer_names"] = Hdf5Value::Strings({"dense", "größe", ""});
  root.attributes["no_names"] = Hdf5Value::Strings({});
  root.attributes["numbers"] = {std::vector<int64_t>{1, -2, 3, 4, 5, INT64_MIN}, {2, 3}};
  root.attributes["rate"] = Hdf5Value::Float(0.1);
  root.attributes["step"] = Hdf5Value::Integer(7);
  root.MakeDataset("dense/dense/kernel:0", Floats({3, 2}, {1, 2, 3, 4, kInfinity, -6}));
  root.MakeDataset("dense/dense/bias:0", Floats({2}, {0.5, 1.5})).attributes["dtype"] = Hdf5Value::String("float32");
  root.MakeDataset("iteration", HostTensor::Scalar<int64_t>(12345678901));
  root.MakeDataset("bytes", HostTensor::FromVector({5}, std::vector<uint8_t>{1, 2, 3, 4, 255}));
  root.MakeDataset("doubles", HostTensor::FromVector({1, 2}, std::vector<double>{1e300, -1e-300}));
  root.MakeDataset("integers", HostTensor::FromVector({2}, std::vector<int32_t>{-1, 1}));
  root.MakeDataset("nothing", Floats({0, 4}, {}));
  root.MakeGroup("empty_group");
  return root;
}

std::string Serialized(const Hdf5Group& root) {
  const absl::StatusOr<std::string> bytes = SerializeHdf5(root);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.value_or("");
}

// Says where two trees differ; nothing where they do not. No list of strings has a type where it has no strings.
void ExpectSame(const Hdf5Group& a, const Hdf5Group& b, const std::string& path) {
  const auto same_attributes = [](const Hdf5Object& a, const Hdf5Object& b, const std::string& path) {
    EXPECT_EQ(a.attributes.size(), b.attributes.size()) << path;
    for (const auto& [name, value] : a.attributes) {
      ASSERT_EQ(b.attributes.count(name), 1u) << path << " " << name;
      const Hdf5Value& other = b.attributes.find(name)->second;
      EXPECT_TRUE(value == other || (value.shape == Shape{0} && other.shape == Shape{0})) << path << " " << name;
    }
  };
  same_attributes(a, b, path);
  ASSERT_EQ(a.groups.size(), b.groups.size()) << path;
  ASSERT_EQ(a.datasets.size(), b.datasets.size()) << path;
  for (const auto& [name, group] : a.groups) {
    ASSERT_EQ(b.groups.count(name), 1u) << path << " " << name;
    ExpectSame(*group, *b.groups.find(name)->second, absl::StrCat(path, "/", name));
  }
  for (const auto& [name, dataset] : a.datasets) {
    ASSERT_EQ(b.datasets.count(name), 1u) << path << " " << name;
    const Hdf5Dataset& other = b.datasets.find(name)->second;
    same_attributes(dataset, other, absl::StrCat(path, "/", name));
    const absl::StatusOr<HostTensor> left = dataset.Read(), right = other.Read();
    ASSERT_TRUE(left.ok() && right.ok()) << left.status() << right.status();
    EXPECT_TRUE(left->BitEqual(*right)) << path << "/" << name;
  }
}

TEST(Hdf5Test, WhatIsWrittenIsReadAgain) {
  const Hdf5Group tree = SampleTree();
  const std::string bytes = Serialized(tree);
  EXPECT_EQ(bytes, Serialized(tree)) << "equal trees give equal bytes";
  const absl::StatusOr<Hdf5Group> read = ParseHdf5(bytes, "sample.h5");
  ASSERT_TRUE(read.ok()) << read.status();
  ExpectSame(tree, *read, "");
  // A tree of a file is written as any other.
  EXPECT_EQ(Serialized(*read).size(), bytes.size());
  const absl::StatusOr<Hdf5Group> again = ParseHdf5(Serialized(*read), "again.h5");
  ASSERT_TRUE(again.ok()) << again.status();
  ExpectSame(tree, *again, "");
}

// More names than one node has, and more nodes than a tree's first level.
TEST(Hdf5Test, GroupsMayHaveManyMembers) {
  for (int count : {0, 1, 8, 9, 256, 257, 9000}) {
    Hdf5Group tree;
    for (int i = 0; i < count; ++i) tree.MakeDataset(absl::StrCat("v", i), HostTensor::Scalar<int32_t>(i));
    const absl::StatusOr<Hdf5Group> read = ParseHdf5(Serialized(tree), "many.h5");
    ASSERT_TRUE(read.ok()) << count << " " << read.status();
    ExpectSame(tree, *read, "");
  }
}

TEST(Hdf5Test, GroupsMayBeNestedSoDeep) {
  const auto nested = [](int depth) {
    Hdf5Group tree;
    std::string path = "g";
    for (int i = 1; i < depth; ++i) path += "/g";
    tree.MakeGroup(path);
    return SerializeHdf5(tree);
  };
  const absl::StatusOr<std::string> deepest = nested(64);
  ASSERT_TRUE(deepest.ok()) << deepest.status();
  EXPECT_TRUE(ParseHdf5(*deepest, "deep.h5").ok());
  EXPECT_TRUE(absl::StrContains(nested(65).status().message(), "64 groups in each other"));
}

TEST(Hdf5Test, NamesThatLeadNowhere) {
  const absl::StatusOr<Hdf5Group> root = ParseHdf5(Serialized(SampleTree()), "f.h5");
  ASSERT_TRUE(root.ok()) << root.status();
  EXPECT_EQ(*root->Group(""), &*root);
  EXPECT_NE(root->FindGroup("dense/dense"), nullptr);
  EXPECT_EQ(root->FindDataset("dense"), nullptr);
  const absl::Status near = root->Dataset("dense/dense/kernle:0").status();
  EXPECT_EQ(near.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(near.message(),
            "f.h5: /dense/dense: the group has no data set \"kernle:0\"; did you mean \"kernel:0\"?; it has bias:0, "
            "kernel:0");
  EXPECT_TRUE(absl::StrContains(root->Group("empty_group/a/b").status().message(), "no group \"a\"; it is empty"));
  EXPECT_EQ(root->Dataset("../f").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(root->Dataset("").status().code(), absl::StatusCode::kNotFound);
  const absl::Status group = root->Dataset("dense").status();
  EXPECT_EQ(group.message(), "f.h5: /: \"dense\" is a group, and a data set is needed here");
  EXPECT_EQ(group.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(root->Group("bytes/x").status().message(), "f.h5: /: \"bytes\" is a data set, and a group is needed here");
}

TEST(Hdf5Test, FloatsAreFloat32) {
  Hdf5Group tree;
  tree.MakeDataset("d", HostTensor::FromVector({3}, std::vector<double>{0.1, -HUGE_VAL, std::nan("")}));
  tree.MakeDataset("large", HostTensor::FromVector({2}, std::vector<double>{1, 1e39}));
  tree.MakeDataset("i", HostTensor::Scalar<int64_t>(3));
  const absl::StatusOr<Hdf5Group> root = ParseHdf5(Serialized(tree), "f.h5");
  ASSERT_TRUE(root.ok()) << root.status();
  const absl::StatusOr<HostTensor> floats = root->FindDataset("d")->ReadFloat32();
  ASSERT_TRUE(floats.ok()) << floats.status();
  EXPECT_EQ(floats->values<float>()[0], 0.1f);
  EXPECT_EQ(floats->values<float>()[1], -kInfinity);
  EXPECT_TRUE(std::isnan(floats->values<float>()[2]));
  const absl::Status large = root->FindDataset("large")->ReadFloat32().status();
  EXPECT_EQ(large.message(),
            "f.h5: /large: element 1 is 1e+39, which is beyond float32; scale it before it is written");
  const absl::Status integers = root->FindDataset("i")->ReadFloat32().status();
  EXPECT_EQ(integers.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(integers.message(), "f.h5: /i: the numbers are int64, and floats are needed here; write them as float32");
}

TEST(Hdf5Test, ListsOfNamesAreCut) {
  std::vector<std::string> names;
  for (int i = 0; i < 1001; ++i) names.push_back(absl::StrCat("layer_", std::string(150, 'n'), i));
  Hdf5Group tree;
  for (int old = 0; old < 5; ++old) tree.attributes[absl::StrCat("weight_names", old)] = Hdf5Value::Strings({"old"});
  ASSERT_TRUE(SetStringList(&tree, "weight_names", names).ok());
  ASSERT_EQ(tree.attributes.size(), 3u);  // 1001 x 160 bytes in parts of at most 64,512
  EXPECT_EQ(tree.attributes["weight_names0"].shape, (Shape{334}));
  EXPECT_EQ(tree.attributes["weight_names2"].shape, (Shape{333}));
  const absl::StatusOr<Hdf5Group> root = ParseHdf5(Serialized(tree), "f.h5");
  ASSERT_TRUE(root.ok()) << root.status();
  const absl::StatusOr<std::vector<std::string>> read = GetStringList(*root, "weight_names");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, names);
  ASSERT_TRUE(SetStringList(&tree, "weight_names", {"a", "b"}).ok());
  EXPECT_EQ(tree.attributes.size(), 1u);
  EXPECT_EQ(*GetStringList(tree, "weight_names"), (std::vector<std::string>{"a", "b"}));
  const absl::Status longest = SetStringList(&tree, "weight_names", {std::string(70000, 'n')});
  EXPECT_TRUE(absl::StrContains(longest.message(), "a name of 70000 bytes")) << longest;
}

TEST(Hdf5Test, AttributesOfOtherKinds) {
  const absl::StatusOr<Hdf5Group> root = ParseHdf5(Serialized(SampleTree()), "f.h5");
  ASSERT_TRUE(root.ok()) << root.status();
  EXPECT_EQ(*GetString(*root, "keras_version"), "2.15.0");
  EXPECT_EQ(*GetString(*root, "empty"), "");
  EXPECT_TRUE(GetStringList(*root, "no_names")->empty());
  EXPECT_EQ((*GetStringList(*root, "layer_names"))[1], "größe");
  const absl::Status absent = GetString(*root, "model_confg").status();
  EXPECT_EQ(absent.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(
      absent.message(),
      "f.h5: /: there is no attribute \"model_confg\"; did you mean \"model_config\"?; a file that Keras wrote has "
      "it");
  const absl::Status number = GetString(*root, "step").status();
  EXPECT_EQ(number.message(),
            "f.h5: /: the attribute \"step\" should be a string, and it has numbers of the shape []; a file that Keras "
            "wrote has it so");
  EXPECT_EQ(GetString(*root, "layer_names").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GetStringList(*root, "keras_version").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GetStringList(*root, "numbers").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GetStringList(*root, "absent").status().code(), absl::StatusCode::kNotFound);
}

TEST(Hdf5Test, WhatNoFileHolds) {
  const auto error = [](const auto& change) {
    Hdf5Group tree;
    change(tree);
    const absl::Status status = SerializeHdf5(tree).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  };
  const auto has = [](const std::string& message, absl::string_view part) {
    EXPECT_TRUE(absl::StrContains(message, part)) << message;
  };
  has(error([](Hdf5Group& t) { t.MakeDataset("a//b", Floats({}, {1})); }), "cannot have /a/: a name is UTF-8");
  has(error([](Hdf5Group& t) { t.MakeGroup("."); }), "cannot have /.: a name");
  has(error([](Hdf5Group& t) { t.datasets["a/b"] = t.MakeDataset("x", Floats({}, {1})); }), "make a group for what");
  has(error([](Hdf5Group& t) { t.MakeGroup("\xff"); }), "cannot have /\\xff: a name is UTF-8");
  has(error([](Hdf5Group& t) { t.MakeGroup(std::string(4097, 'n')); }), "of 1 to 4096 bytes");
  has(error([](Hdf5Group& t) { t.MakeDataset("a", Floats({}, {1})), t.MakeGroup("a"); }),
      "cannot have /a: it is a group and a data set");
  has(error([](Hdf5Group& t) { t.MakeDataset("a", HostTensor()); }), "/a: the tensor is empty");
  has(error([](Hdf5Group& t) { t.MakeDataset("a", HostTensor::Scalar(true)); }),
      "/a: its values are bool, and numbers are written; convert bools to uint8");
  has(error([](Hdf5Group& t) { t.MakeDataset("a", HostTensor::String("s")); }), "/a: its values are string");
  has(error([](Hdf5Group& t) { t.MakeDataset("a", Floats(Shape(33, 1), {1})); }), "/a: it has 33 dimensions");
  has(error([](Hdf5Group& t) { t.attributes["s"] = Hdf5Value::String(std::string("a\0b", 3)); }),
      "/, attribute s: the text \"a\\x00b\" is not UTF-8, or has a zero");
  has(error([](Hdf5Group& t) { t.attributes["s"] = Hdf5Value::Strings({"\xff"}); }), "attribute s: the text");
  has(error([](Hdf5Group& t) { t.attributes[""] = Hdf5Value::Integer(1); }), "its name has 0 bytes");
  has(error([](Hdf5Group& t) {
        t.attributes["n"] = {std::vector<int64_t>{1, 2}, {3}};
      }),
      "attribute n: there are 2 elements of the shape [3]");
  has(error([](Hdf5Group& t) { t.attributes["n"] = Hdf5Value::Strings(std::vector<std::string>(70000, "s")); }),
      "attribute n: it has 70000 bytes, more than an attribute holds; SetStringList");
}

TEST(Hdf5Test, FilesAreReplacedAsAWhole) {
  const std::string dir = JoinPath(testing::TempDir(), "hdf5_replaced");
  ASSERT_TRUE(Env::Default()->CreateDirs(dir).ok());
  const std::string path = JoinPath(dir, "w.h5");
  Hdf5Group before;
  before.attributes["step"] = Hdf5Value::Integer(1);
  ASSERT_TRUE(WriteHdf5(Env::Default(), path, before).ok());
  for (FileOp op : {FileOp::kCreate, FileOp::kWrite, FileOp::kSync, FileOp::kRename}) {
    FaultInjectingEnv env(Env::Default());
    env.FailNth(op, 1, ENOSPC);
    const absl::Status status = WriteHdf5(&env, path, SampleTree());
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(absl::StrContains(status.message(), "w.h5")) << status;
    EXPECT_EQ(Env::Default()->ListDir(dir)->size(), 1u) << "nothing is left";
    const absl::StatusOr<Hdf5Group> old = ReadHdf5(Env::Default(), path);
    ASSERT_TRUE(old.ok()) << old.status();
    ExpectSame(before, *old, "");
  }
  FaultInjectingEnv env(Env::Default());
  ASSERT_TRUE(WriteHdf5(&env, path, SampleTree()).ok());
  EXPECT_EQ(env.trace().back(), "sync-dir hdf5_replaced");
  const absl::StatusOr<Hdf5Group> now = ReadHdf5(Env::Default(), path);
  ASSERT_TRUE(now.ok()) << now.status();
  ExpectSame(SampleTree(), *now, "");
  EXPECT_EQ(ReadHdf5(Env::Default(), JoinPath(dir, "absent.h5")).status().code(), absl::StatusCode::kNotFound);
}

TEST(Hdf5Test, CutFilesAreErrors) {
  Hdf5Group tree;
  tree.attributes["names"] = Hdf5Value::Strings({"a", "b"});
  tree.MakeDataset("d/v", Floats({3}, {1, 2, 3}));
  const std::string good = Serialized(tree);
  ASSERT_TRUE(ParseHdf5(good, "f.h5").ok());
  for (size_t size = 0; size < good.size(); ++size) {
    const absl::Status status = ParseHdf5(good.substr(0, size), "f.h5").status();
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << size << status;
    ASSERT_TRUE(absl::StartsWith(status.message(), "f.h5: ")) << status;
  }
}

// One byte after another is changed: an error with the file's name, or a tree whose data can be read.
TEST(Hdf5Test, DamageIsAnErrorOrATree) {
  Hdf5Group tree = SampleTree();
  tree.attributes["model_config"] = Hdf5Value::String("{}");
  const std::string good = Serialized(tree);
  int errors = 0, trees = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
    const absl::StatusOr<Hdf5Group> root = ParseHdf5(bad, "f.h5");
    (root.ok() ? trees : errors) += 1;
    if (!root.ok()) {
      ASSERT_TRUE(absl::StartsWith(root.status().message(), "f.h5: ")) << root.status();
      continue;
    }
    for (const auto& [name, dataset] : root->datasets) dataset.Read().IgnoreError();
  }
  EXPECT_GT(errors, 500);
  EXPECT_GT(trees, 500);
}

// Changes of a file of one data set: what must be refused, and in which words.
TEST(Hdf5Test, Superblocks) {
  Hdf5Group tree;
  tree.MakeDataset("v", Floats({3}, {1, 2, 3}));
  const std::string good = Serialized(tree);
  const auto error = [&](size_t at, char value) {
    std::string bad = good;
    bad[at] = value;
    return std::string(ParseHdf5(bad, "f.h5").status().message());
  };
  EXPECT_TRUE(absl::StrContains(error(0, 'x'), "f.h5: offset 0: it does not begin as HDF5 files do"));
  EXPECT_TRUE(absl::StrContains(ParseHdf5("PK\3\4abcdefgh", "m.h5").status().message(), "a zip archive, as .keras"));
  EXPECT_TRUE(absl::StrContains(error(8, 4), "offset 8: /: a superblock of version 4"));
  EXPECT_TRUE(absl::StrContains(error(13, 4), "addresses or sizes that do not have 8 bytes"));
  EXPECT_TRUE(absl::StrContains(error(25, 1), "a file within a file"));
  EXPECT_TRUE(absl::StrContains(error(43, 1), "and it has"));
  EXPECT_TRUE(absl::StrContains(error(66, 1), "lies outside of the file"));
}

// A tree that leads over itself: 2^20 paths to one group in a few KB end soon.
TEST(Hdf5Test, TheSameBytesAreNotReadForEver) {
  Hdf5Group tree;
  std::string path = "g";
  for (int i = 0; i < 40; ++i) {
    tree.MakeGroup(absl::StrCat(path, "/a"));
    tree.MakeGroup(absl::StrCat(path, "/b"));
    path += "/a";
  }
  std::string bytes = Serialized(tree);
  // Both entries of each group lead to the first one's object.
  int changed = 0;
  for (size_t at = 0; (at = bytes.find(std::string("SNOD\1\0\2\0", 8), at)) != std::string::npos; ++at) {
    std::memcpy(&bytes[at + 8 + 40 + 8], &bytes[at + 8 + 8], 8);
    ++changed;
  }
  EXPECT_EQ(changed, 40);
  const absl::Status status = ParseHdf5(bytes, "f.h5").status();
  EXPECT_TRUE(absl::StrContains(status.message(), "leads over the same bytes too often")) << status;
}

}  // namespace
}  // namespace tandem
