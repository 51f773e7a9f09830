"""The processes that Kubernetes makes of a manifest: their commands and environments, as far as deploy/ needs them."""
import json
import re

NAMESPACE = "default"
DOMAIN = "svc.cluster.local"


def expand(text, environment):
    """$(NAME) as Kubernetes replaces it in values, commands and arguments; what is not known stays."""
    def replaced(match):
        return match[0][1:] if match[0].startswith("$$") else environment.get(match[1], match[0])
    return re.sub(r"\$\$\([^)]*\)|\$\(([^)]*)\)", replaced, text)


def value_of(source, container):
    if "fieldRef" in source:
        assert source["fieldRef"]["fieldPath"] == "metadata.namespace", source
        return NAMESPACE
    kind, _, name = source["resourceFieldRef"]["resource"].partition(".")
    return str(int(container["resources"][kind][name]))  # of whole cores


def environment_of(container, given):
    """Variables of the container. `given`: what a controller adds."""
    environment = {}
    for entry in container.get("env", []):
        assert entry["name"] not in environment, f"{entry['name']} is there twice"
        if "valueFrom" in entry:
            environment[entry["name"]] = value_of(entry["valueFrom"], container)
        else:
            environment[entry["name"]] = expand(entry["value"], environment)
    assert not set(given) & set(environment), f"the controller sets {sorted(given)} itself"
    return {**environment, **given}


def task_of(template, given):
    """(command, environment) of a pod with one container."""
    container, = template["spec"]["containers"]
    environment = environment_of(container, given)
    return [expand(word, environment) for word in container["command"] + container["args"]], environment


def pods_of_job(name, spec):
    """{pod's name: (command, environment)}. The Job controller makes the names."""
    assert spec["completionMode"] == "Indexed"
    return {f"{name}-{i}": task_of(spec["template"], {"JOB_COMPLETION_INDEX": str(i)})
            for i in range(min(spec["completions"], spec["parallelism"]))}


def headless_name(services, template, job):
    """The Service that gives the pods of a Job their names, or None."""
    labels = {**template.get("metadata", {}).get("labels", {}), "batch.kubernetes.io/job-name": job, "job-name": job}
    for service in services:
        spec = service["spec"]
        if service["metadata"]["name"] == template["spec"].get("subdomain") and spec.get("clusterIP") == "None":
            # Without publishNotReadyAddresses, DNS tells the names of ready pods only.
            if spec.get("publishNotReadyAddresses") and spec["selector"].items() <= labels.items():
                return service["metadata"]["name"]
    return None


def jobs_of(documents):
    """(name, spec of a Job, subdomain or None) of all Jobs, those that a JobSet makes included."""
    services = [d for d in documents if d["kind"] == "Service"]
    for document in documents:
        name, spec = document["metadata"]["name"], document["spec"]
        if document["kind"] == "Job":
            yield name, spec, headless_name(services, spec["template"], name)
        elif document["kind"] == "JobSet":
            network = spec.get("network", {})
            subdomain = network.get("subdomain", name) if network.get("enableDNSHostnames") else None
            for replicated in spec["replicatedJobs"]:
                for i in range(replicated.get("replicas", 1)):
                    yield f"{name}-{replicated['name']}-{i}", replicated["template"]["spec"], subdomain


def host_names(pods, subdomain):
    return {f"{pod}.{subdomain}.{NAMESPACE}.{DOMAIN}" for pod in pods} if subdomain else set()


def pods_of_tfjob(document):
    """{pod's name: (command, environment)}, with the TF_CONFIG that the training operator sets."""
    name, replicas = document["metadata"]["name"], document["spec"]["tfReplicaSpecs"]
    cluster = {}
    for kind, spec in replicas.items():
        container, = spec["template"]["spec"]["containers"]
        assert container["name"] == "tensorflow", "the operator looks for a container of this name"
        port, = [p["containerPort"] for p in container["ports"] if p["name"] == "tfjob-port"]
        if kind != "Evaluator":  # which the operator does not list
            cluster[kind.lower()] = [f"{name}-{kind.lower()}-{i}.{NAMESPACE}.svc:{port}"
                                     for i in range(spec["replicas"])]
    pods = {}
    for kind, spec in replicas.items():
        for i in range(spec["replicas"]):
            config = {"cluster": cluster, "task": {"type": kind.lower(), "index": i}, "environment": "cloud"}
            pods[f"{name}-{kind.lower()}-{i}"] = task_of(spec["template"], {"TF_CONFIG": json.dumps(config)})
    return pods


def on_this_machine(pods, folders, addresses, flags):
    """The same processes here. `folders`: {folder in a pod: folder here}; `addresses`: {HOST:PORT: one of here}."""
    replacements = {**addresses, **folders}

    def local(text):
        for there, here in replacements.items():
            text = text.replace(there, here)
        return text

    result = {}
    for name, (command, environment) in pods.items():
        result[name] = ([local(word) for word in command] + flags, {k: local(v) for k, v in environment.items()})
        left = re.findall(r"[\w.-]+\.svc\b[\w.:-]*", " ".join(result[name][0] + list(result[name][1].values())))
        assert not left, f"{name}: names that nobody gives: {left}; there are {sorted(addresses)}"
    return result
