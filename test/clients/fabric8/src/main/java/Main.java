import io.fabric8.kubernetes.api.model.*;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaPropsBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.RollableScalableResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Tests the fabric8 client on a server that test/clients/field.ts started. Each check prints `ok
 * NAME` or `fail NAME: why`.
 */
public class Main {
  static final String NS = "fabric8";
  static final long WAIT_MAX_MS = 60_000;
  static KubernetesClient client;
  static KubernetesClient alice;

  interface Body { void run() throws Exception; }

  public static void main(String[] args) throws Exception {
    client = clientOf("admin");
    alice = clientOf("alice");
    client.namespaces().resource(new NamespaceBuilder().withNewMetadata().withName(NS).endMetadata().build()).create();
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

  /** Creates a client without automatic retries, so that a check sees each response. */
  static KubernetesClient clientOf(String context) {
    Config config = Config.autoConfigure(context);
    config.setNamespace(NS);
    config.setRequestRetryBackoffLimit(0);
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  static void check(String name, Body body) {
    try {
      body.run();
      System.out.println("ok " + name);
    } catch (Throwable error) {
      error.printStackTrace();
      System.out.println("fail " + name + ": " + error.toString().replace('\n', ' '));
    }
  }

  static void equal(Object actual, Object wanted, String what) {
    if (!String.valueOf(actual).equals(String.valueOf(wanted))) throw new AssertionError(what + ": " + actual + ", not " + wanted);
  }

  /** Calls `call`, which the server must reject, and returns the Status of the error. */
  static Status refused(int code, String reason, Body call) throws Exception {
    try {
      call.run();
    } catch (KubernetesClientException error) {
      equal(error.getCode() + " " + (error.getStatus() == null ? error : error.getStatus().getReason()), code + " " + reason, "refusal");
      return error.getStatus();
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

  static List<String> fieldsOf(Status status) {
    return status.getDetails().getCauses().stream().map(StatusCause::getField).toList();
  }

  static ConfigMap configMap(String name, Map<String, String> data, String set) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).addToLabels("set", set).endMetadata().withData(data).build();
  }

  static MixedOperation<ConfigMap, ConfigMapList, Resource<ConfigMap>> maps() {
    return client.configMaps();
  }

  static void pages() throws Exception {
    for (int n = 0; n < 25; n++) maps().resource(configMap(String.format("page-%02d", n), Map.of("n", "" + n), "pages")).create();
    List<Integer> sizes = new ArrayList<>();
    List<Long> left = new ArrayList<>();
    String token = null;
    do {
      ConfigMapList page = maps().list(new ListOptionsBuilder().withLimit(10L).withContinue(token).build());
      sizes.add(page.getItems().size());
      left.add(page.getMetadata().getRemainingItemCount());
      token = page.getMetadata().getContinue();
    } while (token != null && !token.isEmpty());
    equal(sizes, "[10, 10, 5]", "sizes");
    equal(left, "[15, 5, null]", "items that remain");
    refused(400, "BadRequest", () -> maps().list(new ListOptionsBuilder().withLimit(10L).withContinue("nonsense").build()));
    equal(maps().withField("metadata.name", "page-07").list().getItems().get(0).getData(), "{n=7}", "by field");
    equal(maps().withLabelIn("set", "pages", "other").delete().size() >= 0, true, "delete collection");
    equal(maps().list().getItems().size(), 0, "after delete collection");
  }

  static void conflicts() throws Exception {
    ConfigMap first = maps().resource(configMap("fought-over", Map.of("a", "1"), "c")).create();
    Status exists = refused(409, "AlreadyExists", () -> maps().resource(configMap("fought-over", null, "c")).create());
    equal(exists.getDetails().getName(), "fought-over", "details");
    first.setData(Map.of("a", "2"));
    maps().resource(first).update();
    first.setData(Map.of("a", "3"));
    refused(409, "Conflict", () -> maps().resource(first).lockResourceVersion(first.getMetadata().getResourceVersion()).update());
    maps().resource(configMap("tried", null, "c")).dryRun().create();
    equal(maps().withName("tried").get(), null, "after a dry run");
  }

  static ConfigMap applyAs(String manager, Map<String, String> data, boolean force) {
    ConfigMap wanted = new ConfigMapBuilder().withNewMetadata().withName("applied").endMetadata().withData(data).build();
    PatchContext.Builder context = new PatchContext.Builder().withPatchType(PatchType.SERVER_SIDE_APPLY).withFieldManager(manager).withForce(force);
    return maps().resource(wanted).patch(context.build());
  }

  static void apply() throws Exception {
    applyAs("one", Map.of("a", "1", "b", "1"), false);
    equal(fieldsOf(refused(409, "Conflict", () -> applyAs("two", Map.of("a", "2"), false))), "[.data.a]", "causes");
    applyAs("two", Map.of("a", "2"), true);
    ConfigMap after = applyAs("one", Map.of(), false);
    equal(after.getData(), "{a=2}", "data when the first manager applies nothing");
    equal(after.getMetadata().getManagedFields().stream().filter(owner -> String.valueOf(owner.getFieldsV1()).contains("f:a"))
        .map(ManagedFieldsEntry::getManager).toList(), "[two]", "owners");
  }

  static void patches() throws Exception {
    RollableScalableResource<Deployment> patched = client.apps().deployments().withName("patched");
    client.apps().deployments().resource(new DeploymentBuilder().withNewMetadata().withName("patched").endMetadata().withNewSpec()
        .withReplicas(1).withNewSelector().addToMatchLabels("app", "p").endSelector()
        .withNewTemplate().withNewMetadata().addToLabels("app", "p").endMetadata()
        .withNewSpec().addNewContainer().withName("main").withImage("a:1").endContainer().endSpec().endTemplate().endSpec().build()).create();
    String sidecar = "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"side\",\"image\":\"b:1\"}]}}}}";
    equal(patched.patch(PatchContext.of(PatchType.STRATEGIC_MERGE), sidecar).getSpec().getTemplate().getSpec().getContainers().size(), 2, "strategic");
    equal(patched.patch(PatchContext.of(PatchType.JSON_MERGE), sidecar).getSpec().getTemplate().getSpec().getContainers().size(), 1, "merge");
    String operations = "[{\"op\":\"test\",\"path\":\"/spec/replicas\",\"value\":1},{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":3}]";
    equal(patched.patch(PatchContext.of(PatchType.JSON), operations).getSpec().getReplicas(), 3, "JSON patch");
    refused(422, "Invalid", () -> patched.patch(PatchContext.of(PatchType.JSON), operations));
    // `edit` computes a JSON patch from the object that it has read.
    equal(patched.edit(it -> new DeploymentBuilder(it).editSpec().withReplicas(4).endSpec().build()).getSpec().getReplicas(), 4, "edit");
    equal(patched.scale(new io.fabric8.kubernetes.api.model.autoscaling.v1.ScaleBuilder(patched.scale()).editSpec().withReplicas(5).endSpec().build())
        .getSpec().getReplicas(), 5, "scale");
  }

