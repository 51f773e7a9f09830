"""Fields of Kubernetes' objects, and what of a manifest is not as they say.

The tables hold what deploy/kubernetes uses and what is usual beside it, not all fields. Sources:
- v1 and batch/v1: the models of the Python client kubernetes 31.0.0 (Kubernetes 1.31).
- jobset.x-k8s.io/v1alpha2: api/jobset/v1alpha2/jobset_types.go of kubernetes-sigs/jobset.
- kubeflow.org/v1: pkg/apis/kubeflow.org/v1 of kubeflow/training-operator (tensorflow_types.go, common_types.go).
"""
import re

# A type is str, int, bool, "quantity", a set of words, the name of a table, [type] for a list or {str: type} for a map.
FIELDS = {
    # v1
    "ObjectMeta": {"name": str, "namespace": str, "labels": {str: str}, "annotations": {str: str}},
    "Service": {"apiVersion": {"v1"}, "kind": {"Service"}, "metadata": "ObjectMeta", "spec": "ServiceSpec"},
    "ServiceSpec": {"clusterIP": str, "ports": ["ServicePort"], "publishNotReadyAddresses": bool,
                    "selector": {str: str}, "type": {"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"}},
    "ServicePort": {"name": str, "port": int, "protocol": {"TCP", "UDP", "SCTP"}},
    "PersistentVolumeClaim": {"apiVersion": {"v1"}, "kind": {"PersistentVolumeClaim"}, "metadata": "ObjectMeta",
                              "spec": "PersistentVolumeClaimSpec"},
    "PersistentVolumeClaimSpec": {
        "accessModes": [{"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"}],
        "resources": "VolumeResourceRequirements", "storageClassName": str, "volumeName": str},
    "VolumeResourceRequirements": {"limits": {str: "quantity"}, "requests": {str: "quantity"}},
    "PodTemplateSpec": {"metadata": "ObjectMeta", "spec": "PodSpec"},
    "PodSpec": {"containers": ["Container"], "initContainers": ["Container"], "volumes": ["Volume"],
                "restartPolicy": {"Always", "OnFailure", "Never"}, "terminationGracePeriodSeconds": int,
                "subdomain": str, "hostname": str, "hostNetwork": bool, "nodeSelector": {str: str},
                "securityContext": "PodSecurityContext", "serviceAccountName": str, "priorityClassName": str},
    "PodSecurityContext": {"runAsNonRoot": bool, "runAsUser": int, "runAsGroup": int, "fsGroup": int,
                           "fsGroupChangePolicy": {"Always", "OnRootMismatch"}, "seccompProfile": "SeccompProfile"},
    "SeccompProfile": {"type": {"RuntimeDefault", "Unconfined", "Localhost"}, "localhostProfile": str},
    "Container": {"name": str, "image": str, "imagePullPolicy": {"Always", "IfNotPresent", "Never"}, "command": [str],
                  "args": [str], "workingDir": str, "env": ["EnvVar"], "ports": ["ContainerPort"],
                  "resources": "ResourceRequirements", "securityContext": "SecurityContext",
                  "volumeMounts": ["VolumeMount"]},
    "EnvVar": {"name": str, "value": str, "valueFrom": "EnvVarSource"},
    "EnvVarSource": {"fieldRef": "ObjectFieldSelector", "resourceFieldRef": "ResourceFieldSelector"},
    "ObjectFieldSelector": {"apiVersion": str, "fieldPath": str},
    "ResourceFieldSelector": {"containerName": str, "divisor": "quantity", "resource": str},
    "ContainerPort": {"name": str, "containerPort": int, "protocol": {"TCP", "UDP", "SCTP"}},
    "ResourceRequirements": {"limits": {str: "quantity"}, "requests": {str: "quantity"}},
    "SecurityContext": {"allowPrivilegeEscalation": bool, "capabilities": "Capabilities", "privileged": bool,
                        "readOnlyRootFilesystem": bool, "runAsNonRoot": bool, "runAsUser": int},
    "Capabilities": {"add": [str], "drop": [str]},
    "VolumeMount": {"name": str, "mountPath": str, "subPath": str, "readOnly": bool},
    "Volume": {"name": str, "emptyDir": "EmptyDirVolumeSource",
               "persistentVolumeClaim": "PersistentVolumeClaimVolumeSource"},
    "EmptyDirVolumeSource": {"medium": {"", "Memory"}, "sizeLimit": "quantity"},
    "PersistentVolumeClaimVolumeSource": {"claimName": str, "readOnly": bool},
    # batch/v1
    "Job": {"apiVersion": {"batch/v1"}, "kind": {"Job"}, "metadata": "ObjectMeta", "spec": "JobSpec"},
    "JobTemplateSpec": {"metadata": "ObjectMeta", "spec": "JobSpec"},
    "JobSpec": {"activeDeadlineSeconds": int, "backoffLimit": int, "backoffLimitPerIndex": int,
                "completionMode": {"NonIndexed", "Indexed"}, "completions": int, "maxFailedIndexes": int,
                "parallelism": int, "podFailurePolicy": "PodFailurePolicy",
                "podReplacementPolicy": {"TerminatingOrFailed", "Failed"}, "suspend": bool,
                "template": "PodTemplateSpec", "ttlSecondsAfterFinished": int},
    "PodFailurePolicy": {"rules": ["PodFailurePolicyRule"]},
    "PodFailurePolicyRule": {"action": {"FailJob", "FailIndex", "Ignore", "Count"},
                             "onExitCodes": "PodFailurePolicyOnExitCodesRequirement",
                             "onPodConditions": ["PodFailurePolicyOnPodConditionsPattern"]},
    "PodFailurePolicyOnExitCodesRequirement": {"containerName": str, "operator": {"In", "NotIn"}, "values": [int]},
    "PodFailurePolicyOnPodConditionsPattern": {"type": str, "status": {"True", "False", "Unknown"}},
    # jobset.x-k8s.io/v1alpha2
    "JobSet": {"apiVersion": {"jobset.x-k8s.io/v1alpha2"}, "kind": {"JobSet"}, "metadata": "ObjectMeta",
               "spec": "JobSetSpec"},
    "JobSetSpec": {"replicatedJobs": ["ReplicatedJob"], "network": "Network", "failurePolicy": "FailurePolicy",
                   "suspend": bool, "ttlSecondsAfterFinished": int},
    "ReplicatedJob": {"name": str, "groupName": str, "template": "JobTemplateSpec", "replicas": int},
    "Network": {"enableDNSHostnames": bool, "subdomain": str, "publishNotReadyAddresses": bool},
    "FailurePolicy": {"maxRestarts": int, "restartStrategy": {"Recreate", "BlockingRecreate", "InPlaceRestart"},
                      "rules": ["FailurePolicyRule"]},
    "FailurePolicyRule": {
        "name": str, "action": {"FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts", "RestartJob",
                                "RestartJobAndIgnoreMaxRestarts"},
        # The reasons that the Job controller gives.
        "onJobFailureReasons": [{"BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes",
                                 "MaxFailedIndexesExceeded", "PodFailurePolicy"}],
        "targetReplicatedJobs": [str]},
    # kubeflow.org/v1
    "TFJob": {"apiVersion": {"kubeflow.org/v1"}, "kind": {"TFJob"}, "metadata": "ObjectMeta", "spec": "TFJobSpec"},
    "TFJobSpec": {"runPolicy": "RunPolicy", "successPolicy": {"", "AllWorkers"},
                  "tfReplicaSpecs": "TFReplicaSpecs", "enableDynamicWorker": bool},
    "RunPolicy": {"cleanPodPolicy": {"All", "Running", "None"}, "ttlSecondsAfterFinished": int,
                  "activeDeadlineSeconds": int, "backoffLimit": int},
    "TFReplicaSpecs": {"Chief": "ReplicaSpec", "Worker": "ReplicaSpec", "PS": "ReplicaSpec",
                       "Evaluator": "ReplicaSpec"},
    "ReplicaSpec": {"replicas": int, "template": "PodTemplateSpec",
                    "restartPolicy": {"Always", "OnFailure", "Never", "ExitCode"}},
}

