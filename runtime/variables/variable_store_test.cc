#include "runtime/variables/variable_store.h"
#include "runtime/format/index.h"

#include <cmath>

#include "base/normal_quantile.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

format::Initializer Init(int kind, double a, double b) {
  format::Initializer init;
  init.kind = kind;
  init.a = a;
  init.b = b;
  return init;
}

TEST(VariableStoreTest, CreateReadAssign) {
  VariableStore store(3);
  ASSERT_TRUE(store.Create({"w", DType::kFloat32, {2, 3}, true}).ok());
  ASSERT_TRUE(store.Create({"w/Adam", DType::kFloat32, {2, 3}, false, "w"}).ok());
  EXPECT_TRUE(store.Create({"w", DType::kFloat32, {2, 3}}).ok());
  absl::Status differs = store.Create({"w", DType::kFloat32, {3, 2}});
  EXPECT_EQ(differs.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(differs.message().find("[2,3]"), absl::string_view::npos) << differs;

  EXPECT_FALSE(store.Info("w")->initialized);
  HostTensor value = HostTensor::FromVector<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(store.Assign("w", value).ok());
  EXPECT_TRUE(store.Read("w")->BitEqual(value));
  for (int d = 0; d < 3; ++d) {
    EXPECT_EQ(static_cast<float*>(store.Buffer("w", d))[5], 6);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(store.Buffer("w", d)) % 64, 0u);
  }
  EXPECT_EQ(store.Assign("w", HostTensor::Zeros(DType::kFloat32, {6})).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store.Read("v").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store.Buffer("v", 0), nullptr);
  auto list = store.List();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].slot_of, "w");
  EXPECT_TRUE(list[0].initialized);
  EXPECT_EQ(store.MemoryBytes(), 2 * 3 * 24u);
}

TEST(VariableStoreTest, InitialValuesDependOnNameAndSeedOnly) {
  VariableStore one(1), four(4);
  for (VariableStore* s : {&one, &four}) {
    ASSERT_TRUE(s->Create({"a", DType::kFloat32, {1000}}).ok());
    ASSERT_TRUE(s->Create({"b", DType::kFloat32, {1000}}).ok());
    ASSERT_TRUE(s->Initialize("a", Init(2, -1, 1), 5).ok());
    ASSERT_TRUE(s->Initialize("b", Init(2, -1, 1), 5).ok());
  }
  HostTensor a = *one.Read("a"), b = *one.Read("b");
  EXPECT_TRUE(a.BitEqual(*four.Read("a")));
  EXPECT_FALSE(a.BitEqual(b));
  ASSERT_TRUE(four.Initialize("a", Init(2, -1, 1), 6).ok());
  EXPECT_FALSE(a.BitEqual(*four.Read("a")));
  double mean = 0;
  for (float v : a.values<float>()) {
    ASSERT_TRUE(v >= -1 && v < 1);
    mean += v / 1000;
  }
  EXPECT_NEAR(mean, 0, 0.06);
}

TEST(VariableStoreTest, TruncatedNormalHasItsMoments) {
  VariableStore store(1);
  ASSERT_TRUE(store.Create({"w", DType::kFloat32, {100000}}).ok());
  ASSERT_TRUE(store.Initialize("w", Init(3, 10, 2), 1).ok());
  double sum = 0, squares = 0;
  HostTensor w = *store.Read("w");
  for (float v : w.values<float>()) {
    ASSERT_TRUE(v >= 6 && v <= 14);
    sum += v - 10, squares += (v - 10) * (v - 10);
  }
  EXPECT_NEAR(sum / 100000, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / 100000), 2 * 0.87962566, 0.02);  // the deviation of a normal cut at two
}

TEST(VariableStoreTest, NormalQuantileInvertsTheDistribution) {
  for (double p : {0.0228, 0.05, 0.0751, 0.3, 0.5, 0.8, 0.97}) {
    EXPECT_NEAR(0.5 * std::erfc(-NormalQuantile(p) / std::sqrt(2.0)), p, 1e-14);
  }
  EXPECT_NEAR(NormalQuantile(NormalCdfAtMinusTwo()), -2, 1e-14);
}

TEST(VariableStoreTest, OtherKindsAndErrors) {
  VariableStore store(2);
  ASSERT_TRUE(store.Create({"i", DType::kInt64, {3}}).ok());
  ASSERT_TRUE(store.Initialize("i", Init(1, 7, 0), 0).ok());
  EXPECT_EQ(store.Read("i")->data<int64_t>()[2], 7);
  EXPECT_EQ(static_cast<int64_t*>(store.Buffer("i", 1))[2], 7);
  EXPECT_EQ(store.Initialize("i", Init(2, 0, 1), 0).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store.Initialize("i", Init(9, 0, 1), 0).code(), absl::StatusCode::kInvalidArgument);
}

