// Mistakes in the data: input_fn, datasets, labels.
#include <stdexcept>

#include "base/env.h"
#include "base/unsynced_files.h"
#include "tests/errors/mistakes.h"

namespace tandem::mistakes {
namespace {

absl::Status TrainOn(const std::string& dir, const InputFn& input) { return TrainModel(dir, GoodModel, input); }

// A dataset as an input_fn.
InputFn Yields(std::function<Dataset()> make) {
  return [make = std::move(make)](const InputContext&) -> absl::StatusOr<Dataset> { return make(); };
}

}  // namespace

const std::vector<Mistake>& InputMistakes() {
  static const auto* const mistakes = new std::vector<Mistake>{
      {"NoLabels",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([] {
                          HostTensor x = HostTensor::Zeros(DType::kFloat32, {8, 4});
                          HostTensor y = HostTensor::Zeros(DType::kInt32, {8});
                          return Dataset::FromTensorSlices({{"x", x}, {"target", y}}).Batch(4);
                        }));
       },
       R"(SparseSoftmaxCrossEntropy "SparseSoftmaxCrossEntropy" at {Tensor loss = )"
       "losses::SparseSoftmaxCrossEntropy(labels, logits);}: `labels` has no value: the input has no component "
       R"("label" or "labels", it has x:float32[b,4], target:int32[b]; rename the one that holds the labels, or )"
       "give its name to the Estimator as InputSpec.labels"},
      {"InputFnFails",
       [](const std::string& dir) {
         return EvaluateModel(dir, GoodModel, [](const InputContext&) -> absl::StatusOr<Dataset> {
           return absl::NotFoundError("eval.idx: No such file or directory");
         });
       },
       "input_fn, mode eval: eval.idx: No such file or directory"},
      {"ForgottenBatch",
       [](const std::string& dir) { return TrainOn(dir, Yields([] { return Examples().Shuffle(4); })); },
       "input_fn, mode train: the dataset yields single examples (x:float32[4], image:float32[6,6,1], "
       "id:int32[], label:int32[]); end it with .Batch(examples per replica)"},
      {"EmptyEvaluation",
       [](const std::string& dir) {
         return EvaluateModel(dir, GoodModel, Yields([] { return Examples().Take(0).Batch(8); }));
       },
       "input_fn, mode eval: the input has no examples; a batch that is larger than the data is dropped by "
       "drop_remainder, and a filter may have left nothing"},
      {"LabelOutOfRange",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([] {
                          HostTensor x = HostTensor::Zeros(DType::kFloat32, {4, 4});
                          HostTensor label = HostTensor::FromVector<int32_t>({4}, {0, 1, 2, 3});
                          return Dataset::FromTensorSlices({{"x", x}, {"label", label}}).Batch(2);
                        }));
       },
       R"(component "label" of the input: label 3 in row 1 of its batch is not one of the 3 classes 0 to 2; )"
       "correct the data, or give the model's last layer as many units as there are classes",
       Found::kLater},
      {"BatchNotDivisible",
       [](const std::string& dir) {
         RunConfig config = Config(dir);
         config.train_distribute = MirroredStrategy({"cpu:0", "cpu:1", "cpu:2"});
         return Estimator(GoodModel, config).Train([](const InputContext& context) -> absl::StatusOr<Dataset> {
           const absl::StatusOr<int64_t> batch = context.GetPerReplicaBatchSize(2);
           if (!batch.ok()) return batch.status();
           return Examples().Batch(*batch);
         });
       },
       "input_fn, mode train: InputContext: the global batch size 2 is not divisible by 3 replicas; choose a "
       "multiple of 3"},
      {"EvaluationOfAnotherWidth",
       [](const std::string& dir) {
         Estimator estimator(GoodModel, Config(dir));
         return TrainAndEvaluate(estimator, {.input_fn = Input(), .max_steps = 2}, {.input_fn = InputOfWidth(5)})
             .status();
       },
       R"(model_fn, mode eval: variable "dense/kernel" at {Tensor logits = layers::Dense(features["x"], {.units = )"
       R"(3});} is float32[5,3], and float32[4,3] in mode train: component "x" of the input is float32[b,5] here and )"
       "float32[b,4] there; give every input_fn examples of the same shape"},
      {"NumbersOfAnotherType",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([] {
                          auto half = [](const Element& in) -> absl::StatusOr<Element> {
                            Element out = in;
                            const double first = in["x"].data<double>()[0];
                            out.Set("x", HostTensor::FromVector<float>({1}, {static_cast<float>(first)}));
                            return out;
                          };
                          return Examples().Map(half).Batch(8);
                        }));
       },
       "input_fn, mode train: {return Examples().Map(half).Batch(8);}: Map: element 0 of the source: "
       R"({const double first = in["x"].data<double>()[0];}: HostTensor::data<double>: the tensor is )"
       "float32 [4]; ask for data<float>()"},
      {"MistypedComponent",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([] {
                          auto parse = [](const Element& in) -> absl::StatusOr<Element> {
                            Element out = in;
                            out.Set("id", in["idd"]);
                            return out;
                          };
                          return Examples().Map(parse).Batch(8);
                        }));
       },
       "input_fn, mode train: {return Examples().Map(parse).Batch(8);}: Map: element 0 of the source: "
       R"({out.Set("id", in["idd"]);}: component 'idd' is not there; the element has 'x', 'image', 'id', )"
       "'label'; did you mean 'id'?"},
      {"SwappedResults",
       [](const std::string& dir) {
         return TrainOn(
             dir, Yields([] {
               auto pair = [](const Element& in) -> absl::StatusOr<Element> { return Element{{in["label"], in["x"]}}; };
               const std::vector<ComponentSpec> spec = {{"x", DType::kFloat32, {4}}, {"label", DType::kInt32, {}}};
               return Examples().Map(pair, {.spec = spec}).Batch(8);
             }));
       },
       "{return Examples().Map(pair, {.spec = spec}).Batch(8);}: Map, element 0 of the source: component "
       "'x' is int32[] where float32[4] is expected; a result without names is taken in the order of the "
       "names: name its components with Element::Set"},
      {"AColumnTooMany",
       [](const std::string& dir) {
         const std::string path = dir + ".csv";
         if (absl::Status status = WriteFileUnsynced(Env::Default(), path, "x,label\n1.5,0\n2,5,1\n"); !status.ok()) {
           return status;
         }
         const ModelFn model = ModelOf([](const Features& f, const Tensor& labels) {
           return losses::SparseSoftmaxCrossEntropy(labels, layers::Dense(Reshape(f["x"], {kBatch, 1}), {.units = 3}));
         });
         return TrainModel(dir, model, Yields([path] {
                             return Dataset::Csv({path}, {{"x", DType::kFloat32}, {"label", DType::kInt32}}).Batch(2);
                           }));
       },
       "{dir}.csv: line 3: there are 3 columns where 2 are expected: '2,5,1'"},
      {"FileThatIsNotThere",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([dir] { return Dataset::TFRecord({dir + "/train.tfrecord"}).Batch(8); }));
       },
       "input_fn, mode train: {return TrainOn(dir, Yields([dir] { return Dataset::TFRecord({dir + "
       R"("/train.tfrecord"}).Batch(8); }));}: TFRecord: {dir}/train.tfrecord: there is no such file; give )"
       "the path of one that is there, absolute or from the working directory"},
      {"BatchOfNone",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([] {
                          Dataset made = Examples().Batch(0);
                          return made;
                        }));
       },
       "input_fn, mode train: {Dataset made = Examples().Batch(0);}: Batch: the size must be at least 1, got 0"},
      {"ShufflesNothing",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([] {
                          Dataset made = Examples().Shuffle(0).Batch(8);
                          return made;
                        }));
       },
       "input_fn, mode train: {Dataset made = Examples().Shuffle(0).Batch(8);}: Shuffle: the buffer size must be "
       "between 1 and "
       "2147483648, got 0"},
      {"LabelsAreStrings",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([] {
                          auto name = [](const Element& in) -> absl::StatusOr<Element> {
                            Element out = in;
                            out.Set("label", "cat");
                            return out;
                          };
                          return Examples().Map(name).Batch(8);
                        }));
       },
       "input_fn, mode train: the dataset's component 'label' is of strings, and a program computes with "
       "numbers only; turn them into numbers, or leave them out, with .Map"},
      {"ExamplesOfSeveralShapes",
       [](const std::string& dir) {
         return TrainOn(
             dir, Yields([] {
               const std::vector<ComponentSpec> spec = {{"x", DType::kFloat32, {-1}}, {"label", DType::kInt32, {}}};
               auto make = [](int64_t* i, Element* out, bool* end) {
                 *end = *i == 4;
                 out->components = {HostTensor::Zeros(DType::kFloat32, {*i + 1}), HostTensor::Scalar<int32_t>(0)};
                 ++*i;
                 return absl::OkStatus();
               };
               return Dataset::FromGenerator(make, spec).Batch(2);
             }));
       },
       R"(input_fn, mode train: component "x" has shape [b,b], whose dimension 1 is not fixed; make all )"
       "examples equally large, in a Map or with a size in PaddedBatchOptions.padded_shapes"},
      // Beyond the forty.
      {"EmptyTensor",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([] { return Dataset::FromTensorSlices({{"x", HostTensor()}}).Batch(2); }));
       },
       R"(input_fn, mode train: {return TrainOn(dir, Yields([] { return Dataset::FromTensorSlices({{"x", )"
       "HostTensor()}}).Batch(2); }));}: FromTensorSlices: tensor 'x' is empty (default-made); give it a type, "
       "a shape and values"},
      {"BatchTwice",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([] {
                          Dataset batched = Examples(20).Batch(8);
                          return batched.Batch(4);
                        }));
       },
       "input_fn, mode train: {return batched.Batch(4);}: Batch: the elements are batches of 8 already, from "
       "the Batch at {Dataset batched = Examples(20).Batch(8);}, and the last one may be smaller: remove one of "
       "the two, or set drop_remainder in the first"},
      {"EndlessEvaluation",
       [](const std::string& dir) {
         return EvaluateModel(dir, GoodModel, Yields([] { return Examples().Repeat().Batch(8); }));
       },
       "input_fn, mode eval: the dataset never ends, because of Repeat ({return EvaluateModel(dir, GoodModel, "
       "Yields([] { return Examples().Repeat().Batch(8); }));}), so an evaluation of all of it would not either; "
       "leave Repeat out, give it a count, or say how many steps to evaluate (EvaluateOptions.steps, "
       "EvalSpec.steps)"},
      {"MapThrows",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([] {
                          auto decode = [](const Element& e) -> absl::StatusOr<Element> {
                            if (e.components[2].data<int32_t>()[0] == 3) throw std::runtime_error("bad JPEG");
                            return e;
                          };
                          return Examples().Map(decode, {.num_parallel_calls = 2}).Batch(8).Prefetch(2);
                        }));
       },
       "{return Examples().Map(decode, {.num_parallel_calls = 2}).Batch(8).Prefetch(2);}: Map, element 3 of the "
       R"(source: threw std::runtime_error: "bad JPEG")"},
      {"MapFails",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([] {
                          auto decode = [](const Element& e) -> absl::StatusOr<Element> {
                            if (e.components[2].data<int32_t>()[0] == 3) return absl::DataLossError("bad JPEG");
                            return e;
                          };
                          return Examples().Map(decode).Batch(8);
                        }));
       },
       "{return Examples().Map(decode).Batch(8);}: Map, element 3 of the source: bad JPEG"},
      {"ShortVector",
       [](const std::string& dir) {
         return TrainOn(dir, Yields([] {
                          HostTensor x = HostTensor::FromVector<float>({4, 4}, {1, 2, 3});
                          return Dataset::FromTensorSlices({{"x", x}}).Batch(2);
                        }));
       },
       R"(input_fn, mode train: {return Dataset::FromTensorSlices({{"x", x}}).Batch(2);}: FromTensorSlices: )"
       "tensor 'x': {HostTensor x = HostTensor::FromVector<float>({4, 4}, {1, 2, 3});}: HostTensor::FromVector: "
       "the shape [4,4] has 16 elements, but 3 values are given"},
  };
  return *mistakes;
}

}  // namespace tandem::mistakes
