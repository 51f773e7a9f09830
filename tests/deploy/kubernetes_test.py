"""The manifests of deploy/kubernetes: fields and types, what belongs together, and their processes on this machine."""
import copy
import json
import os
import signal
import sys

import yaml

sys.path.insert(0, os.path.abspath("tests/support"))
sys.path.insert(0, os.path.abspath("tests/deploy"))
import kubernetes_api  # noqa: E402
import pods  # noqa: E402
import tasks  # noqa: E402
import xunit  # noqa: E402

FOLDER = "deploy/kubernetes"
MANIFESTS = sorted(name for name in os.listdir(FOLDER) if name.endswith(".yaml"))


class Loader(yaml.SafeLoader):
    """Refuses a key that is twice in one map, as kubectl does."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"a key is twice in {keys}{node.start_mark}"
        return super().construct_mapping(node, deep)


def documents(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return list(yaml.load_all(file, Loader))


def templates(docs):
    """(what it is, template) of all pods."""
    for name, spec, _ in pods.jobs_of(docs):
        yield name, spec["template"]
    for document in docs:
        if document["kind"] == "TFJob":
            yield from ((kind, spec["template"]) for kind, spec in document["spec"]["tfReplicaSpecs"].items())


def claims():
    return {d["metadata"]["name"] for d in documents("model_dir.yaml")}


def mismatches(docs):
    """A line for all that does not fit together in the documents of a manifest."""
    found = []

    def want(good, what):
        if not good:
            found.append(what)

    for what, template in templates(docs):
        spec = template["spec"]
        volumes = {v["name"]: v for v in spec["volumes"]}
        for container in spec["containers"]:
            mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
            want(set(mounts) == set(volumes), f"{what}: volumes {sorted(volumes)} and mounts {sorted(mounts)}")
            want(container["resources"]["limits"] == container["resources"]["requests"], f"{what}: limits, requests")
            shared = [n for n, path in mounts.items() if path == "/dev/shm"]
            want(shared and volumes.get(shared[0], {}).get("emptyDir", {}).get("medium") == "Memory",
                 f"{what}: /dev/shm is not memory")
        for volume in volumes.values():
            claim = volume.get("persistentVolumeClaim", {}).get("claimName")
            want(claim is None or claim in claims(), f"{what}: nobody makes the claim {claim}")
        want(spec.get("terminationGracePeriodSeconds", 30) >= 60, f"{what}: too short to save")
        want(spec["securityContext"]["runAsUser"] == 1000, f"{what}: not the user of the image")
    for name, spec, subdomain in pods.jobs_of(docs):
        environments = pods.pods_of_job(name, spec)
        container, = spec["template"]["spec"]["containers"]
        for pod, (_, environment) in environments.items():
            host, _, port = environment["TANDEM_COORDINATOR"].partition(":")
            want(host in pods.host_names([f"{name}-0"], subdomain), f"{pod}: no name of pod 0: {host}")
            want(int(port) in [p["containerPort"] for p in container["ports"]], f"{pod}: port {port} is not listed")
            want(int(environment["TANDEM_NUM_PROCESSES"]) == spec["completions"] == spec["parallelism"],
                 f"{pod}: TANDEM_NUM_PROCESSES, completions and parallelism differ")
        # The API server refuses podFailurePolicy with another.
        want(spec["template"]["spec"]["restartPolicy"] == "Never", f"{name}: restartPolicy")
        rules = spec["podFailurePolicy"]["rules"]
        want(set(failing_codes(spec)) == tasks.PERMANENT, f"{name}: the exit codes that end the Job")
        want(all(r["onExitCodes"].get("containerName") in (None, container["name"])
                 for r in rules if "onExitCodes" in r), f"{name}: containerName")
    return found


def failing_codes(spec):
    return [code for rule in spec["podFailurePolicy"]["rules"] if rule["action"] == "FailJob"
            for code in rule["onExitCodes"]["values"]]


def problems(docs):
    return [e for d in docs for e in kubernetes_api.check(d)] or mismatches(docs)


def manifest_is_right(name):
    def test():
        found = problems(documents(name))
        assert not found, "\n".join(found)
    return test


def fields_of(value, path=()):
    """Paths of all map keys in a value, but those of free maps, where no name is wrong."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if path[-1:] not in (("labels",), ("selector",), ("limits",), ("requests",)):
                yield path + (key,)
            yield from fields_of(inner, path + (key,))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from fields_of(inner, path + (i,))


