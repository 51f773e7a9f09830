// Input pipelines: where examples come from, in which order, and how they are grouped into batches.
//
//   Dataset train = Dataset::FromTensorSlices({{"image", images}, {"label", labels}})
//                       .Shard(context.num_input_pipelines, context.input_pipeline_id)
//                       .Shuffle(5000, {.seed = 1})
//                       .Repeat(epochs)
//                       .Batch(128)
//                       .Prefetch(2);
//   TD_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> it, train.MakeIterator());
//   for (;;) {
//     bool end = false;
//     Element batch;
//     TD_RETURN_IF_ERROR(it->GetNext(&batch, &end));
//     if (end) break;
//     ...
//   }
//
// The names and meanings are tf.data's; what differs: everything is deterministic (seeds default to 0), an iterator's
// position can be saved and restored exactly, also into a pipeline with other batches, Map's function is called when an
// element leaves the pipeline (elements that are skipped or wait in a shuffle buffer cost nothing), and a Prefetch
// anywhere in the chain asks for whole elements of the last stage to be made ahead.
#ifndef TANDEM_DATA_DATASET_H_
#define TANDEM_DATA_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tandem/base/api.h"
#include "tandem/base/env.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/source_location.h"
#include "tandem/data/component_buffer.h"
#include "tandem/data/element.h"
#include "tandem/data/files/csv.h"
#include "tandem/data/files/example.h"
#include "tandem/data/files/record_reader.h"
#include "tandem/data/files/sequence_example.h"
#include "tandem/data/throughput.h"

namespace tandem::data_internal {

class Node;
struct DatasetAccess;

}  // namespace tandem::data_internal

namespace TANDEM_API tandem {

// As num_parallel_calls, or as the size of a Prefetch: the pipeline adapts the number to what the consumer needs. The
// elements and their order never depend on it.
inline constexpr int kAuto = 0;
// The cardinality of a dataset that never ends.
inline constexpr int64_t kInfiniteCardinality = -1;
// The cardinality of a dataset whose end is known only when it is reached, such as a dataset of text lines.
inline constexpr int64_t kUnknownCardinality = -2;

struct MapOptions {
  // How many threads call the function. With 1, it runs in the thread that calls GetNext, or in Prefetch's thread. With
  // kAuto there is one thread at first; another is added, up to as many as the machine has, whenever the consumer has
  // had to wait for some elements in a row. The order of the results never depends on it.
  int num_parallel_calls = 1;
  // Names of the components that the function returns; empty keeps the input's names.
  std::vector<std::string> names = {};
  // The full description of what the function returns. If it is empty, it is inferred by calling the function on the
  // first element. -1 stands for a size that varies.
  std::vector<ComponentSpec> spec = {};
  // For a function of batches: true if it may return another number of examples than it was given. Workers that share
  // an input then make every batch, also those for other workers, because each must know how many examples all of them
  // have.
  bool changes_rows = false;
};

struct TextLineOptions {
  Compression compression = Compression::kNone;
  // How much is read from a file at once, in bytes.
  int64_t buffer_size = 256 << 10;
  // A longer line is an error, even if there is memory for it.
  int64_t max_line_bytes = 64 << 20;
};

struct CsvOptions {
  // If true, the first line of each file has the names of its columns, which may come in any order. If false, the files
  // have exactly the requested columns, in that order.
  bool header = true;
  char delimiter = ',';
  Compression compression = Compression::kNone;
  int64_t buffer_size = 256 << 10;
  // The most bytes of one record; a record may have several lines between quotes.
  int64_t max_line_bytes = 64 << 20;
};

struct FixedLengthOptions {
  // Bytes of each record (at least 1), and bytes to ignore at the start and at the end of each file.
  int64_t record_bytes = 0;
  int64_t header_bytes = 0;
  int64_t footer_bytes = 0;
  Compression compression = Compression::kNone;
  int64_t buffer_size = 256 << 10;
};

struct IdxOptions {
  // The name of the component.
  std::string name = "value";
  // How much is read from a file at once, in bytes.
  int64_t buffer_size = 256 << 10;
};

struct ListFilesOptions {
  // If true, the order of the files depends on the seed and the names, and changes with every epoch. If false, the
  // files are sorted.
  bool shuffle = false;
  uint64_t seed = 0;
};

struct IgnoreErrorsOptions {
  // How many errors to ignore in a pass; further ones are returned.
  int64_t max = 0;
};

struct DedupeOptions {
  // More distinct keys than this in a pass are an error. A key takes about 50 bytes in memory, and 20 in every
  // checkpoint.
  int64_t max_keys = 1 << 20;
};

struct CacheOptions {
  // The file that holds the elements; if it is empty, they are held in memory. Where files are dealt out to workers
  // (AutoShard::kFile), each worker adds its number to the name: "FILE-0-of-2". Where workers have separate inputs
  // (AutoShard::kOff) and share a file system, the caller must put InputContext::input_pipeline_id into the name,
  // because each worker stores other elements.
  std::string file;
  Env* env = nullptr;  // the file system; Env::Default() when null
};

struct InterleaveOptions {
  // How many datasets to read from at a time.
  int64_t cycle_length = 4;
  // How many consecutive elements to take from one dataset.
  int64_t block_length = 1;
  // Number of threads that make the elements (read, check, parse, map), as MapOptions.num_parallel_calls.
  int num_parallel_calls = 1;
};

struct DatasetWindowOptions {
  // Elements in a window, at least 1.
  int64_t size = 1;
  // Distance from the first element of one window to that of the next; 0 stands for the size: no overlap, no gap.
  int64_t shift = 0;
  // Distance from one element of a window to the next.
  int64_t stride = 1;
  // If true, leaves out the last windows, which have fewer elements.
  bool drop_remainder = false;
};

struct PaddedBatchOptions {
  // Sizes of components, by name, without the batch dimension; -1 pads to the largest size in the batch. Other
  // components have the shape of the elements' spec.
  std::vector<std::pair<std::string, Shape>> padded_shapes = {};
  // Padding values, by name: scalars. Other components are padded with 0, false or "".
  std::vector<std::pair<std::string, HostTensor>> padding_values = {};
  bool drop_remainder = false;
};

struct ParseExampleOptions {
  // Number of threads that parse, as in MapOptions.
  int num_parallel_calls = 1;
};

struct ShuffleOptions {
  uint64_t seed = 0;
  // If true, every epoch of a Repeat that follows has another order.
  bool reshuffle_each_iteration = true;
};

struct BatchOptions {
  // Drops the last batch when it is not full.
  bool drop_remainder = false;
};

// Reads a dataset's elements in order. GetNext is for one thread at a time; SaveState may be called from any thread.
// Destruction stops the pipeline's threads, after the calls of functions that they are in.
class Iterator {
 public:
  virtual ~Iterator() = default;

