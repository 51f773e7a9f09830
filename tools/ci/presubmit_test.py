"""The checks of includes in tools/ci/presubmit, on small trees: what they name, and what they let pass."""
import importlib.machinery
import importlib.util
import os
import sys
import tempfile

sys.path.insert(0, os.path.abspath("tests/support"))
import xunit  # noqa: E402


def found(check, tree):
    """What `check` says of a tree {name: text}."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("presubmit", os.path.abspath("tools/ci/presubmit"))
    presubmit = importlib.util.module_from_spec(importlib.util.spec_from_loader("presubmit", loader))
    loader.exec_module(presubmit)
    with tempfile.TemporaryDirectory(dir=os.environ["TEST_TMPDIR"]) as presubmit.ROOT:
        for name, text in tree.items():
            path = os.path.join(presubmit.ROOT, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return list(getattr(presubmit, check)(sorted(tree)))


def equal(actual, wanted):
    assert actual == wanted, f"\n{actual}\n instead of\n{wanted}"


# A sample that includes the Estimator, which includes what the test puts into it.
def with_estimator(text, **more):
    sample = '#include <sys/stat.h>\n#include "tandem/estimator/estimator.h"\n#include "nlohmann/json.hpp"\n'
    tree = {"samples/mnist.cc": sample, "tandem.h": '#include "tandem/estimator/estimator.h"\n', "estimator/estimator.h": text, "runtime/session/session.h": "", "graph/ops.h": "",
            "graph/ir/ops.h": ""}
    return {**tree, **{name.replace("__", "/") + ".h": value for name, value in more.items()}}


def a_file_reaches_a_costly_header_that_it_does_not_use():
    tree = {"estimator/run.cc": '#include "estimator/run.h"\n', "estimator/run.h": '#include "runtime/session/session.h"\n',
            "runtime/session/session.h": '#include <string>\n#include "runtime/format/executable_generated.h"\n',
            "runtime/session/session.cc": '#include "runtime/session/session.h"\n#include <grpcpp/grpcpp.h>\n'}
    at = "runtime/session/session.h > runtime/format/executable_generated.h"
    equal(found("costly_headers", tree), ["estimator/run.cc > estimator/run.h > " + at, "estimator/run.h > " + at,
                                          "runtime/session/session.cc > " + at, at, "runtime/session/session.cc > grpcpp/grpcpp.h"])


def files_that_use_a_costly_header_may_reach_it():
    equal(found("costly_headers", {
        "runtime/format/read.cc": '#include "runtime/format/executable_generated.h"\nfb::Index* index;\n',
        "passes/compile/compile.cc": '#include "runtime/format/index.h"\n', "runtime/format/index.h": "",
        "runtime/cycle.h": '#include "runtime/cycle.h"\n', "runtime/dial.cc": "#include <grpcpp/grpcpp.h>\ngrpc::Status s;\n",
        "cluster/wire.h": "#include <grpcpp/grpcpp.h>\n"}), [])


def public_headers_reach_each_other():
    equal(found("public_headers", with_estimator('#include <memory>\n#include "absl/status/status.h"\n'
                                                 '#include "tandem/graph/ops.h"\n')), [])


def a_header_for_users_reaches_the_runtime():
    at = "tandem.h > estimator/estimator.h"
    equal(found("public_headers", with_estimator('#include "tandem/graph/ops.h"\n#include "runtime/session.h"\n',
                                                 runtime__session="")),
          ["runtime/session.h: not for users (%s > runtime/session.h)" % at,
           "estimator/estimator.h:2: \"runtime/session.h\" is \"tandem/runtime/session.h\" for users"])
    equal(found("public_headers", with_estimator('#include "tandem/estimator/loop.h"\n', estimator__loop=
                                                 '#  include "runtime/format/executable_generated.h"  // is generated\n')),
          ["estimator/loop.h:1: runtime/format/executable_generated.h (%s > estimator/loop.h)" % at])


def a_header_for_users_reaches_a_library():
    at = "(tandem.h > estimator/estimator.h)"
    for header in ("flatbuffers/flatbuffers.h", "mlir/IR/Value.h", "nlohmann/json.hpp", "png.h"):
        equal(found("public_headers", with_estimator("#include <%s>\n" % header)),
              ["estimator/estimator.h:1: %s %s" % (header, at)])


def a_header_for_users_without_a_mark():
    marked = "namespace TANDEM_API tandem {\nint F();\n}  // namespace tandem\n"
    declares = "namespace tandem {\n\nclass Graph;  // elsewhere\n\n}  // namespace tandem\n"
    equal(found("public_headers", with_estimator(declares + marked)), [])
    equal(found("public_headers", with_estimator(declares.replace("Graph;", "Graph {};"))),
          ["estimator/estimator.h:1: the namespace is not marked TANDEM_API, and does more than declare"])


def a_sample_includes_the_runtime():
    equal(found("public_headers", {"samples/a.cc": '#include "runtime/session.h"\n', "runtime/session.h": ""}),
          ["samples/a.cc:1: runtime/session.h is not reached by tandem.h"])


def tests_of_samples_include_what_they_like():
    equal(found("public_headers", {"samples/a_test.cc": '#include "runtime/session.h"\n', "runtime/session.h": ""}), [])


def headers_that_the_guide_names():
    tree = {"docs/guide/data.md": "Pictures: `tandem/data/resize.h`; costs: `tools/costs.h`.", "tools/costs.h": "",
            "data/resize.h": ""}
    equal(found("public_headers", tree), ["docs/guide/data.md: tandem/data/resize.h is not reached by tandem.h"])
    tree["tandem.h"] = '#include "tandem/data/resize.h"\n'
    equal(found("public_headers", tree), [])


def floors():
    tree = {"graph/a.h": '#include "base/env.h"\n#include "graph/b.h"\n#include "absl/x.h"\n', "graph/b.h": "",
            "base/env.h": "", "estimator/a.cc": '#include "passes/compile/compile.h"\n', "passes/compile/compile.h": "",
            "tools/a.cc": '#include "estimator/a.h"\n'}
    equal(found("floors", tree), [])
    tree["graph/b.h"] = '\n#include "estimator/a.h"\n'
    tree["passes/compile/compile.h"] = '#include "frontends/layers.h"\n'
    tree["frontends/layers.h"] = ""
    equal(found("floors", tree), ["graph/b.h:2: estimator/a.h", "passes/compile/compile.h:1: frontends/layers.h"])


def kinds_of_commands():
    text = "\nreturn command.body.Visited(Made());\n"
    tree = {"runtime/commands/new_command.cc": text, "runtime/run_test.cc": text, "runtime/session/run.cc": ""}
    equal(found("command_kinds", tree), [])
    tree["runtime/session/run.cc"] = text
    equal(found("command_kinds", tree), ["runtime/session/run.cc:2: return command.body.Visited(Made());"])


def kinds_in_passes():
    op = "def Exec_%sOp : Exec_Op<\"%s\", [\n    Pure, DeclareOpInterfaceMethods<Exec_CommandOp>]> {\n}\n"
    bucket = "passes/phases/distribute/bucket_all_reduce.cc"
    tree = {"passes/exec/ops.td": op % ("Copy", "copy") + op % ("AllReduce", "all_reduce"),
            "passes/phases/memory/place.cc": "if (mlir::isa<exec::CommandOp>(op)) {\n",
            "passes/exec/ops.cc": "cast<exec::CopyOp>(op)", bucket: "getOps<exec::AllReduceOp>()",
            "passes/make.cc": "builder.create<exec::CopyOp>(loc)"}
    equal(found("kinds_in_passes", tree), [])
    tree["passes/phases/memory/place.cc"] += "auto copy = mlir::dyn_cast<exec::CopyOp>(op);\n"
    tree[bucket] = ""
    equal(found("kinds_in_passes", tree), ["passes/phases/memory/place.cc:2: Copy", bucket + ": no longer names AllReduce"])


def json_of_others():
    text = "\nconst auto json = nlohmann::json::parse(text);\n"
    tree = {"tools/a.cc": text, "data/a_test.cc": text, "cluster/a.cc": "if (JsonIsTooDeep(text)) return;" + text,
            "base/json_parse.cc": text}
    equal(found("json_of_others", tree), ["tools/a.cc:2: " + text.strip()])


def public_packages():
    tree = {"passes/BUILD": 'package(default_visibility = ["//visibility:public"])', "base/BUILD": "//visibility:public"}
    equal(found("visibility", tree), ["passes/BUILD:1: public"])


def built_tests():
    tree = {"a/BUILD": 'srcs = ["b_test.cc"]', "a/b_test.cc": "", "a/sub/c_test.cc": "", "d/BUILD": 'glob(["*_test.cc"])',
            "d/e_test.cc": ""}
    equal(found("built_tests", tree), ["a/sub/c_test.cc: not in a/BUILD"])


def code_words():
    page = "`Left` and `RightOne`, `a_b`, `a_*`, `absl::Mutex`, `passes/a.h`.\n```\nNotHere\n```\n"
    tree = {"docs/developers/" + "a.md": page, "passes/a.h": "class RightOne; int a_b;\n"}
    equal(found("code_words", tree), [])
    tree["passes/a.h"] = "int a_b;\n"
    equal(found("code_words", tree), ["docs/developers/" + "a.md:1: RightOne"])


def walls():
    tree = {"estimator/a.cc": '#include "runtime/cuda/driver.h"\n#include "runtime/session/session.h"\n',
            "estimator/a_test.cc": '#include "runtime/cuda/driver.h"\n', "runtime/cuda/driver.h": ""}
    equal(found("floors", tree), ["estimator/a.cc:1: runtime/cuda/driver.h"])
    tree = {"estimator/serving/model.cc": '#include "passes/compile/compile.h"\n#include "runtime/run/run.h"\n',
            "estimator/a.cc": '#include "passes/compile/compile.h"\n', "passes/compile/compile.h": ""}
    equal(found("floors", tree), ["estimator/serving/model.cc:1: passes/compile/compile.h"])
    tree = {"runtime/cpu/a.cc": '#include "base/llvm_memory.h"\n#include "llvm/Support/Error.h"\n#include <elf.h>\n',
            "runtime/testing/a.cc": '#include "llvm/Support/Error.h"\n', "base/llvm_memory.h": "",
            "passes/a.cc": '#include "base/llvm_memory.h"\n#include "llvm/Support/Error.h"\n'}
    equal(found("floors", tree), ["runtime/cpu/a.cc:1: base/llvm_memory.h", "runtime/cpu/a.cc:2: llvm/Support/Error.h"])


def parts_of_a_folder():
    tree = {"runtime/parts.txt": "# from the ground up\nbase\nrun\n", "runtime/base/a.h": "",
            "runtime/run/b.h": '#include "runtime/base/a.h"\n', "runtime/run/c.h": '#include "runtime/run/b.h"\n',
            "runtime/base/a_test.cc": '#include "runtime/run/b.h"\n', "graph/d.h": '#include "runtime/run/b.h"\n'}
    equal(found("parts", tree), [])
    tree["runtime/base/e.h"] = '#include <string>\n#include "runtime/run/b.h"\n'
    tree["runtime/loose.h"] = ""
    equal(found("parts", tree), ["runtime/base/e.h:2: runtime/run/b.h", "runtime/loose.h: in no part of runtime/parts.txt"])
    tree["runtime/parts.txt"] = "base\n.\nrun\n"
    tree["runtime/loose.h"] = '#include "runtime/base/a.h"\n#include "runtime/run/b.h"\n'
    equal(found("parts", tree), ["runtime/base/e.h:2: runtime/run/b.h", "runtime/loose.h:2: runtime/run/b.h"])


xunit.run("presubmit", [(f.__name__, f) for f in (
    code_words, parts_of_a_folder,
    a_file_reaches_a_costly_header_that_it_does_not_use, files_that_use_a_costly_header_may_reach_it,
    public_headers_reach_each_other, a_header_for_users_reaches_the_runtime, a_header_for_users_reaches_a_library, a_header_for_users_without_a_mark,
    a_sample_includes_the_runtime, tests_of_samples_include_what_they_like, headers_that_the_guide_names, floors,
    kinds_of_commands, kinds_in_passes, json_of_others, public_packages, walls,
    built_tests)])
