// Pipelines of random stages: cut anywhere, saved, restored in another iterator, they go on with the same elements, or
// errors. TANDEM_PIPELINES says how many (bazel test --test_env=TANDEM_PIPELINES=100000 --test_timeout=...); 1000 else.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/env.h"
#include "base/fingerprint.h"
#include "data/dataset.h"
#include "data/files/record_writer.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

constexpr size_t kMostElements = 150;

std::string TempPath(const std::string& name) { return JoinPath(testing::TempDir(), name); }

// Files of all formats, one of them damaged.
struct Files {
  std::string idx, sequences, plain, gzip, zlib, damaged, damaged_gzip, text, csv, fixed;
};

const Files& TestFiles() {
  static const auto* files = [] {
    auto* f = new Files;
    const auto records = [](const std::string& name, Compression compression, int count) {
      const std::string path = TempPath(name);
      auto writer = RecordWriter::Create(path, {.compression = compression});
      for (int i = 0; i < count; ++i) {
        EXPECT_TRUE((*writer)->Write(absl::StrCat(name, i, std::string(i * 13 % 40, '.'))).ok());
      }
      EXPECT_TRUE((*writer)->Close().ok());
      return path;
    };
    const auto text = [](const std::string& name, const std::string& bytes) {
      EXPECT_TRUE(Env::Default()->WriteFile(TempPath(name), {bytes}).ok());
      return TempPath(name);
    };
    f->plain = records("plain", Compression::kNone, 17);
    f->gzip = records("gzip", Compression::kGzip, 23);
    f->zlib = records("zlib", Compression::kZlib, 9);
    f->damaged = records("damaged", Compression::kNone, 12);
    std::string bytes = *Env::Default()->ReadFile(f->damaged);
    bytes[14] ^= 1;                 // of the first record's bytes
    bytes[bytes.size() - 30] ^= 1;  // among the last ones
    text("damaged", bytes);
    f->damaged_gzip = records("damaged_gzip", Compression::kGzip, 30);
    bytes = *Env::Default()->ReadFile(f->damaged_gzip);
    text("damaged_gzip", bytes.substr(0, bytes.size() * 3 / 4));
    f->text = text("text", "one\ntwo\r\n\nfour\nfive is longer\nsix");
    f->csv = text("csv", "a,b\n1,x\n2,\"y\ny\"\nthree,z\n4,w\n5\n6,u\n");
    f->idx = text("idx", std::string("\0\0\x0b\x02\0\0\0\x09\0\0\0\2", 12) +
                             std::string("0123456789abcdefghijABCDEFGHIJ!?%", 33));
    f->sequences = "data/testdata/sequences.tfrecord";
    f->fixed = text("fixed", "head0123456789abcdefghijtail");
    return f;
  }();
  return *files;
}

uint64_t HashOf(const Element& e) {
  uint64_t hash = 7;
  for (const HostTensor& t : e.components) {
    hash = Fingerprint64(absl::string_view(static_cast<const char*>(t.raw()), t.byte_size()), hash);
  }
  return hash;
}

absl::StatusOr<Element> Scramble(const Element& e) {
  Element out = e;
  for (HostTensor& t : out.components) {
    if (t.dtype() != DType::kInt64) continue;
    t = t.Clone();
    for (int64_t i = 0; i < t.num_elements(); ++i) t.data<int64_t>()[i] = t.data<int64_t>()[i] * 31 % 1009;
  }
  return out;
}

Dataset RandomSource(std::mt19937& rng) {
  const Files& f = TestFiles();
  auto pick = [&rng](int from, int to) { return std::uniform_int_distribution<int>(from, to)(rng); };
  const int64_t buffer_size = pick(0, 1) ? 16 : 1000;
  switch (pick(0, 11)) {
    case 0:
      return Dataset::TFRecord({f.plain, f.damaged, f.plain}, {.buffer_size = buffer_size});
    case 1:
      return Dataset::TFRecord({f.gzip, f.damaged_gzip, f.gzip},
                               {.compression = Compression::kGzip, .buffer_size = buffer_size});
    case 2:
      return Dataset::TFRecord({f.zlib}, {.compression = Compression::kZlib});
    case 3:
      return Dataset::TextLine({f.text, f.csv}, {.buffer_size = buffer_size});
    case 4:
      return Dataset::Csv({f.csv, f.csv}, {{"b", DType::kString}, {"a", DType::kInt64}}, {.buffer_size = buffer_size});
    case 5:
      return Dataset::FixedLengthRecord({f.fixed}, {.record_bytes = 4, .header_bytes = 4, .footer_bytes = 4});
    case 6: {
      const int64_t step = pick(1, 3);
      return Dataset::FromGenerator(
          [step](int64_t* position, Element* out, bool* end) -> absl::Status {
            const int64_t at = *position;
            *end = at > 40;
            *position = at + step;
            if (at == 9) return absl::DataLossError("nine");
            out->components.assign(1, HostTensor::Scalar<int64_t>(at));
            return absl::OkStatus();
          },
          {{"value", DType::kInt64, {}}});
    }
    case 7:
      return Dataset::Idx({f.idx, f.idx}, {.buffer_size = buffer_size});
    case 8:
      return Dataset::TFRecord({f.sequences, f.sequences}, {.buffer_size = buffer_size})
          .ParseSequenceExample({FeatureSpec::FixedLen("id", DType::kInt64)},
                                {FeatureSpec::VarLen("tokens", DType::kInt64)});
    case 9:
      return Dataset::FromTensorSlices(
          {{"s", HostTensor::FromStrings({3, 2}, std::vector<std::string>{"a", "bb", "", "c", "d", "ee"})}});
    default:
      return Dataset::Range(pick(1, 40));
  }
}

