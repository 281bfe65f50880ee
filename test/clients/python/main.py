"""Tests the official Python client on a server that test/clients/field.ts started. Each check prints `ok NAME` or `fail NAME: why`."""

import json
import sys
import threading
import time
import traceback

import urllib3
from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException

NS = "python"
WAIT_MAX_S = 60

api_client = config.new_client_from_config(context="admin")
core, apps = client.CoreV1Api(api_client), client.AppsV1Api(api_client)
custom, definitions = client.CustomObjectsApi(api_client), client.ApiextensionsV1Api(api_client)
alice = client.CoreV1Api(config.new_client_from_config(context="alice"))


def check(name, body):
    try:
        body()
        print(f"ok {name}", flush=True)
    except Exception as error:  # Any exception fails this check; the others still run.
        traceback.print_exc()
        print(f"fail {name}: {type(error).__name__}: {str(error)[:300]!r}", flush=True)


def equal(actual, wanted, what):
    assert actual == wanted, f"{what}: {actual!r}, not {wanted!r}"


def refused(status, reason, call):
    """Returns the Status in the body of the error with which a call is refused."""
    try:
        call()
    except ApiException as error:
        body = json.loads(error.body)
        equal((error.status, body["kind"], body["reason"]), (status, "Status", reason), "refusal")
        return body
    raise AssertionError(f"not refused with {status} {reason}")


def until(condition, what):
    end = time.monotonic() + WAIT_MAX_S
    while not condition():
        assert time.monotonic() < end, f"{what} was not reached in time"
        time.sleep(0.1)


def config_map(name, data, labels=None):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data=data)


def pages():
    for number in range(25):
        core.create_namespaced_config_map(NS, config_map(f"page-{number:02}", {"n": str(number)}, {"set": "pages"}))
    names, token, versions, sizes = [], None, set(), []
    while token != "":
        page = core.list_namespaced_config_map(NS, label_selector="set=pages", limit=10, _continue=token)
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue or ""
        versions.add(page.metadata.resource_version)
        sizes.append(len(page.items))
    equal((names, sizes, len(versions)), ([f"page-{n:02}" for n in range(25)], [10, 10, 5], 1), "pages")
    refused(400, "BadRequest", lambda: core.list_namespaced_config_map(NS, limit=10, _continue="nonsense"))
    one = core.list_namespaced_config_map(NS, field_selector="metadata.name=page-07").items
    equal([item.data for item in one], [{"n": "7"}], "by field")
    core.delete_collection_namespaced_config_map(NS, label_selector="set=pages,set notin (other)")
    equal(core.list_namespaced_config_map(NS, label_selector="set=pages").items, [], "after delete collection")


def conflicts():
    first = core.create_namespaced_config_map(NS, config_map("fought-over", {"a": "1"}))
    status = refused(409, "AlreadyExists", lambda: core.create_namespaced_config_map(NS, config_map("fought-over", {})))
    equal(status["details"], {"name": "fought-over", "kind": "configmaps"}, "details")
    first.data = {"a": "2"}
    core.replace_namespaced_config_map("fought-over", NS, first)
    refused(409, "Conflict", lambda: core.replace_namespaced_config_map("fought-over", NS, first))
    tried = core.create_namespaced_config_map(NS, config_map("tried", {}), dry_run="All")
    assert tried.metadata.uid, "a dry run shows the object"
    refused(404, "NotFound", lambda: core.read_namespaced_config_map("tried", NS))


def applies():
    maps = dynamic.DynamicClient(api_client).resources.get(api_version="v1", kind="ConfigMap")

    def apply(manager, data, **options):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": data}
        return maps.server_side_apply(body=body, name="applied", namespace=NS, field_manager=manager, **options)

    apply("one", {"a": "1", "b": "1"})
    status = refused(409, "Conflict", lambda: apply("two", {"a": "2"}))
    equal([(cause["reason"], cause["field"]) for cause in status["details"]["causes"]],
          [("FieldManagerConflict", ".data.a")], "causes")
    apply("two", {"a": "2"}, force_conflicts=True)
    after = apply("one", {})
    equal(after.data.to_dict(), {"a": "2"}, "data when the first manager applies nothing")
    equal([(owner.manager, owner.operation) for owner in after.metadata.managedFields if "f:a" in str(owner)],
          [("two", "Apply")], "owners")