  // Stores the next element in *out, or sets *end at the end of the dataset, and again in every later call. An error
  // concerns one element: the next call returns the element after it. But if memory runs out while the order is drawn,
  // no element follows until RestoreState; SaveState still returns the position.
  virtual absl::Status GetNext(Element* out, bool* end) = 0;

  // Returns true if the element that GetNext will return after `ahead` others is ready, and stores it in *out; its
  // tensors share their memory with those that GetNext will return. Never waits, and does not change the position.
  virtual bool Peek(int64_t ahead, Element* out) { return false; }

  // True if the element that GetNext returned last (an error counts as an element) ends a pass over the dataset that
  // the last Repeat repeats. An element belongs to every pass that it has examples of, and the last element that
  // belongs to a pass ends it: where a Batch after the Repeat puts examples of two passes into one batch, that batch
  // ends the first pass. All parts of a batch (Parts) belong to its passes, so the last part ends them, even if it is
  // empty. The last element of the dataset always ends a pass, even if a Take cut the pass off; without a Repeat, or if
  // a Cache or Concatenate follows the last Repeat, no other element does. For a Zip, its first dataset that has a
  // Repeat counts. A pass without elements, for example because of a Filter, does not count. Stages that read ahead
  // (Shuffle, Window, Interleave, BucketBySequenceLength) after the last Repeat end passes too early: put Repeat after
  // them. False before the first GetNext, and before the first one after RestoreState.
  //
  // The call determines which element is next, as the next GetNext would do, but does not make that element unless its
  // contents decide. Call it from the thread that calls GetNext.
  virtual bool ends_pass() { return false; }

  // Says which elements this process wants: in every round of `period` elements, the `count` elements from number
  // `first` on. The first round begins with this call, and a new one at every RestoreState. For the other elements
  // GetNext returns only the number of rows, if that is known without making them (Element::rows_elsewhere), so that
  // workers that share a dataset read only their own elements. Call it before the first GetNext.
  virtual void MakeOnly(int64_t period, int64_t first, int64_t count) {}