def changed(document, path, change):
    """A copy in which `change(map, key)` was applied to the map that has the last key of the path."""
    result = copy.deepcopy(document)  # aliases of YAML stay aliases
    at = result
    for step in path[:-1]:
        at = at[step]
    change(at, path[-1])
    return result


def rename(at, key):
    at[key + "s"] = at.pop(key)


def every_misspelt_field_is_found():
    count = 0
    for name in MANIFESTS:
        for document in documents(name):
            for path in fields_of(document):
                damaged = changed(document, path, rename)
                assert kubernetes_api.check(damaged), f"{name}: {'.'.join(map(str, path))} misspelt is not found"
                count += 1
    assert count > 200, count


def wrong_types_and_words_are_found():
    docs = {d["kind"]: d for name in MANIFESTS for d in documents(name)}
    task = ("spec", "template", "spec")
    for kind, path, value in [
            ("Job", (*task, "containers", 0, "env", 0, "value"), 4),  # the usual one: without quotes
            ("Job", (*task, "restartPolicy"), "never"),
            ("Job", (*task, "terminationGracePeriodSeconds"), "120"),
            ("Job", (*task, "containers", 0, "args"), "--epochs=5"),
            ("Job", ("spec", "podFailurePolicy", "rules", 0, "onExitCodes", "values", 0), "2"),
            ("Job", ("spec", "podFailurePolicy", "rules", 1, "onPodConditions", 0, "status"), True),
            ("Job", (*task, "containers", 0, "resources", "limits", "memory"), "2 GiB"),
            ("Job", ("apiVersion",), "batch/v2"),
            ("Service", ("spec", "ports", 0, "port"), "2222"),
            ("JobSet", ("spec", "failurePolicy", "rules", 0, "action"), "FailJobset"),
            ("JobSet", ("spec", "failurePolicy", "rules", 0, "onJobFailureReasons", 0), "PodFailure"),
            ("TFJob", ("spec", "runPolicy", "cleanPodPolicy"), None)]:
        assert not kubernetes_api.check(docs[kind])
        damaged = changed(docs[kind], path, lambda at, key, value=value: at.__setitem__(key, value))
        assert kubernetes_api.check(damaged), f"{kind}.{path} = {value!r} is not found"


def what_does_not_fit_is_found():
    for name in ("indexed_job.yaml", "jobset.yaml"):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            text = file.read()
        for old, new in [("completions: 4", "completions: 3"), ('value: "4"', 'value: "8"'), ("-0.train.", "-1.train."),
                         (".svc.cluster.local:2222", ":2222"), (".cluster.local:2222", ".cluster.local:2223"),
                         ("values: [2, 65, 66, 70, 74]", "values: [2, 65, 66, 70, 74, 75]"),
                         ("claimName: tandem-model-dir", "claimName: model-dir"), ("medium: Memory", 'medium: ""'),
                         ("restartPolicy: Never", "restartPolicy: OnFailure"),
                         ("containerName: train", "containerName: t"),
                         ("terminationGracePeriodSeconds: 120", "terminationGracePeriodSeconds: 10"),
                         ("publishNotReadyAddresses: true", "publishNotReadyAddresses: false"),
                         ("subdomain: train", "subdomain: other")]:
            assert old in text, old
            # JobSet's controller makes the Service, with names that follow the subdomain.
            if name == "jobset.yaml" and old.startswith("publishNotReady"):
                continue
            docs = list(yaml.load_all(text.replace(old, new), Loader))
            assert not [e for d in docs for e in kubernetes_api.check(d)], f"{name}: {new}"
            assert mismatches(docs), f"{name}: {new} is not found"


def every_exit_code_has_a_place():
    assert tasks.PERMANENT | tasks.AGAIN | {0} == tasks.documented_exit_codes()


def local_pods(all_pods, addresses, model_dir, flags):
    ports = tasks.free_ports(len(addresses))
    # What the image has in /opt/tandem is here what was built (tests/deploy/image_test.py).
    return pods.on_this_machine(all_pods, {"/opt/tandem": os.getcwd(), "/model_dir": model_dir},
                                {a: f"127.0.0.1:{p}" for a, p in zip(sorted(addresses), ports)}, flags)