// A dataset that depends on an element.
absl::StatusOr<Dataset> Inner(const Element& e) {
  const int64_t kind = HashOf(e) % 8;
  if (kind == 7) return absl::InvalidArgumentError("no set for this one");
  return Dataset::TFRecord({TestFiles().plain, TestFiles().damaged}).Take(kind).Shuffle(3, {.seed = HashOf(e)});
}

absl::StatusOr<std::string> KeyOf(const Element& e) {
  const uint64_t hash = HashOf(e);
  if (hash % 37 == 0) return absl::InternalError("no key");
  return absl::StrCat(hash % 40);
}

absl::StatusOr<int64_t> LengthOf(const Element& e) { return static_cast<int64_t>(HashOf(e) % 10); }

absl::Status HashInto(const Element& e, absl::Span<const ComponentBuffer> out) {
  const int64_t hash = HashOf(e) % 1000;
  if (hash % 31 == 0) return absl::InternalError("cannot write");
  out[0].data<int64_t>()[0] = hash;
  out[0].data<int64_t>()[1] = -hash;
  *out[1].data<uint8_t>() = static_cast<uint8_t>(hash % 256);
  return absl::OkStatus();
}

const std::vector<ComponentSpec> kSumSpec = {{"sum", DType::kInt64, {}}, {"seen", DType::kFloat32, {-1}}};

// A sum of hashes, and up to three of them in a tensor that grows.
absl::StatusOr<Element> Sum(const Element& state, const Element& e, Element* next) {
  const int64_t hash = HashOf(e) % 1000;
  if (hash % 29 == 0) return absl::InternalError("cannot add");
  absl::Span<const float> seen = state.components[1].values<float>();
  std::vector<float> more(seen.begin() + (seen.size() == 3 ? 1 : 0), seen.end());
  more.push_back(static_cast<float>(hash));
  const int64_t size = static_cast<int64_t>(more.size());
  next->components = {HostTensor::Scalar<int64_t>(state.components[0].values<int64_t>()[0] + hash),
                      HostTensor::FromVector<float>({size}, more)};
  return *next;
}

// Elements are single ones, or batches of them.
Dataset RandomPipeline(uint32_t structure, uint32_t tuning) {
  std::mt19937 rng(structure), tune(tuning);
  auto pick = [&rng](int from, int to) { return std::uniform_int_distribution<int>(from, to)(rng); };
  Dataset d = RandomSource(rng);
  for (int stages = pick(1, 6); stages > 0; --stages) {
    const bool batched = d.batch_size() > 0;
    const int modulus = pick(2, 5);
    const auto few = [modulus](const Element& e) -> absl::StatusOr<bool> {
      const uint64_t hash = HashOf(e);
      if (hash % 23 == 0) return absl::InternalError("cannot say");
      return hash % modulus != 0;
    };
    const auto many = [](const Element& e) -> absl::StatusOr<bool> { return HashOf(e) % 31 != 0; };
    const Dataset before = d;
    switch (pick(0, 24)) {
      case 0:
        d = d.Shuffle(pick(1, 30),
                      {.seed = static_cast<uint64_t>(pick(0, 9)), .reshuffle_each_iteration = pick(0, 3) > 0});
        break;
      case 1:
        d = d.Repeat(pick(1, 3));
        break;
      case 2:
        d = d.Map(Scramble, {.num_parallel_calls = std::uniform_int_distribution<int>(0, 3)(tune), .spec = d.spec()});
        break;
      case 3:
        if (!batched) d = d.Batch(pick(1, 7), {.drop_remainder = d.cardinality() < 0 && pick(0, 1)});
        break;
      case 4: {
        const int shards = pick(1, 3);
        d = d.Shard(shards, pick(0, shards - 1));
        break;
      }
      case 5:
        d = d.Take(pick(0, 60));
        break;
      case 6:
        d = d.Skip(pick(0, 6));
        break;
      case 7:
        d = d.Filter(few);
        break;
      case 8:
        d = d.TakeWhile(many);
        break;
      case 9:
        d = d.IgnoreErrors({.max = pick(0, 5)});
        break;
      case 10:
        if (!batched) d = d.FlatMap(Inner);
        break;
      case 11:
        if (!batched) d = d.Interleave(Inner, {.cycle_length = pick(1, 4), .block_length = pick(1, 3)});
        break;
      case 12:
        if (batched) d = d.Unbatch();
        break;
      case 13:
        if (!batched) d = d.Enumerate(pick(0, 9), absl::StrCat("index", stages));
        break;
      case 14:
        d = d.Concatenate(d.Take(pick(1, 9)));
        break;
      case 15:
        if (!batched) {
          d = Dataset::Zip({d, Dataset::Range(pick(1, 30))
                                   .Map([](const Element& e) -> absl::StatusOr<Element> { return e; },
                                        {.spec = {{absl::StrCat("zip", stages), DType::kInt64, {}}}})});
        }
        break;
      case 16:
        if (!batched) d = d.PaddedBatch(pick(1, 5));
        break;
      case 20:
        if (!batched) {
          d = d.Scan({{HostTensor::Scalar<int64_t>(7), HostTensor(DType::kFloat32, {0})}}, Sum, kSumSpec);
        }
        break;
      case 18:
        if (!batched) {
          d = d.Window({.size = pick(1, 4), .shift = pick(0, 5), .stride = pick(1, 3), .drop_remainder = true});
        }
        break;
      case 19:
        d = d.Cache();
        break;
      case 23:
        if (!batched) d = d.MapInto(HashInto, {.spec = {{"hash", DType::kInt64, {2}}, {"byte", DType::kUInt8, {}}}});
        break;
      case 21:
        d = d.Dedupe(KeyOf, {.max_keys = pick(5, 100)});
        break;
      case 22:
        // A later pipeline reads what one before has written, if it was complete. Not often: files are synced.
        if (pick(0, 2) == 0) d = d.Cache({.file = TempPath(absl::StrCat("cache_", structure, "_", stages))});
        break;
      case 24:
        if (batched) d = d.Parts(pick(1, 4));
        break;
      case 17:
        if (!batched) d = d.BucketBySequenceLength(LengthOf, {3, 6}, {pick(1, 4), pick(1, 4), pick(1, 4)});
        break;
    }
    // A first element that is an error, or none, tells FlatMap nothing.
    if (!d.status().ok()) d = before;
    const int n = std::uniform_int_distribution<int>(-5, 5)(tune);
    if (n >= 0) d = d.Prefetch(n);
  }
  return d;
}