  // Returns the position after the elements that GetNext has returned so far, whatever was prefetched. It is small: it
  // contains positions and counters of random generators, never data.
  virtual absl::StatusOr<std::string> SaveState() = 0;

  // Moves to a position that this or another process has saved: the elements that follow are the same bits as those
  // that followed it then. Takes time proportional to the shuffle buffers, not to the position. FailedPrecondition when
  // the state comes from another pipeline or version, DataLoss when it is damaged; the iterator then keeps its
  // position. The two pipelines may differ in the number of epochs of a Repeat, the prefetching and the number of
  // threads. The size of their batches may differ too if Batch makes them and no later stage counts or buffers whole
  // batches (Shuffle, Take, Skip, Shard, Batch, Filter, TakeWhile, IgnoreErrors, Dedupe, Scan, Cache, FlatMap,
  // Interleave, Unbatch, Zip, Concatenate): the position is that of the next example. The contents of the sources and
  // the functions of Map must be equal; this is not checked. When a pipeline that has ended is restored to run for more
  // epochs, a Zip of datasets of different length ends again if a stage that reads ahead, such as Shuffle, follows it;
  // and examples that a Batch with drop_remainder or a Shard before such a stage had left over are lost.
  virtual absl::Status RestoreState(absl::string_view state) = 0;

  // CPU time, in seconds, that the pipeline's own threads have used; 0 without threads, when GetNext does all the work.
  virtual double ThreadCpuSeconds() const { return 0; }
};

// A description of a pipeline: a cheap, immutable handle that may be copied and shared between threads. A wrong
// argument makes a dataset whose status() and MakeIterator() carry the first error, with the caller's file and line.
//
// Several threads may call the functions of Map and MapInto, and wait_for_rows, at the same time. The function of any
// other stage is called by one thread at a time, not always the same one, and is called again for an element at which
// the position is saved or was restored. Each dataset that a function of FlatMap or Interleave makes has its own
// stages.
class Dataset {
 public:
  // The types of the functions that stages call.
  using MapFn = std::function<absl::StatusOr<Element>(const Element&)>;
  using MapIntoFn = std::function<absl::Status(const Element& in, absl::Span<const ComponentBuffer> out)>;
  using Slices = std::vector<std::pair<std::string, HostTensor>>;
  using PredicateFn = std::function<absl::StatusOr<bool>(const Element&)>;
  using DatasetFn = std::function<absl::StatusOr<Dataset>(const Element&)>;
  using KeyFn = std::function<absl::StatusOr<std::string>(const Element&)>;
  using LengthFn = std::function<absl::StatusOr<int64_t>(const Element&)>;
  using ScanFn = std::function<absl::StatusOr<Element>(const Element& state, const Element& element, Element* next)>;
  using GeneratorFn = std::function<absl::Status(int64_t* position, Element* out, bool* end)>;
  using WaitForRows = std::function<absl::Status(int64_t rows)>;

  // Element i is row i of every tensor: tensors of rank >= 1 with equal sizes in dimension 0. Rows are not copied until
  // a batch is made of them; do not write to the tensors afterwards.
  static Dataset FromTensorSlices(Slices tensors, SourceLocation location = SourceLocation::Current());
  // As above, for tensors whose rows are still being read, from the first to the last: `wait_for_rows(n)` is called, by
  // any thread, before rows [0, n) are used. If it returns an error, the element that needs the rows is this error.
  static Dataset FromTensorSlices(Slices tensors, WaitForRows wait_for_rows,
                                  SourceLocation location = SourceLocation::Current());
  // 0, 1, ..., n-1: one int64 scalar named "value". n >= 0.
  static Dataset Range(int64_t n, SourceLocation location = SourceLocation::Current());

  // The records of TFRecord files, one file after another: one scalar string named "record". There must be at least one
  // file, and all files must exist when the dataset is made. Damage is an error of one element, with file and offset:
  // if only the data of a record is damaged, the next record follows; otherwise the next file. The position is a file
  // and an offset. Restoring a position far inside a compressed file takes as long as reading up to it.
  static Dataset TFRecord(std::vector<std::string> files, RecordOptions options = {},
                          SourceLocation location = SourceLocation::Current());