REQUIRED = {
    "ServicePort": {"port"}, "PersistentVolumeClaimSpec": {"accessModes", "resources"}, "PodSpec": {"containers"},
    "SeccompProfile": {"type"}, "Container": {"name", "image"}, "EnvVar": {"name"},
    "ObjectFieldSelector": {"fieldPath"}, "ResourceFieldSelector": {"resource"}, "ContainerPort": {"containerPort"},
    "VolumeMount": {"name", "mountPath"}, "Volume": {"name"}, "PersistentVolumeClaimVolumeSource": {"claimName"},
    "JobSpec": {"template"}, "PodFailurePolicy": {"rules"}, "PodFailurePolicyRule": {"action"},
    "PodFailurePolicyOnExitCodesRequirement": {"operator", "values"},
    "PodFailurePolicyOnPodConditionsPattern": {"type", "status"}, "ReplicatedJob": {"name", "template"},
    "FailurePolicyRule": {"name", "action"}, "TFJobSpec": {"tfReplicaSpecs"},
    **{kind: {"apiVersion", "kind", "metadata", "spec"}
       for kind in ("Service", "PersistentVolumeClaim", "Job", "JobSet", "TFJob")},
}


def errors(value, kind, path=""):
    """A line for each place of `value` that is not as the table `kind` says."""
    path = path or kind
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{path} is no list"]
        return [e for i, v in enumerate(value) for e in errors(v, kind[0], f"{path}[{i}]")]
    if isinstance(kind, set):
        return [] if value in kind else [f"{path} is {value!r}; it must be one of {sorted(kind)}"]
    if kind == "quantity":
        good = isinstance(value, (str, int)) and re.fullmatch(r"\d+(\.\d+)?(m|k|[KMGTPE]i?)?", str(value))
        return [] if good else [f"{path} is {value!r}, which is no quantity"]
    if isinstance(kind, type):
        # A YAML true or 4 where Kubernetes wants a string is an error there too.
        return [] if type(value) is kind else [f"{path} is {value!r}; it must be of type {kind.__name__}"]
    if not isinstance(value, dict):
        return [f"{path} is no map"]
    if isinstance(kind, dict):
        found = [f"{path}: the key {k!r} is no string" for k in value if not isinstance(k, str)]
        return found + [e for k, v in value.items() for e in errors(v, kind[str], f"{path}.{k}")]
    fields = FIELDS[kind]
    found = [f"{path} lacks {name}" for name in sorted(REQUIRED.get(kind, set()) - set(value))]
    for name, v in value.items():
        if name in fields:
            found += errors(v, fields[name], f"{path}.{name}")
        else:
            found.append(f"{path} has no field {name} in tests/deploy/kubernetes_api.py")
    return found


def check(document):
    """Lines as of errors(), for an object of any kind."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind not in ("Service", "PersistentVolumeClaim", "Job", "JobSet", "TFJob"):
        return [f"the kind {kind!r} is not in tests/deploy/kubernetes_api.py"]
    return errors(document, kind)
