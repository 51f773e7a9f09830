#include "estimator/summary/graph_def.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "data/files/wire_fields.h"
#include "frontends/summary_marks.h"

namespace tandem {
namespace {

// Field numbers of the messages.
constexpr uint32_t kNode = 1, kVersions = 4;                                     // field numbers of GraphDef
constexpr uint32_t kName = 1, kOp = 2, kInput = 3, kDevice = 4, kAttribute = 5;  // field numbers of NodeDef
constexpr uint32_t kKey = 1, kValue = 2;                                         // field numbers of an entry of a map
constexpr uint32_t kList = 1, kString = 2, kType = 6;                            // field numbers of AttrValue
// The field numbers of ListValue, TensorShapeProto and Dim.
constexpr uint32_t kShapeOfList = 7, kDim = 2, kSize = 1;
constexpr uint32_t kProducer = 1;            // field numbers of VersionDef
constexpr uint64_t kProducerVersion = 1395;  // the number for graphs of TensorFlow 2.15

// Returns the number of a type in tensorflow/core/framework/types.proto.
uint64_t TypeNumber(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 1;
    case DType::kFloat64:
      return 2;
    case DType::kInt32:
      return 3;
    case DType::kUInt8:
      return 4;
    case DType::kString:
      return 7;
    case DType::kInt64:
      return 9;
    case DType::kBool:
      return 10;
    case DType::kBFloat16:
      return 14;
    case DType::kInvalid:
      break;
  }
  return 0;
}

// Returns "/job:worker/replica:0/task:0/device:CPU:1" for "cpu:1".
std::string DeviceName(absl::string_view device) {
  const size_t colon = device.find(':');
  if (colon == absl::string_view::npos) return std::string(device);
  return absl::StrCat("/job:worker/replica:0/task:0/device:", absl::AsciiStrToUpper(device.substr(0, colon)),
                      device.substr(colon));
}

void AppendAttribute(absl::string_view key, absl::string_view value, std::string* node) {
  std::string entry;
  wire::AppendBytes(kKey, key, &entry);
  wire::AppendBytes(kValue, value, &entry);
  wire::AppendBytes(kAttribute, entry, node);
}

std::string ShapeMessage(const Shape& shape) {
  std::string message;
  for (int64_t size : shape) {
    std::string dim;
    // The size of the batch dimension, -1, means "unknown" in TensorFlow too. A size of 0 is the field's default and is
    // not written.
    if (size != 0) wire::AppendNumber(kSize, static_cast<uint64_t>(size), &dim);
    wire::AppendBytes(kDim, dim, &message);
  }
  return message;
}

std::string NodeMessage(const GraphDefNode& node) {
  std::string message;
  wire::AppendBytes(kName, node.name, &message);
  wire::AppendBytes(kOp, node.op, &message);
  for (const std::string& input : node.inputs) wire::AppendBytes(kInput, input, &message);
  if (!node.device.empty()) wire::AppendBytes(kDevice, DeviceName(node.device), &message);
  if (!node.outputs.empty()) {
    std::string shapes, value, type;
    for (const GraphNode::Result& output : node.outputs) {
      wire::AppendBytes(kShapeOfList, ShapeMessage(output.shape), &shapes);
    }
    wire::AppendBytes(kList, shapes, &value);
    AppendAttribute("_output_shapes", value, &message);
    wire::AppendNumber(kType, TypeNumber(node.outputs[0].dtype), &type);
    AppendAttribute("dtype", type, &message);
  }
  for (const auto& [key, text] : node.attributes) {
    std::string value;
    wire::AppendBytes(kString, text, &value);
    AppendAttribute(key, value, &message);
  }
  return message;
}

// Returns the name that the graph shows for an op: "ReduceSum" for "reduce_sum", for example.
std::string OpName(absl::string_view op) {
  if (op == "read") return "Variable";
  std::string name;
  bool upper = true;
  for (char c : op) {
    if (c == '_') {
      upper = true;
    } else {
      name += upper ? absl::ascii_toupper(c) : c;
      upper = false;
    }
  }
  return name;
}

}  // namespace

std::string GraphDef(const std::vector<GraphDefNode>& nodes) {
  std::string versions, graph;
  for (const GraphDefNode& node : nodes) wire::AppendBytes(kNode, NodeMessage(node), &graph);
  wire::AppendNumber(kProducer, kProducerVersion, &versions);
  wire::AppendBytes(kVersions, versions, &graph);
  return graph;
}

std::string NodeNames::Take(absl::string_view wanted) {
  std::string name;
  for (char c : wanted) name += absl::ascii_isalnum(c) || absl::StrContains("_.-/", c) ? c : '_';
  // A name must begin with a letter, a digit or a dot.
  if (name.empty() || (!absl::ascii_isalnum(name[0]) && name[0] != '.')) name.insert(0, "n");
  std::string unique = name;
  for (int i = 1; !taken_.insert(unique).second; ++i) unique = absl::StrCat(name, "_", i);
  return unique;
}

std::vector<GraphDefNode> NodesOfModel(const std::vector<GraphNode>& graph) {
  std::vector<GraphDefNode> nodes;
  NodeNames names;
  std::vector<std::string> name_of(graph.size());
  std::map<std::string, std::string> reads;  // by variable, the name of the node that reads it
  for (size_t i = 0; i < graph.size(); ++i) {
    const GraphNode& from = graph[i];
    if (ParseSummaryMark(from.name).has_value() || ParseSummaryMark(from.name + "/").has_value()) continue;
    GraphDefNode node;
    node.name = name_of[i] = names.Take(from.op == "output" ? absl::StrCat("output/", from.name) : from.name);
    node.op = OpName(from.op);
    if (from.op == "read") reads.emplace(from.variable, node.name);
    if (const auto read = reads.find(from.variable); from.op == "assign" && read != reads.end()) {
      node.inputs.push_back(read->second);
    }
    for (const GraphNode::Operand& operand : from.operands) {
      const std::string& maker = name_of[operand.node];
      node.inputs.push_back(operand.result == 0 ? maker : absl::StrCat(maker, ":", operand.result));
    }
    node.outputs = from.results;
    if (!from.source.empty()) node.attributes["source"] = from.source;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace tandem