  // The lines of text files: one scalar string named "line", without its end, "\n" or "\r\n". For TextLine and Csv, a
  // UTF-8 byte order mark at the start of a file is not part of a line, and one of UTF-16 or UTF-32 is an error.
  static Dataset TextLine(std::vector<std::string> files, TextLineOptions options = {},
                          SourceLocation location = SourceLocation::Current());
  // The records of CSV files (RFC 4180; empty lines are skipped): one scalar for each of `columns`. An error names
  // file, line and column: a wrong number of columns, an empty field without a default, text that is no decimal number
  // of the type, or one out of its range.
  static Dataset Csv(std::vector<std::string> files, std::vector<CsvColumn> columns, CsvOptions options = {},
                     SourceLocation location = SourceLocation::Current());
  // Records of a fixed length: one scalar string named "record".
  static Dataset FixedLengthRecord(std::vector<std::string> files, FixedLengthOptions options,
                                   SourceLocation location = SourceLocation::Current());
  // The rows of IDX files, such as MNIST's, plain or compressed with gzip (ReadIdx in data/idx.h has the format). They
  // are read one after another; to keep them all in memory, use FromTensorSlices. The rows of all files must have one
  // type and shape.
  static Dataset Idx(std::vector<std::string> files, IdxOptions options = {},
                     SourceLocation location = SourceLocation::Current());
  // The names of the files that the patterns (data/list_files.h) match when the dataset is made: one scalar string
  // named "file". Each pattern must match at least one file. The names are sorted and distinct.
  static Dataset ListFiles(const std::vector<std::string>& patterns, ListFilesOptions options = {},
                           SourceLocation location = SourceLocation::Current());
  // A dataset of one element, which contains the tensors as they are.
  static Dataset FromTensors(Slices tensors, SourceLocation location = SourceLocation::Current());
  // The elements that a function makes. The function gets a position, at first 0, makes the element at that position,
  // and stores the position of the next element, any other number >= 0; or it sets *end. Its result must depend on
  // nothing but the position, because a saved state holds only that: the function may be called again for the same
  // position, and from another thread. After an error the element at the stored position follows; the dataset ends if
  // the position is unchanged or *end was set.
  static Dataset FromGenerator(GeneratorFn fn, std::vector<ComponentSpec> spec,
                               SourceLocation location = SourceLocation::Current());
  // Joins datasets: element i has the components of element i of each dataset. Ends with the shortest dataset.
  static Dataset Zip(const std::vector<Dataset>& datasets, SourceLocation location = SourceLocation::Current());

