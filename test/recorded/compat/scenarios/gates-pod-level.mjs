// Amounts for all containers of a pod together (PodLevelResources): defaults, rules, classes, limit ranges, quotas. With the gate on and off.
import { gated } from './kit/gates.mjs';
import { GET, PATCH, POST, PUT } from '../steps.ts';

const PODS = '/api/v1/namespaces/$ns/pods';
const QUOTAS = '/api/v1/namespaces/$ns/resourcequotas';
const container = (resources, o = {}) => ({ name: 'c', image: 'i', resources, ...o });
const pod = (name, resources, containers = [container({})], spec = {}) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { resources, containers, ...spec } });
const causes = (b) => b.details?.causes?.map(({ field, message }) => [field, message]) ?? b.message ?? { resources: b.spec?.resources, containers: b.spec?.containers?.map(({ resources }) => resources), qosClass: b.status?.qosClass };
const shown = { pick: causes };
const pods = (...list) => list.map((one, at) => POST(PODS, pod(`p${at}`, ...one), shown));
const both = { cpu: '1', memory: '1Gi' };

const quota = (name, hard) => {
  const body = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard } };
  const used = Object.fromEntries(Object.keys(hard).map((one) => [one, '0']));
  return [POST(QUOTAS, body, { compare: 'status' }), PUT(`${QUOTAS}/${name}/status`, { ...body, status: { hard, used } }, { compare: 'status' })];
};
const known = [
  ...quota('sentinel', { 'count/podtemplates': '0' }),
  { ...POST('/api/v1/namespaces/$ns/podtemplates', { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'probe' }, template: { spec: { containers: [container({})] } } }, { query: { dryRun: 'All' }, compare: 'status', note: 'until the quotas are known' }), kind: 'poll', ms: 10000, until: (_, status) => status === 403 },
];
const used = (name) => GET(`${QUOTAS}/${name}`, { pick: ({ status }) => status.used });