  static void errors() throws Exception {
    equal(maps().withName("absent").get(), null, "absent");
    equal(refused(404, "NotFound", () -> maps().withName("absent").patch(PatchContext.of(PatchType.JSON_MERGE), "{}")).getMessage(),
        "configmaps \"absent\" not found", "message");
    String message = refused(HttpURLConnection.HTTP_FORBIDDEN, "Forbidden", () -> alice.secrets().list()).getMessage();
    if (!message.contains("User \"alice\" cannot list resource \"secrets\"")) throw new AssertionError(message);
    Service wrong = new ServiceBuilder().withNewMetadata().withName("wrong").endMetadata().withNewSpec()
        .addNewPort().withPort(80).withTargetPort(new IntOrString("not_a_port")).endPort().endSpec().build();
    equal(fieldsOf(refused(422, "Invalid", () -> client.services().resource(wrong).create())), "[spec.ports[0].targetPort]", "causes");
  }

  static void preconditions() throws Exception {
    ConfigMap made = maps().resource(configMap("guarded", null, "g")).create();
    String version = made.getMetadata().getResourceVersion();
    maps().withName("guarded").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"a\":\"1\"}}");
    refused(409, "Conflict", () -> maps().withName("guarded").lockResourceVersion(version).delete());
    equal(maps().withName("guarded").get().getData(), "{a=1}", "still there");
    String now = maps().withName("guarded").get().getMetadata().getResourceVersion();
    maps().withName("guarded").lockResourceVersion(now).delete();
    equal(maps().withName("guarded").get(), null, "deleted");
  }

  static GenericKubernetesResource thing(String name, int size) {
    return new GenericKubernetesResourceBuilder().withApiVersion("field.test/v1").withKind("FabricThing").withNewMetadata().withName(name).endMetadata()
        .addToAdditionalProperties("spec", Map.of("size", size)).build();
  }

  static void customObjects() throws Exception {
    JSONSchemaProps spec = new JSONSchemaPropsBuilder().withType("object").addToProperties("size",
        new JSONSchemaPropsBuilder().withType("integer").withMinimum(0.0).build()).withRequired("size").build();
    JSONSchemaProps status = new JSONSchemaPropsBuilder().withType("object").addToProperties("seen", new JSONSchemaPropsBuilder().withType("integer").build()).build();
    JSONSchemaProps schema = new JSONSchemaPropsBuilder().withType("object").addToProperties("spec", spec).addToProperties("status", status).build();
    var definitions = client.apiextensions().v1().customResourceDefinitions();
    definitions.resource(new CustomResourceDefinitionBuilder().withNewMetadata().withName("fabricthings.field.test").endMetadata().withNewSpec()
        .withGroup("field.test").withScope("Namespaced").withNewNames().withKind("FabricThing").withPlural("fabricthings").endNames()
        .addNewVersion().withName("v1").withServed(true).withStorage(true).withNewSchema().withOpenAPIV3Schema(schema).endSchema()
        .withNewSubresources().withNewStatus().endStatus().endSubresources().endVersion().endSpec().build()).create();
    definitions.withName("fabricthings.field.test").waitUntilCondition(it -> it != null && it.getStatus() != null && it.getStatus().getConditions().stream()
        .anyMatch(condition -> condition.getType().equals("Established") && condition.getStatus().equals("True")), WAIT_MAX_MS, TimeUnit.MILLISECONDS);
    var context = new ResourceDefinitionContext.Builder().withGroup("field.test").withVersion("v1").withKind("FabricThing").withPlural("fabricthings")
        .withNamespaced(true).build();
    var things = client.genericKubernetesResources(context).inNamespace(NS);
    things.resource(thing("one", 1)).create();
    equal(things.withName("one").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"size\":2}}").<Object>get("spec"), "{size=2}", "patched");
    GenericKubernetesResource told = things.withName("one").get();
    told.setAdditionalProperty("status", Map.of("seen", 2));
    equal(things.resource(told).updateStatus().<Object>get("status"), "{seen=2}", "status");
    equal(things.list().getItems().size(), 1, "list");
    equal(fieldsOf(refused(422, "Invalid", () -> things.resource(thing("two", -1)).create())), "[spec.size]", "causes");
  }

  static Map<String, String> versionsOf(List<ConfigMap> items) {
    Map<String, String> versions = new TreeMap<>();
    for (ConfigMap item : items) versions.put(item.getMetadata().getName(), item.getMetadata().getResourceVersion());
    return versions;
  }

  static void watchThroughRestart() throws Exception {
    for (int n = 0; n < 10; n++) maps().resource(configMap("watched-" + n, Map.of("n", "0"), "watched")).create();
    Map<String, Long> latest = new ConcurrentHashMap<>();
    List<String> backwards = new ArrayList<>();
    SharedIndexInformer<ConfigMap> informer = maps().withLabel("set", "watched").inform(new ResourceEventHandler<ConfigMap>() {
      void see(ConfigMap map) {
        long version = Long.parseLong(map.getMetadata().getResourceVersion());
        Long before = latest.put(map.getMetadata().getName(), version);
        if (before != null && before > version) backwards.add(map.getMetadata().getName());
      }

      public void onAdd(ConfigMap map) { see(map); }

      public void onUpdate(ConfigMap before, ConfigMap map) { see(map); }

      public void onDelete(ConfigMap map, boolean unknown) { latest.remove(map.getMetadata().getName()); }
    });
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
    maps().withName("watched-3").delete();
    Map<String, String> now = versionsOf(maps().withLabel("set", "watched").list().getItems());
    until(() -> versionsOf(informer.getStore().list()).equals(now), "the state that is listed");
    until(() -> new TreeMap<>(latest).toString().equals(now.toString()), "the events of the state that is listed");
    equal(backwards, "[]", "objects that went back in time");
    informer.close();
  }

  /** Changes an object. Retries while the server is down. */
  static void change(int n) throws Exception {
    long end = System.currentTimeMillis() + WAIT_MAX_MS;
    while (true) {
      try {
        maps().withName("watched-" + n % 10).patch(PatchContext.of(PatchType.STRATEGIC_MERGE), "{\"data\":{\"n\":\"" + n + "\"}}");
        return;
      } catch (KubernetesClientException error) {
        boolean away = error.getStatus() == null || error.getCode() == 429 || error.getCode() >= 500;
        if (!away || System.currentTimeMillis() > end) throw error;
        Thread.sleep(100);
      }
    }
  }
}
