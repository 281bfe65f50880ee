/**
 * Prints the candidates for wide.txt, one name per line: the tests of e2e.test that are in no other
 * list, except for those that cannot pass without running containers.
 *
 *   node test/upstream/conformance/e2e/candidates.ts > .cache/candidates.txt
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toolPath } from '../../../support/harness/etcd.ts'

/** Maximum size of the output of --list-tests, which is 1.5 MB for 6,730 tests. */
const LIST_BYTES_MAX = 16 << 20

/**
 * Matches tests that are never candidates, in any file. These tests break the cluster on purpose.
 * Others require features that are off by default, or machines or programs that are not available
 * here.
 */
const never =
  /\[(Disruptive|Flaky)\]|OffByDefault|\[Feature:(CBOR|StorageVersionAPI|StorageProvider|Example|GPUDevicePlugin|RuntimeHandler|NodeLogQuery|PodLogsQuerySplitStreams|DynamicResourceAllocation)\]|Aggregated APIServer|working \w+ cluster/

type CandidateFilter = {
  /** Matches files under test/e2e of Kubernetes. */
  readonly files: RegExp
  /**
   * Matches the names of tests in these files that are not candidates, because they depend on
   * running containers.
   */
  readonly but?: RegExp
}

const asked: readonly CandidateFilter[] = [
  // In the excluded files, webhook servers and aggregated API servers run in Pods.
  // test/integration/webhooks runs similar tests with a local webhook server.
  { files: /^apimachinery\/(?!etcd_failure|aggregator|webhook|crd_conversion_webhook)/ },
  {
    files: /^apps\/(?!daemon_restart)/,
    // The excluded tests do not work with kwok. Its Pods never fail, and Pods of Jobs complete
    // immediately. Two tests of CronJobs need to see a running Pod. One test breaks the probes of a
    // StatefulSet with `exec`. Some tests request images through a proxy.
    but: /\bfail(s|ed|ing|ure|-count)?\b|FailIndex|backoffLimit|locally restarted|DisruptionTarget|active deadline|serve a basic image|load-balancer|rolling updates and roll backs|100 missed|from active list|unhealthy pods|halt if any|provide basic identity|retry creating/i,
  },
  { files: /^architecture\// },
  {
    files: /^auth\/(?!node_authn|per_node_update|projected_clustertrustbundle)/,
    but: /mount|InClusterConfig|ownership and permission|OIDC discovery/,
  },
  {
    files: /^kubectl\/(kubectl|rollout|delete|debug)\.go/,
    but: /Guestbook|Kubectl copy|Simple pod|exec|attach|cluster-info dump|Update Demo/,
  },
  { files: /^instrumentation\/(?!logging)/, but: /kubelet/i },
  { files: /^lifecycle\/bootstrap\// },
  {
    files:
      /^common\/node\/(configmap|ephemeral_containers|lease|node_lease|pods|podtemplates|runtimeclass|secrets|pod_admission)\.go/,
    but: /consumable|websockets|back-?off|environment variables|will start|unconfigured|reject pod|infrequently/i,
  },
  {
    files:
      /^network\/(endpointslice|endpointslicemirroring|hostport|ingress|ingressclass|service_cidrs|service_latency)\.go/,
    but: /HostPort|serve on different/,
  },
  { files: /^network\/netpol\/network_policy_api\.go/ },
  {
    files: /^network\/service\.go/,
    // The excluded tests send network traffic.
    but: /hairpin|ExternalName|connect|functioning|session affinity|up and down|externalIP|rejected|restartable init|terminating|source pod IP|TrafficPolicy|headless|service-proxy-name|recreated|listening on same port/i,
  },
  {
    files: /^node\/(events|node_lifecycle|pod_admission|pod_gc|pods|runtimeclass|taints)\.go/,
    but: /init container|extra sandbox|success for a pending|evicted pods should be terminal|reject pod|Delete Grace Period|1000 pods/,
  },
  { files: /^node\/kubelet\.go/, but: /get --raw|host cleanup/ },
  // The excluded test waits for five minutes.
  { files: /^scheduling\/(?!ubernetes_lite)/, but: /exists conflict/ },
  {
    files:
      /^storage\/(csi_inline|csi_node|csistoragecapacity|ephemeral_volume|pv_protection|pvc_protection|pvc_storageclass|storageclass|volume_attachment|volumeattributesclass|volume_metrics)\.go/,
    but: /Volume metrics (Ephemeral|PVC )/,
  },
  { files: /^storage\/persistent_volumes\.go/, but: /write access|Recycle|multiple volumes/ },
]

const here = import.meta.dirname

function listed(name: string): string[] {
  return readFileSync(join(here, `${name}.txt`), 'utf8').split('\n')
}

function isAsked(file: string, name: string): boolean {
  const rule = asked.find(({ files }) => files.test(file))
  return rule !== undefined && !never.test(name) && rule.but?.test(name) !== true
}

const elsewhere = new Set([...listed('api-only'), ...listed('with-controllers')])
const printed = execFileSync(toolPath('e2e.test'), ['--list-tests'], {
  encoding: 'utf8',
  maxBuffer: LIST_BYTES_MAX,
})
for (const [, file = '', name = ''] of printed.matchAll(
  /^ *k8s\.io\/kubernetes\/test\/e2e\/([^:]*):\d+: (.*)$/gm,
))
  if (!elsewhere.has(name) && isAsked(file, name)) console.log(name)
