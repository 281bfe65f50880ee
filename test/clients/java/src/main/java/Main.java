import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.kubernetes.client.custom.IntOrString;
import io.kubernetes.client.custom.V1Patch;
import io.kubernetes.client.informer.ResourceEventHandler;
import io.kubernetes.client.informer.SharedIndexInformer;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.JSON;
import io.kubernetes.client.openapi.apis.ApiextensionsV1Api;
import io.kubernetes.client.openapi.apis.AppsV1Api;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.apis.CustomObjectsApi;
import io.kubernetes.client.openapi.models.*;
import io.kubernetes.client.util.ClientBuilder;
import io.kubernetes.client.util.KubeConfig;
import io.kubernetes.client.util.PatchUtils;
import io.kubernetes.client.util.generic.KubernetesApiResponse;
import io.kubernetes.client.util.generic.dynamic.DynamicKubernetesApi;
import io.kubernetes.client.util.generic.dynamic.DynamicKubernetesObject;
import java.io.FileReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Tests the official Java client on a server that test/clients/field.ts started. Each check prints
 * `ok NAME` or `fail NAME: why`.
 */
public class Main {
  static final String NS = "java";
  static final long WAIT_MAX_MS = 60_000;
  static ApiClient admin;
  static CoreV1Api core;
  static AppsV1Api apps;
  static CoreV1Api alice;

  interface Body { void run() throws Exception; }

  interface Call<T> { T run() throws ApiException; }

  public static void main(String[] args) throws Exception {
    admin = clientOf("admin");
    core = new CoreV1Api(admin);
    apps = new AppsV1Api(admin);
    alice = new CoreV1Api(clientOf("alice"));
    core.createNamespace(new V1Namespace().metadata(new V1ObjectMeta().name(NS))).execute();
    check("pages", Main::pages);
    check("conflicts", Main::conflicts);
    check("apply", Main::apply);
    check("patches", Main::patches);
    check("errors", Main::errors);
    check("preconditions", Main::preconditions);
    check("custom objects", Main::customObjects);
    check("watch through restart", Main::watchThroughRestart);
    System.exit(0); // Threads of the client's pools would keep the process alive.
  }

  static ApiClient clientOf(String context) throws Exception {
    KubeConfig config = KubeConfig.loadKubeConfig(new FileReader(System.getenv("KUBECONFIG")));
    config.setContext(context);
    // Disable the read timeout, because informers do not accept a client that has one.
    return ClientBuilder.kubeconfig(config).setReadTimeout(Duration.ZERO).build();
  }

  static void check(String name, Body body) {
    try {
      body.run();
      System.out.println("ok " + name);
    } catch (Throwable error) {
      error.printStackTrace();
      String detail = error instanceof ApiException answered ? " " + answered.getResponseBody() : "";
      System.out.println("fail " + name + ": " + (error + detail).replace('\n', ' '));
    }
  }

  static void equal(Object actual, Object wanted, String what) {
    if (!String.valueOf(actual).equals(String.valueOf(wanted))) throw new AssertionError(what + ": " + actual + ", not " + wanted);
  }

  /**
   * Calls `call`, which the server must reject, and returns the Status in the body of the error.
   */
  static V1Status refused(int code, String reason, Call<?> call) {
    try {
      call.run();
    } catch (ApiException error) {
      V1Status status = (V1Status) JSON.deserialize(error.getResponseBody(), V1Status.class);
      equal(error.getCode() + " " + status.getReason(), code + " " + reason, "refusal");
      return status;
    }
    throw new AssertionError("not refused with " + code + " " + reason);
  }

  static void until(BooleanSupplier condition, String what) throws InterruptedException {
    long end = System.currentTimeMillis() + WAIT_MAX_MS;
    while (!condition.getAsBoolean()) {
      if (System.currentTimeMillis() > end) throw new AssertionError(what + " was not reached in time");
      Thread.sleep(100);
    }
  }

  static V1ConfigMap configMap(String name, Map<String, String> data, String set) {
    return new V1ConfigMap().metadata(new V1ObjectMeta().name(name).labels(Map.of("set", set))).data(data);
  }

  static List<String> fieldsOf(V1Status status) {
    return status.getDetails().getCauses().stream().map(V1StatusCause::getField).toList();
  }