// A device whose memory is the host's.
class FakeMemory : public DeviceMemory {
 public:
  explicit FakeMemory(std::string name) : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes, const std::string& what) override {
    if (fail) return absl::ResourceExhaustedError(what);
    ++live;
    return reinterpret_cast<uint64_t>(new char[bytes]);
  }
  void Free(uint64_t address) override {
    --live;
    delete[] reinterpret_cast<char*>(address);
  }
  absl::Status Upload(uint64_t address, const void* from, uint64_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(address), from, bytes);
    return absl::OkStatus();
  }
  absl::Status Download(absl::Span<const Region> regions) override {
    ++downloads;
    for (const Region& r : regions) std::memcpy(r.to, reinterpret_cast<void*>(r.address), r.bytes);
    return absl::OkStatus();
  }
  // Copies at once, or nothing where it is short of memory.
  absl::StatusOr<std::unique_ptr<Snapshot>> TakeSnapshot(absl::Span<const Region> regions) override {
    struct Copy : Snapshot {
      std::vector<Region> regions;
      std::vector<std::string> bytes;
      absl::Status Read() override {
        for (size_t i = 0; i < regions.size(); ++i) std::memcpy(regions[i].to, bytes[i].data(), regions[i].bytes);
        return absl::OkStatus();
      }
    };
    if (no_room_for_copies) return nullptr;
    auto copy = std::make_unique<Copy>();
    for (const Region& r : regions) {
      copy->regions.push_back(r);
      copy->bytes.emplace_back(reinterpret_cast<char*>(r.address), r.bytes);
    }
    return std::unique_ptr<Snapshot>(std::move(copy));
  }
  int live = 0, downloads = 0;
  bool fail = false, no_room_for_copies = false;

 private:
  std::string name_;
};

float* Device(VariableStore& store, const std::string& name, int device) {
  return reinterpret_cast<float*>(store.DeviceAddress(name, device).value());
}

TEST(VariableStoreTest, ValuesLiveWhereTheyArePlaced) {
  auto first = std::make_shared<FakeMemory>("gpu:0"), second = std::make_shared<FakeMemory>("gpu:1");
  {
    VariableStore store(2);
    ASSERT_TRUE(store.Create({"a", DType::kFloat32, {2}}).ok());
    ASSERT_TRUE(store.Create({"b", DType::kFloat32, {1}}).ok());
    ASSERT_TRUE(store.Assign("a", HostTensor::FromVector<float>({2}, {1, 2})).ok());
    ASSERT_TRUE(store.Assign("b", HostTensor::FromVector<float>({1}, {3})).ok());
    EXPECT_EQ(store.place(), "");
    ASSERT_TRUE(store.Place(0, first).ok());
    EXPECT_EQ(store.place(), "gpu:0");
    EXPECT_EQ(Device(store, "a", 0)[1], 2);
    Device(store, "a", 0)[1] = 5;  // as a step does
    Device(store, "b", 0)[0] = 6;
    auto values = store.ReadAll({"b", "a"});
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ((*values)[0].data<float>()[0], 6);
    EXPECT_EQ((*values)[1].data<float>()[1], 5);
    EXPECT_EQ(first->downloads, 1);
    // A second device joins with the value as it is now.
    ASSERT_TRUE(store.Place(1, second).ok());
    EXPECT_EQ(Device(store, "a", 1)[1], 5);
    ASSERT_TRUE(store.Assign("a", HostTensor::FromVector<float>({2}, {7, 8})).ok());
    EXPECT_EQ(Device(store, "a", 0)[0], 7);
    EXPECT_EQ(Device(store, "a", 1)[1], 8);
    EXPECT_EQ(store.Buffer("a", 0), nullptr);
    // One place for a copy.
    EXPECT_TRUE(store.Place(0, first).ok());
    EXPECT_EQ(store.Place(0, second).message(),
              "copy 0 of the variables lives on gpu:0; a program for gpu:1 cannot share it");
    second->fail = true;
    EXPECT_EQ(store.DeviceAddress("b", 1).status().message(), "variable b");
    EXPECT_EQ(store.DeviceAddress("c", 1).status().code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(first->live + second->live, 3);
  }
  EXPECT_EQ(first->live + second->live, 0);
}

TEST(VariableStoreTest, ASnapshotHoldsWhatWasThere) {
  auto memory = std::make_shared<FakeMemory>("gpu:0");
  VariableStore store(1);
  for (const char* name : {"a", "host"}) {
    ASSERT_TRUE(store.Create({name, DType::kFloat32, {1}}).ok());
    ASSERT_TRUE(store.Assign(name, HostTensor::FromVector<float>({1}, {3})).ok());
  }
  ASSERT_TRUE(store.Place(0, memory).ok());
  for (bool room : {true, false}) {
    memory->no_room_for_copies = !room;
    Device(store, "a", 0)[0] = 4;
    auto snapshot = store.Snapshot({"host", "a"});
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    EXPECT_EQ(snapshot->on_device(), room);
    Device(store, "a", 0)[0] = 5;
    auto values = snapshot->Take();
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_FALSE(snapshot->on_device());
    EXPECT_EQ((*values)[0].data<float>()[0], 3);
    EXPECT_EQ((*values)[1].data<float>()[0], 4);
  }
  EXPECT_EQ(memory->downloads, 1);
}

TEST(VariableStoreTest, OneCopyForAllDevices) {
  VariableStore store(3, /*one_copy=*/true);
  EXPECT_EQ(store.num_devices(), 3);
  ASSERT_TRUE(store.Create({"w", DType::kFloat32, {5}}).ok());
  EXPECT_EQ(store.MemoryBytes(), 20);
  ASSERT_TRUE(store.Assign("w", HostTensor::FromVector({5}, std::vector<float>{1, 2, 3, 4, 5})).ok());
  EXPECT_EQ(store.Buffer("w", 0), store.Buffer("w", 2));
  EXPECT_EQ(static_cast<const float*>(store.Buffer("w", 1))[4], 5);
  EXPECT_EQ(store.Place(0, std::make_shared<FakeMemory>("gpu:0")).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(VariableStoreTest, WhatTheHostUsesStaysThere) {
  VariableStore store(1);
  ASSERT_TRUE(store.Create({"a", DType::kFloat32, {2}}).ok());
  ASSERT_NE(store.Buffer("a", 0), nullptr);
  EXPECT_EQ(store.Place(0, std::make_shared<FakeMemory>("gpu:0")).code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace tandem