  // Applies `fn` to every element. `fn` must depend on nothing but its argument and be safe to call from several
  // threads; an error is returned by GetNext with `location`.
  Dataset Map(MapFn fn, MapOptions options = {}, SourceLocation location = SourceLocation::Current()) const;
  // As Map, but `fn` writes its result into memory that it is passed: a buffer for every component of options.spec,
  // which is required, with number types and known sizes. If a Batch follows, this is the memory of the batch, and
  // nothing is copied. `fn` must write all of this memory, and must not use it after it returns.
  Dataset MapInto(MapIntoFn fn, MapOptions options, SourceLocation location = SourceLocation::Current()) const;
  // Reads `features` out of records that are serialised tf.train.Examples (data/files/example.h has the rules): the
  // elements must have one component, a string or a batch of strings. Values go directly into the batch if the records
  // are in a batch already, or if a Batch follows and all lengths are fixed. An error names the record's file and
  // offset, the key, and what was expected and found there.
  Dataset ParseExample(std::vector<FeatureSpec> features, ParseExampleOptions options = {},
                       SourceLocation location = SourceLocation::Current()) const;
  // Reads features out of single records that are serialised tf.train.SequenceExamples: those of the context, then the
  // lists, as data/files/sequence_example.h says. PaddedBatch makes batches of sequences of different lengths.
  Dataset ParseSequenceExample(std::vector<FeatureSpec> context, std::vector<FeatureSpec> sequence,
                               ParseExampleOptions options = {},
                               SourceLocation location = SourceLocation::Current()) const;
  // Keeps the elements for which `predicate` is true, and those that are errors. If elements are expensive to make, put
  // the filter before the expensive stages, because the input of the filter is made by a single thread, the one that
  // determines the order of elements.
  Dataset Filter(PredicateFn predicate, SourceLocation location = SourceLocation::Current()) const;
  // Keeps the elements before the first for which `predicate` is false.
  Dataset TakeWhile(PredicateFn predicate, SourceLocation location = SourceLocation::Current()) const;
  // Leaves out elements that are errors, each with a warning in the log. Two kinds of errors remain: those after the
  // first `max` in a pass, and a lack of memory or file descriptors, since such an element is not broken.
  Dataset IgnoreErrors(IgnoreErrorsOptions options, SourceLocation location = SourceLocation::Current()) const;
  // Keeps the first element of each key in each pass, and those that are errors. All keys of the pass so far are part
  // of the position, so this is for some millions of keys at most.
  Dataset Dedupe(KeyFn key, DedupeOptions options = {}, SourceLocation location = SourceLocation::Current()) const;
  // Says that a pass has `count` elements, if the stages before cannot know it (for example files), so that the length
  // of an epoch is known (EvalSpec.every_epochs, progress, cardinality()). A pass with more or fewer elements is an
  // error at its end.
  Dataset AssertCardinality(int64_t count, SourceLocation location = SourceLocation::Current()) const;
  // Concatenates the datasets that `fn` makes of the elements. All of them must have the same stages. `fn` must depend
  // on nothing but its argument. Such a dataset starts anew in every epoch: a Shuffle in it has the same order each
  // time.
  Dataset FlatMap(DatasetFn fn, SourceLocation location = SourceLocation::Current()) const;
  // As FlatMap, with several datasets at a time: takes `block_length` elements of each of `cycle_length` datasets in
  // turn. The order is that of tf.data's deterministic Interleave.
  Dataset Interleave(DatasetFn fn, InterleaveOptions options = {},
                     SourceLocation location = SourceLocation::Current()) const;
  // Makes an element of each row of an element. All components must have the same number of rows.
  Dataset Unbatch(SourceLocation location = SourceLocation::Current()) const;
  // Appends the elements of `other`, which must have the same components.
  Dataset Concatenate(const Dataset& other, SourceLocation location = SourceLocation::Current()) const;
  // Puts a component before the others: the element's number, an int64 scalar, counted from `start` >= 0 in every pass.
  Dataset Enumerate(int64_t start = 0, const std::string& name = "index",
                    SourceLocation location = SourceLocation::Current()) const;
  // Keeps `buffer_size` >= 1 elements, yields one of them at random (uniformly) and fills its place with the next.
  // The order depends on the seed, the epoch and the number of elements, on nothing else.
  Dataset Shuffle(int64_t buffer_size, ShuffleOptions options = {},
                  SourceLocation location = SourceLocation::Current()) const;
  // Repeats the dataset `count` times; -1 repeats it for ever. If its first pass has no elements, the result has none
  // either. Without a count, the result also ends at a later pass that has none.
  Dataset Repeat(int64_t count = -1, SourceLocation location = SourceLocation::Current()) const;
  // Shuffle, then Repeat: the buffer never mixes two epochs.
  Dataset ShuffleAndRepeat(int64_t buffer_size, int64_t count = -1, ShuffleOptions options = {},
                           SourceLocation location = SourceLocation::Current()) const;
  // Stacks `batch_size` >= 1 elements along a new dimension 0.
  Dataset Batch(int64_t batch_size, BatchOptions options = {},
                SourceLocation location = SourceLocation::Current()) const;
  // Makes an element of each element and a state. The state is `initial` at the start of every pass, and then what `fn`
  // stored in *next, which must have the same types. The state must have number types, and is saved with the position.
  // An element that is an error does not change the state. Shuffle, Window, Cache, FlatMap, Interleave, Unbatch and
  // BucketBySequenceLength cannot follow, because they make elements again from their positions, without the state.
  Dataset Scan(Element initial, ScanFn fn, std::vector<ComponentSpec> spec,
               SourceLocation location = SourceLocation::Current()) const;
  // Stacks consecutive elements along a new dimension 0 (tf.data: Window, then a Batch of each window).
  Dataset Window(DatasetWindowOptions options, SourceLocation location = SourceLocation::Current()) const;
  // Keeps the elements of the first pass in memory for later passes and other iterators. Also keeps the order of the
  // first pass, so put Shuffle after it. Errors are not kept. In another process, a position is restored without making
  // the elements before it. The dataset must be finite.
  //
  // With CacheOptions.file the elements are kept in that file, and a dataset that is made when the file is complete
  // reads them from it. Positions mean the same while a cache is filled, from memory and from a file. The file gets its
  // final name only after every element was made. The file records the stages with their settings and the data
  // (Signature, Fingerprint), but not what functions do: after a change of a function, delete the file. If a function
  // opens files, changes of these files are noticed only if their names come from ListFiles. FailedPrecondition for the
  // cache of another pipeline or of other data, DataLoss for a damaged one. When it cannot be written, as on a full
  // disk, this element and all further ones are errors; the position before them stays valid.
  Dataset Cache(CacheOptions options = {}, SourceLocation location = SourceLocation::Current()) const;
  // Stacks elements of different sizes: pads each at the ends of its dimensions.
  Dataset PaddedBatch(int64_t batch_size, PaddedBatchOptions options = {},
                      SourceLocation location = SourceLocation::Current()) const;
  // Makes batches of elements of similar length. Bucket i takes the lengths in [boundaries[i - 1], boundaries[i]), the
  // first bucket all shorter ones, the last all longer ones, and makes batches of batch_sizes[i] elements. There is one
  // more batch size than boundaries.
  Dataset BucketBySequenceLength(LengthFn length, std::vector<int64_t> boundaries, std::vector<int64_t> batch_sizes,
                                 PaddedBatchOptions options = {},
                                 SourceLocation location = SourceLocation::Current()) const;
  // Splits each batch, of r examples, into `count` elements, one after another: the first gets the first ceil(r /
  // count) examples, the next the following ones, and the last may have fewer, or none. So `count` replicas, each of
  // which takes an element per step, have a whole batch in each step, and no batch is spread over two steps. After a
  // Batch (also with stages in between that do not change its elements, or ParseExample with fixed lengths) a part is
  // made without the others. A batch that a function or a PaddedBatch makes is made once, as a whole, and divided. A
  // component without a row per example is in every part. batch_size() is that of the first part of a full batch. The
  // elements must be batches.
  Dataset Parts(int64_t count, SourceLocation location = SourceLocation::Current()) const;
  // Makes up to `buffer_size` elements ahead in a separate thread. kAuto chooses, and adapts, the number.
  Dataset Prefetch(int64_t buffer_size = kAuto, SourceLocation location = SourceLocation::Current()) const;
  // Keeps the elements with the numbers index, index + num_shards, ...; 0 <= index < num_shards.
  Dataset Shard(int64_t num_shards, int64_t index, SourceLocation location = SourceLocation::Current()) const;
  // Keeps the first `count` elements; -1 keeps all.
  Dataset Take(int64_t count, SourceLocation location = SourceLocation::Current()) const;
  // Drops the first `count` elements; -1 drops all.
  Dataset Skip(int64_t count, SourceLocation location = SourceLocation::Current()) const;