  static void pages() throws Exception {
    for (int n = 0; n < 25; n++)
      core.createNamespacedConfigMap(NS, configMap(String.format("page-%02d", n), Map.of("n", "" + n), "pages")).execute();
    List<Integer> sizes = new ArrayList<>();
    List<Long> left = new ArrayList<>();
    String token = null;
    do {
      V1ConfigMapList page = core.listNamespacedConfigMap(NS).limit(10)._continue(token).execute();
      sizes.add(page.getItems().size());
      left.add(page.getMetadata().getRemainingItemCount());
      token = page.getMetadata().getContinue();
    } while (token != null);
    equal(sizes, List.of(10, 10, 5), "sizes");
    equal(left, "[15, 5, null]", "items that remain");
    refused(400, "BadRequest", () -> core.listNamespacedConfigMap(NS).limit(10)._continue("nonsense").execute());
    equal(core.listNamespacedConfigMap(NS).fieldSelector("metadata.name=page-07").execute().getItems().get(0).getData(), "{n=7}", "by field");
    core.deleteCollectionNamespacedConfigMap(NS).labelSelector("set in (pages)").execute();
    equal(core.listNamespacedConfigMap(NS).execute().getItems().size(), 0, "after delete collection");
  }

  static void conflicts() throws Exception {
    V1ConfigMap first = core.createNamespacedConfigMap(NS, configMap("fought-over", Map.of("a", "1"), "c")).execute();
    V1Status exists = refused(409, "AlreadyExists", () -> core.createNamespacedConfigMap(NS, configMap("fought-over", null, "c")).execute());
    equal(exists.getDetails().getName(), "fought-over", "details");
    first.setData(Map.of("a", "2"));
    core.replaceNamespacedConfigMap("fought-over", NS, first).execute();
    refused(409, "Conflict", () -> core.replaceNamespacedConfigMap("fought-over", NS, first).execute());
    core.createNamespacedConfigMap(NS, configMap("tried", null, "c")).dryRun("All").execute();
    refused(404, "NotFound", () -> core.readNamespacedConfigMap("tried", NS).execute());
  }

  static V1ConfigMap applyAs(String manager, String data, Boolean force) throws ApiException {
    V1Patch body = new V1Patch("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"applied\"},\"data\":" + data + "}");
    return PatchUtils.patch(V1ConfigMap.class,
        () -> core.patchNamespacedConfigMap("applied", NS, body).fieldManager(manager).force(force).buildCall(null),
        V1Patch.PATCH_FORMAT_APPLY_YAML, admin);
  }

  static void apply() throws Exception {
    applyAs("one", "{\"a\":\"1\",\"b\":\"1\"}", null);
    V1Status status = refused(409, "Conflict", () -> applyAs("two", "{\"a\":\"2\"}", false));
    equal(fieldsOf(status), "[.data.a]", "causes");
    applyAs("two", "{\"a\":\"2\"}", true);
    V1ConfigMap after = applyAs("one", "{}", null);
    equal(after.getData(), "{a=2}", "data when the first manager applies nothing");
    // The client drops managedFields when it decodes an object. Instead, the causes of a conflict
    // show which fields another manager owns.
    equal(fieldsOf(refused(409, "Conflict", () -> applyAs("one", "{\"a\":\"3\"}", null))), "[.data.a]", "causes");
  }

  static V1Deployment patch(String format, String body) throws ApiException {
    return PatchUtils.patch(V1Deployment.class,
        () -> apps.patchNamespacedDeployment("patched", NS, new V1Patch(body)).buildCall(null), format, admin);
  }