def pods_of(name, model_dir, flags):
    """The pods of the only Job in a manifest, as processes of this machine."""
    (job, spec, _), = pods.jobs_of(documents(name))
    made = pods.pods_of_job(job, spec)
    return local_pods(made, {e["TANDEM_COORDINATOR"] for _, e in made.values()}, model_dir, flags), spec


def trains_together(name):
    def test():
        commands, _ = pods_of(name, tasks.fresh_dir("model_dir"), tasks.quick_flags(tasks.small_data()))
        assert len(commands) == 4 and all("--threads=4" in command for command, _ in commands.values()), commands
        running = tasks.Tasks(commands)
        running.expect(0)
        chief = running.output(sorted(commands)[0])
        assert "batch 8 x 1 replica x 4 workers = 32" in chief, chief[-3000:]
        assert "threads: 1," in chief and "accuracy = " in chief.splitlines()[-1], chief[-3000:]
        assert "global_step = 6," in chief.splitlines()[-1], chief[-3000:]
        for other in sorted(commands)[1:]:
            assert "accuracy" not in running.output(other), running.output(other)
    return test


def a_pod_is_evicted_and_training_goes_on():
    model_dir, data = tasks.fresh_dir("model_dir"), tasks.small_data()
    commands, spec = pods_of("indexed_job.yaml", model_dir, tasks.quick_flags(data) + ["--max_steps=1000000"])
    running = tasks.Tasks(commands)
    running.wait_for("train-0", "Saving checkpoints for 5 into")
    running.processes["train-1"].send_signal(signal.SIGTERM)
    running.expect({"train-0": 75, "train-1": 143, "train-2": 75, "train-3": 75})
    assert not {75, 143} & set(failing_codes(spec))
    step = tasks.saved_step(os.path.join(model_dir, "fashion_mnist"))
    assert step >= 5, step
    again, _ = pods_of("indexed_job.yaml", model_dir, tasks.quick_flags(data) + [f"--max_steps={step + 2}"])
    running = tasks.Tasks(again)
    running.expect(0)
    chief = running.output("train-0")
    assert f"model.ckpt-{step}" in chief and f"global_step = {step + 2}," in chief.splitlines()[-1], chief[-3000:]


def a_wrong_flag_ends_the_job():
    commands, spec = pods_of("jobset.yaml", tasks.fresh_dir("model_dir"), ["--devices=tpu:0"])
    tasks.Tasks(commands).expect(2)
    assert 2 in failing_codes(spec)


def tfjob_trains_with_a_server():
    document, = documents("tfjob.yaml")
    made = pods.pods_of_tfjob(document)
    config = json.loads(made["train-chief-0"][1]["TF_CONFIG"])
    assert set(config["cluster"]) == {"chief", "worker", "ps"}, config
    flags = [*tasks.quick_flags(tasks.small_data()), "--eval_start_delay_secs=0", "--eval_throttle_secs=1"]
    running = tasks.Tasks(local_pods(made, {a for list_ in config["cluster"].values() for a in list_},
                                     tasks.fresh_dir("model_dir"), flags))
    assert sorted(running.processes) == ["train-chief-0", "train-evaluator-0", "train-ps-0", "train-worker-0",
                                         "train-worker-1"]
    running.expect(0)
    chief = running.output("train-chief-0")
    assert "3 workers, each with steps of its own, and 1 parameter server." in chief, chief[-3000:]
    assert "accuracy = " in chief.splitlines()[-1], chief[-3000:]
    evaluator = running.output("train-evaluator-0")
    assert "[evaluator 0] Exiting evaluation" in evaluator, evaluator[-3000:]


xunit.run("kubernetes", [
    *((name.replace(".", "_") + "_is_right", manifest_is_right(name)) for name in MANIFESTS),
    *((f.__name__, f) for f in (every_misspelt_field_is_found, wrong_types_and_words_are_found,
                                what_does_not_fit_is_found, every_exit_code_has_a_place)),
    ("indexed_job_trains_together", trains_together("indexed_job.yaml")),
    ("jobset_trains_together", trains_together("jobset.yaml")),
    *((f.__name__, f) for f in (a_pod_is_evicted_and_training_goes_on, a_wrong_flag_ends_the_job,
                                tfjob_trains_with_a_server)),
])