  // The first error of the calls that made this dataset and the stages before it.
  const absl::Status& status() const { return status_; }
  // The components of an element; empty when status() is not OK.
  const std::vector<ComponentSpec>& spec() const;
  // Number of examples in an element; 0 when elements are not batches.
  int64_t batch_size() const;
  // Number of elements (batches, once batched), kInfiniteCardinality or kUnknownCardinality; 0 when status() is not OK.
  int64_t cardinality() const;
  // The structure that must be equal for a saved state to fit, such as "range(10) | shuffle(4, seed=1) | repeat".
  std::string Signature() const;
  // A text by which the contents of the sources can be told from other contents: names, types, shapes, the number of
  // examples, and a checksum of pieces of its tensors (of the first rows, if rows are still being read). It is cheap,
  // so equal fingerprints do not prove equal contents. The stages after the sources do not count. Of files that
  // ListFiles names, the contents count and their folders do not; if functions make the datasets (FlatMap, Interleave),
  // only the input of the functions counts. Empty where no source has a fingerprint; among several sources, one without
  // is "?".
  std::string Fingerprint() const;

  // Makes an iterator at the first element, or returns status(), or an error of opening files.
  absl::StatusOr<std::unique_ptr<Iterator>> MakeIterator() const;

  // Returns how fast the iterators of this dataset and each of its stages have been so far (data/throughput.h). The
  // times are estimated from some elements, so that measuring costs next to nothing. May be called while iterators run.
  Throughput MeasuredThroughput() const;
  // Describes MeasuredThroughput as text: a line for each stage and, once something was read, the slowest stage.
  std::string Describe() const;

 private:
  friend struct data_internal::DatasetAccess;
  Dataset(std::shared_ptr<const data_internal::Node> node, absl::Status status)
      : node_(std::move(node)), status_(std::move(status)) {}
  static Dataset Of(absl::StatusOr<std::shared_ptr<const data_internal::Node>> node, const char* op,
                    SourceLocation location);

  std::shared_ptr<const data_internal::Node> node_;  // null when status_ is not OK
  absl::Status status_;
};

}  // namespace tandem

#endif  // TANDEM_DATA_DATASET_H_