export default [
  ...gated('pod-level-defaults', false, 'what a pod means by the amounts that it does not say', pods(
    [{ limits: { cpu: '2' } }, [container({ requests: { cpu: '500m', memory: '1Gi' } }), container({ requests: { cpu: '250m' } }, { name: 'd' })]],
    [{ limits: { cpu: '2' } }, [container({ limits: { memory: '1Gi' } })]],
    [{ requests: { cpu: '2' } }, [container({ requests: { cpu: '1' } })]],
    [{ requests: { cpu: '2' } }, [container({ limits: { cpu: '1', 'hugepages-2Mi': '4Mi' } })]],
    [{ limits: { memory: '1Gi' } }, [container({ limits: { cpu: '1', 'hugepages-2Mi': '4Mi' } }), container({ limits: { cpu: '1', 'hugepages-2Mi': '2Mi' } }, { name: 'd' })]],
    [{ limits: { cpu: '4' } }, [container({ requests: { cpu: '1' } })], { initContainers: [container({ requests: { cpu: '2' } }, { name: 'i' })] }],
    [{ limits: { cpu: '4' } }, [container({ requests: { cpu: '1' } })], { initContainers: [container({ requests: { cpu: '2' } }, { name: 'i', restartPolicy: 'Always' })] }],
    [{ limits: { cpu: '4' } }, [container({ requests: { cpu: '1' } })], { overhead: { cpu: '1' } }],
    [{ limits: {} }, [container({ requests: { cpu: '1' } })]],
  )),
  ...gated('pod-level-rules', false, 'what a pod may say for all its containers', pods(
    [{}, [container({ requests: { cpu: '1' } })]],
    [{ limits: both }, [container({ requests: { 'ephemeral-storage': '1Gi' } })]],
    [{ limits: both }, [container({ limits: { 'example.com/x': '1' } })]],
    [{ requests: { cpu: '1' }, limits: { memory: '1Mi' } }, [container({ limits: { memory: '2Mi' } })]],
    [{ limits: { gpu: '1', 'a b': '1', storage: '1' } }],
    [{ limits: { cpu: '1', 'hugepages-2Mi': '3Mi' } }],
    [{ limits: { cpu: '1', 'hugepages-2Mi': '2Mi' }, requests: { 'hugepages-2Mi': '4Mi' } }],
    [{ limits: { cpu: '1' }, claims: [] }],
    [{ limits: both }, [container({})], { os: { name: 'windows' } }],
  )),
  ...gated('pod-level-classes', false, 'how a pod fares by what it says itself', pods(
    [{ limits: both }],
    [{ limits: both, requests: both }, [container({ requests: { cpu: '500m' } })]],
    [{ limits: both, requests: { cpu: '500m' } }],
    [{ limits: { cpu: '1' } }],
    [{ requests: { cpu: '1' } }],
    [{ requests: { cpu: '0' } }, [container({ requests: { cpu: '0' } })]],
    [{ limits: { cpu: '0', memory: '0' } }],
    [{ requests: both }, [container({ limits: both })]],
  )),
  ...gated('pod-level-templates', false, 'amounts of all containers in a template', [{ limits: both }, { limits: { 'example.com/x': '1' } }, {}].map((resources, at) => POST('/apis/apps/v1/namespaces/$ns/deployments', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: `d${at}` }, spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { resources, containers: [container({ requests: { cpu: '1' } })] } } } }, { pick: (b) => b.details?.causes?.map(({ field, message }) => [field, message]) ?? b.spec.template.spec }))),
  ...gated('pod-level-resize', false, 'resizes of a pod that says its amounts itself', [
    ...pods([{ limits: both }, [container({ requests: { cpu: '500m' } })]]),
    PATCH(`${PODS}/p0/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '600m' } } }] } }, shown),
    PATCH(`${PODS}/p0/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '-1' } } }] } }, shown),
    PATCH(`${PODS}/p0/resize`, 'strategic', { spec: { resources: null } }, shown),
  ]),
  ...gated('pod-level-limit-ranges', false, 'limit ranges and pods that say their amounts themselves', [
    POST('/api/v1/namespaces/$ns/limitranges', { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [{ type: 'Pod', min: { cpu: '1' }, max: { cpu: '2', 'hugepages-2Mi': '4Mi' } }] } }, { compare: 'status' }),
    ...pods(
      [{ requests: { cpu: '1' }, limits: { cpu: '2', 'hugepages-2Mi': '4Mi' } }],
      [{ requests: { cpu: '1' }, limits: { cpu: '3', 'hugepages-2Mi': '4Mi' } }, [container({ limits: { 'hugepages-2Mi': '2Mi', cpu: '500m' } })]],
      [{ requests: { cpu: '500m' }, limits: { cpu: '2' } }, [container({ limits: { 'hugepages-2Mi': '2Mi', cpu: '500m' } })]],
      [{ limits: { cpu: '2' } }, [container({ limits: { 'hugepages-2Mi': '2Mi', cpu: '1500m' } })]],
    ),
  ]),
  ...gated('pod-level-quotas', false, 'quotas and pods that say their amounts themselves', [
    ...quota('q', { 'requests.cpu': '5', 'limits.cpu': '6', 'requests.memory': '8Gi', 'hugepages-2Mi': '8Mi' }),
    ...known,
    ...[
      [{ limits: { cpu: '2', memory: '1Gi' } }],
      [{ limits: { cpu: '1', memory: '1Gi', 'hugepages-2Mi': '4Mi' } }, [container({ requests: { cpu: '500m' } })], { overhead: { cpu: '1', memory: '1Gi' } }],
      [{ requests: { cpu: '1' } }],
      [{ limits: { cpu: '4', memory: '1Gi' } }],
      [{}, [container({})]],
      [undefined, [container({ limits: both })]],
    ].flatMap((one, at) => [POST(PODS, pod(`p${at}`, ...one), shown), used('q')]),
  ]),
];