def patches():
    container = client.V1Container(name="main", image="a:1", env=[client.V1EnvVar(name="X", value="1")])
    template = client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels={"app": "p"}), spec=client.V1PodSpec(containers=[container]))
    spec = client.V1DeploymentSpec(replicas=1, selector=client.V1LabelSelector(match_labels={"app": "p"}), template=template)
    apps.create_namespaced_deployment(NS, client.V1Deployment(metadata=client.V1ObjectMeta(name="patched"), spec=spec))

    def patch(kind, body):
        header = {"Content-Type": kind}
        path = f"/apis/apps/v1/namespaces/{NS}/deployments/patched"
        return api_client.call_api(path, "PATCH", header_params=header, body=body, response_type="V1Deployment",
                                   auth_settings=["BearerToken"], _return_http_data_only=True)

    sidecar = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "b:1"}]}}}}
    containers = patch("application/strategic-merge-patch+json", sidecar).spec.template.spec.containers
    equal(sorted(item.name for item in containers), ["main", "side"], "strategic")
    containers = patch("application/merge-patch+json", sidecar).spec.template.spec.containers
    equal([item.name for item in containers], ["side"], "merge")
    test = {"op": "test", "path": "/spec/replicas", "value": 1}
    replace = {"op": "replace", "path": "/spec/replicas", "value": 3}
    equal(patch("application/json-patch+json", [test, replace]).spec.replicas, 3, "JSON patch")
    refused(422, "Invalid", lambda: patch("application/json-patch+json", [test, replace]))
    scale = apps.read_namespaced_deployment_scale("patched", NS)
    scale.spec.replicas = 5
    equal(apps.replace_namespaced_deployment_scale("patched", NS, scale).spec.replicas, 5, "scale")


def errors():
    status = refused(404, "NotFound", lambda: core.read_namespaced_config_map("absent", NS))
    equal(status["message"], 'configmaps "absent" not found', "message")
    status = refused(403, "Forbidden", lambda: alice.list_namespaced_secret(NS))
    assert 'User "alice" cannot list resource "secrets"' in status["message"], status["message"]
    wrong = client.V1Service(metadata=client.V1ObjectMeta(name="wrong"), spec=client.V1ServiceSpec(ports=[client.V1ServicePort(port=99999)]))
    status = refused(422, "Invalid", lambda: core.create_namespaced_service(NS, wrong))
    equal([cause["field"] for cause in status["details"]["causes"]], ["spec.ports[0].port", "spec.ports[0].targetPort"], "causes")


def preconditions():
    made = core.create_namespaced_config_map(NS, config_map("guarded", {}))

    def delete(uid):
        guard = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid=uid))
        return core.delete_namespaced_config_map("guarded", NS, body=guard)

    refused(409, "Conflict", lambda: delete("00000000-0000-0000-0000-000000000000"))
    equal(delete(made.metadata.uid).status, "Success", "delete")
    refused(404, "NotFound", lambda: delete(made.metadata.uid))


def custom_objects():
    def names(suffix):
        return {"kind": f"Python{suffix}", "plural": f"python{suffix.lower()}s"}

    schema = {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 0}}, "required": ["size"]},
        "status": {"type": "object", "properties": {"seen": {"type": "integer"}}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                  "metadata": {"name": "pythonthings.field.test"},
                  "spec": {"group": "field.test", "scope": "Namespaced", "names": names("Thing"), "versions": [version]}}
    definitions.create_custom_resource_definition(definition)
    until(lambda: any(condition.type == "Established" and condition.status == "True" for condition in
                      definitions.read_custom_resource_definition("pythonthings.field.test").status.conditions or []), "Established")
    where = {"group": "field.test", "version": "v1", "namespace": NS, "plural": "pythonthings"}
    thing = {"apiVersion": "field.test/v1", "kind": "PythonThing", "metadata": {"name": "one"}, "spec": {"size": 1}}
    custom.create_namespaced_custom_object(**where, body=thing)
    equal(custom.patch_namespaced_custom_object(**where, name="one", body={"spec": {"size": 2}})["spec"], {"size": 2}, "patched")
    status = custom.patch_namespaced_custom_object_status(**where, name="one", body={"status": {"seen": 2}, "spec": {"size": 9}})
    equal((status["spec"], status["status"]), ({"size": 2}, {"seen": 2}), "status")
    equal([item["metadata"]["name"] for item in custom.list_namespaced_custom_object(**where)["items"]], ["one"], "list")
    thing["metadata"]["name"] = "two"
    thing["spec"]["size"] = -1
    answer = refused(422, "Invalid", lambda: custom.create_namespaced_custom_object(**where, body=thing))
    equal(answer["details"]["causes"][0]["field"], "spec.size", "cause")