  static void patches() throws Exception {
    V1Container container = new V1Container().name("main").image("a:1");
    V1PodTemplateSpec template = new V1PodTemplateSpec().metadata(new V1ObjectMeta().labels(Map.of("app", "p")))
        .spec(new V1PodSpec().containers(List.of(container)));
    V1DeploymentSpec spec = new V1DeploymentSpec().replicas(1).selector(new V1LabelSelector().matchLabels(Map.of("app", "p"))).template(template);
    apps.createNamespacedDeployment(NS, new V1Deployment().metadata(new V1ObjectMeta().name("patched")).spec(spec)).execute();
    String sidecar = "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"side\",\"image\":\"b:1\"}]}}}}";
    equal(patch(V1Patch.PATCH_FORMAT_STRATEGIC_MERGE_PATCH, sidecar).getSpec().getTemplate().getSpec().getContainers().size(), 2, "strategic");
    equal(patch(V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH, sidecar).getSpec().getTemplate().getSpec().getContainers().size(), 1, "merge");
    String operations = "[{\"op\":\"test\",\"path\":\"/spec/replicas\",\"value\":1},{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":3}]";
    equal(patch(V1Patch.PATCH_FORMAT_JSON_PATCH, operations).getSpec().getReplicas(), 3, "JSON patch");
    refused(422, "Invalid", () -> patch(V1Patch.PATCH_FORMAT_JSON_PATCH, operations));
    V1Scale scale = apps.readNamespacedDeploymentScale("patched", NS).execute();
    scale.getSpec().setReplicas(5);
    equal(apps.replaceNamespacedDeploymentScale("patched", NS, scale).execute().getSpec().getReplicas(), 5, "scale");
  }

  static void errors() {
    equal(refused(404, "NotFound", () -> core.readNamespacedConfigMap("absent", NS).execute()).getMessage(), "configmaps \"absent\" not found", "message");
    String message = refused(403, "Forbidden", () -> alice.listNamespacedSecret(NS).execute()).getMessage();
    if (!message.contains("User \"alice\" cannot list resource \"secrets\"")) throw new AssertionError(message);
    V1Service wrong = new V1Service().metadata(new V1ObjectMeta().name("wrong"))
        .spec(new V1ServiceSpec().ports(List.of(new V1ServicePort().port(80).targetPort(new IntOrString("not_a_port")))));
    equal(fieldsOf(refused(422, "Invalid", () -> core.createNamespacedService(NS, wrong).execute())), "[spec.ports[0].targetPort]", "causes");
  }

  static void preconditions() throws Exception {
    String uid = core.createNamespacedConfigMap(NS, configMap("guarded", null, "g")).execute().getMetadata().getUid();
    Call<V1Status> wrong = () -> deleteGuarded("00000000-0000-0000-0000-000000000000");
    refused(409, "Conflict", wrong);
    equal(deleteGuarded(uid).getStatus(), "Success", "delete");
    refused(404, "NotFound", () -> deleteGuarded(uid));
  }

  static V1Status deleteGuarded(String uid) throws ApiException {
    V1DeleteOptions options = new V1DeleteOptions().preconditions(new V1Preconditions().uid(uid));
    return core.deleteNamespacedConfigMap("guarded", NS).body(options).execute();
  }

  static void customObjects() throws Exception {
    ApiextensionsV1Api definitions = new ApiextensionsV1Api(admin);
    V1JSONSchemaProps size = schemaOf("integer").minimum(0.0);
    V1JSONSchemaProps spec = schemaOf("object").properties(Map.of("size", size)).required(List.of("size"));
    V1JSONSchemaProps status = schemaOf("object").properties(Map.of("seen", schemaOf("integer")));
    V1JSONSchemaProps schema = schemaOf("object").properties(Map.of("spec", spec, "status", status));
    V1CustomResourceDefinitionVersion version = new V1CustomResourceDefinitionVersion().name("v1").served(true).storage(true)
        .schema(new V1CustomResourceValidation().openAPIV3Schema(schema))
        .subresources(new V1CustomResourceSubresources().status(new Object()));
    V1CustomResourceDefinitionNames names = new V1CustomResourceDefinitionNames().kind("JavaThing").plural("javathings");
    definitions.createCustomResourceDefinition(new V1CustomResourceDefinition().metadata(new V1ObjectMeta().name("javathings.field.test"))
        .spec(new V1CustomResourceDefinitionSpec().group("field.test").scope("Namespaced").names(names).versions(List.of(version)))).execute();
    until(() -> {
      try {
        V1CustomResourceDefinitionStatus now = definitions.readCustomResourceDefinition("javathings.field.test").execute().getStatus();
        return now != null && now.getConditions() != null
            && now.getConditions().stream().anyMatch(it -> it.getType().equals("Established") && it.getStatus().equals("True"));
      } catch (ApiException error) {
        throw new IllegalStateException(error);
      }
    }, "Established");
    DynamicKubernetesApi things = new DynamicKubernetesApi("field.test", "v1", "javathings", admin);
    DynamicKubernetesObject made = things.create(thing("one", 1)).throwsApiException().getObject();
    equal(made.getRaw().get("spec"), "{\"size\":1}", "created");
    DynamicKubernetesObject patched = things.patch(NS, "one", V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH, new V1Patch("{\"spec\":{\"size\":2}}"))
        .throwsApiException().getObject();
    // This client's updateStatus() sends a patch with the content type application/json, which
    // servers reject. Therefore the status is replaced.
    patched.getRaw().add("status", JsonParser.parseString("{\"seen\":2}"));
    new CustomObjectsApi(admin).replaceNamespacedCustomObjectStatus("field.test", "v1", NS, "javathings", "one", patched.getRaw()).execute();
    equal(things.get(NS, "one").throwsApiException().getObject().getRaw().get("status"), "{\"seen\":2}", "status");
    equal(things.list(NS).throwsApiException().getObject().getItems().size(), 1, "list");
    KubernetesApiResponse<DynamicKubernetesObject> answer = things.create(thing("two", -1));
    equal(answer.getHttpStatusCode() + " " + answer.getStatus().getReason() + " " + fieldsOf(answer.getStatus()), "422 Invalid [spec.size]", "refusal");
  }

  /**
   * Returns a schema without the empty lists and maps that the client would send. With a status
   * subresource, servers reject empty lists and maps at the root.
   */
  static V1JSONSchemaProps schemaOf(String type) {
    return new V1JSONSchemaProps().type(type).dependencies(null)._enum(null).allOf(null).anyOf(null).oneOf(null)
        .definitions(null).patternProperties(null).xKubernetesListMapKeys(null);
  }

  static DynamicKubernetesObject thing(String name, int size) {
    JsonObject spec = new JsonObject();
    spec.addProperty("size", size);
    DynamicKubernetesObject thing = new DynamicKubernetesObject();
    thing.setApiVersion("field.test/v1");
    thing.setKind("JavaThing");
    thing.setMetadata(new V1ObjectMeta().name(name).namespace(NS));
    thing.getRaw().add("spec", spec);
    return thing;
  }

  static Map<String, String> versionsOf(List<V1ConfigMap> items) {
    Map<String, String> versions = new TreeMap<>();
    for (V1ConfigMap item : items) versions.put(item.getMetadata().getName(), item.getMetadata().getResourceVersion());
    return versions;
  }

  static void watchThroughRestart() throws Exception {
    for (int n = 0; n < 10; n++) core.createNamespacedConfigMap(NS, configMap("watched-" + n, Map.of("n", "0"), "watched")).execute();
    SharedInformerFactory factory = new SharedInformerFactory(admin);
    SharedIndexInformer<V1ConfigMap> informer = factory.sharedIndexInformerFor(
        params -> core.listNamespacedConfigMap(NS).labelSelector("set=watched").resourceVersion(params.resourceVersion)
            .timeoutSeconds(params.timeoutSeconds).watch(params.watch).buildCall(null),
        V1ConfigMap.class, V1ConfigMapList.class);
    Map<String, Long> latest = new ConcurrentHashMap<>();
    List<String> backwards = new ArrayList<>();
    informer.addEventHandler(new ResourceEventHandler<V1ConfigMap>() {
      void see(V1ConfigMap map) {
        long version = Long.parseLong(map.getMetadata().getResourceVersion());
        Long before = latest.put(map.getMetadata().getName(), version);
        if (before != null && before > version) backwards.add(map.getMetadata().getName());
      }

      public void onAdd(V1ConfigMap map) { see(map); }

      public void onUpdate(V1ConfigMap before, V1ConfigMap map) { see(map); }

      public void onDelete(V1ConfigMap map, boolean unknown) { latest.remove(map.getMetadata().getName()); }
    });
    factory.startAllRegisteredInformers();
    until(() -> informer.hasSynced() && latest.size() == 10, "the first list");
    for (int n = 1; n < 100; n++) change(n);
    System.out.println("restart");
    AtomicBoolean restarted = new AtomicBoolean();
    Thread reader = new Thread(() -> {
      try {
        System.in.read();
        restarted.set(true);
      } catch (java.io.IOException error) {
        error.printStackTrace();
      }
    });
    reader.setDaemon(true);
    reader.start();
    int number = 100;
    while (!restarted.get()) change(number++);
    for (int end = number + 100; number < end; number++) change(number);
    core.deleteNamespacedConfigMap("watched-3", NS).execute();
    Map<String, String> now = versionsOf(core.listNamespacedConfigMap(NS).labelSelector("set=watched").execute().getItems());
    until(() -> versionsOf(informer.getIndexer().list()).equals(now), "the state that is listed");
    until(() -> new TreeMap<>(latest).toString().equals(now.toString()), "the events of the state that is listed");
    equal(backwards, "[]", "objects that went back in time");
    factory.stopAllRegisteredInformers();
  }

  /** Changes an object. Retries while the server is down. */
  static void change(int n) throws Exception {
    long end = System.currentTimeMillis() + WAIT_MAX_MS;
    V1Patch body = new V1Patch("{\"data\":{\"n\":\"" + n + "\"}}");
    while (true) {
      try {
        PatchUtils.patch(V1ConfigMap.class, () -> core.patchNamespacedConfigMap("watched-" + n % 10, NS, body).buildCall(null),
            V1Patch.PATCH_FORMAT_STRATEGIC_MERGE_PATCH, admin);
        return;
      } catch (ApiException error) {
        boolean away = error.getCode() == 0 || error.getCode() == 429 || error.getCode() >= 500;
        if (!away || System.currentTimeMillis() > end) throw error;
        Thread.sleep(100);
      }
    }
  }
}