// The next elements, each as its types, shapes and bytes, or as its error.
std::vector<std::string> Outcomes(Iterator& it, size_t limit) {
  std::vector<std::string> out;
  while (out.size() < limit) {
    Element e;
    bool end = false;
    const absl::Status status = it.GetNext(&e, &end);
    if (end) break;
    std::string text = status.ok() ? "" : absl::StrCat("error: ", status.ToString());
    for (size_t c = 0; status.ok() && c < e.components.size(); ++c) {
      const HostTensor& t = e.components[c];
      absl::StrAppend(&text, Name(t.dtype()), ShapeString(t.shape()),
                      absl::string_view(static_cast<const char*>(t.raw()), t.byte_size()));
    }
    out.push_back(std::move(text));
  }
  return out;
}

TEST(RandomPipelinesTest, AnyCutIsRestoredExactly) {
  int pipelines = 1000;
  if (const char* wanted = std::getenv("TANDEM_PIPELINES"); wanted != nullptr) {
    ASSERT_TRUE(absl::SimpleAtoi(wanted, &pipelines)) << wanted;
  }
  std::mt19937 rng(12);
  int64_t compared = 0, errors = 0;
  for (int p = 0; p < pipelines && !HasFailure(); ++p) {
    const Dataset d = RandomPipeline(p, 2 * p), other = RandomPipeline(p, 2 * p + 1);
    ASSERT_TRUE(d.status().ok()) << d.status();
    SCOPED_TRACE(absl::StrCat("pipeline ", p, ": ", d.Signature()));
    const std::vector<std::string> all = Outcomes(*Make(d), kMostElements);
    const size_t k = std::uniform_int_distribution<size_t>(0, all.size())(rng);
    std::unique_ptr<Iterator> first = Make(d), second = Make(other);
    ASSERT_EQ(Outcomes(*first, k).size(), k);
    absl::StatusOr<std::string> state = first->SaveState();
    ASSERT_TRUE(state.ok()) << state.status();
    Outcomes(*second, k % 3);  // used before
    absl::Status status = second->RestoreState(*state);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(*second->SaveState(), *state);  // a position has one state
    const size_t more = std::min<size_t>(3, all.size() - k);
    EXPECT_EQ(Outcomes(*second, more), std::vector<std::string>(all.begin() + k, all.begin() + k + more));
    // Saved again at once, and restored into the first.
    state = second->SaveState();
    ASSERT_TRUE(state.ok());
    const std::vector<std::string> rest(all.begin() + k + more, all.end());
    EXPECT_EQ(Outcomes(*second, kMostElements - k - more), rest);
    status = first->RestoreState(*state);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(Outcomes(*first, kMostElements - k - more), rest);
    compared += static_cast<int64_t>(all.size() - k);
    errors += std::count_if(all.begin(), all.end(), [](const std::string& s) { return s.rfind("error: ", 0) == 0; });
  }
  EXPECT_GT(compared, 5 * pipelines);
  EXPECT_GT(errors, pipelines / 2);
}

}  // namespace
}  // namespace tandem