class Follower(threading.Thread):
    """Lists once, then watches from the last version, as Python programs do without an informer."""

    def __init__(self):
        super().__init__(daemon=True)
        self.state, self.versions, self.relists, self.resumes, self.done = {}, [], 0, 0, False

    def run(self):
        version = None
        while not self.done:
            try:
                if version is None:
                    listed = core.list_namespaced_config_map(NS, label_selector="set=watched")
                    self.state = {item.metadata.name: item.metadata.resource_version for item in listed.items}
                    version, self.relists = listed.metadata.resource_version, self.relists + 1
                stream = watch.Watch().stream(core.list_namespaced_config_map, NS, label_selector="set=watched",
                                              resource_version=version, allow_watch_bookmarks=True, timeout_seconds=20)
                for event in stream:
                    meta = event["raw_object"]["metadata"]
                    version = meta["resourceVersion"]
                    if event["type"] == "BOOKMARK":
                        continue
                    self.versions.append(version)
                    if event["type"] == "DELETED":
                        self.state.pop(meta["name"], None)
                    else:
                        self.state[meta["name"]] = version
            except ApiException as error:
                if error.status != 410 and error.status < 500 and error.status != 429:
                    raise
                version = None if error.status == 410 else version
            except urllib3.exceptions.HTTPError:
                self.resumes += 1  # The server went down.
                time.sleep(0.2)


def watch_through_restart():
    for number in range(10):
        core.create_namespaced_config_map(NS, config_map(f"watched-{number}", {"n": "0"}, {"set": "watched"}))
    follower = Follower()
    follower.start()
    until(lambda: len(follower.state) == 10, "the first list")
    written, restarted = [], threading.Event()

    def write(call):
        """Retries while the server is down. Repeating a write does not change its effect."""
        end = time.monotonic() + WAIT_MAX_S
        while True:
            try:
                written.append(call().metadata.resource_version)
                return
            except (urllib3.exceptions.HTTPError, ApiException) as error:
                if time.monotonic() > end or (isinstance(error, ApiException) and error.status not in (429, 500, 503, 504)):
                    raise
                time.sleep(0.1)

    def change(number):
        write(lambda: core.patch_namespaced_config_map(f"watched-{number % 10}", NS, {"data": {"n": str(number)}}))

    for number in range(1, 100):
        change(number)
    print("restart", flush=True)
    threading.Thread(target=lambda: (sys.stdin.readline(), restarted.set()), daemon=True).start()
    number = 100
    while not restarted.is_set():
        change(number)
        number += 1
    for number in range(number, number + 100):
        change(number)
    core.delete_namespaced_config_map("watched-3", NS)

    def now():
        items = core.list_namespaced_config_map(NS, label_selector="set=watched").items
        return {item.metadata.name: item.metadata.resource_version for item in items}

    until(lambda: follower.state == now(), "the state that is listed")
    follower.done = True
    assert follower.resumes > 0, "the watch was not cut off"
    equal(follower.relists, 1, "lists: a watch resumes from its last version")
    seen = [int(version) for version in follower.versions]
    equal(seen, sorted(set(seen)), "versions, each once and in order")
    missing = set(map(int, written)) - set(seen)
    assert not missing, f"{len(missing)} of {len(written)} writes were not seen"


core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NS)))
check("pages", pages)
check("conflicts", conflicts)
check("apply", applies)
check("patches", patches)
check("errors", errors)
check("preconditions", preconditions)
check("custom objects", custom_objects)
check("watch through restart", watch_through_restart)
