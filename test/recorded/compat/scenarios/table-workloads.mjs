// Rows of the kinds that run Pods: controllers, jobs, autoscalers, budgets, templates.
import { scenario, GET, POST, PATCH, DELETE } from '../steps.ts';
import { TABLE, accept, cells, table } from './kit/shapes.mjs';

const ns = (gv, r) => `${gv === 'v1' ? '/api/v1' : `/apis/${gv}`}/namespaces/$ns/${r}`;
const spec = (o = {}) => ({ containers: [{ name: 'a', image: 'x:1' }, { name: 'b', image: 'registry.example.com/y@sha256:0' }], ...o });
const template = (labels = { app: 'x' }, o) => ({ metadata: { labels }, spec: spec(o) });
const selector = { matchLabels: { app: 'x' } };

/** Creates objects (each with an optional status) and shows the rows of their list. */
const rows = (id, about, path, objects, { pick = cells, before = [], after = [] } = {}) => scenario(`table-${id}`, { section: '2.6', about }, [
  ...before, ...objects.flatMap(([object, status]) => [POST(path, object, { compare: 'status' }), ...(status ? [PATCH(`${path}/${object.metadata.name}/status`, 'merge', { status }, { compare: 'status' })] : [])]), ...after, GET(`${path}?includeObject=None`, { ...accept(TABLE), pick }),
]);
const named = (name, o) => ({ metadata: { name }, ...o });

const deployments = ns('apps/v1', 'deployments');
const replicaSets = ns('apps/v1', 'replicasets');
const daemonSets = ns('apps/v1', 'daemonsets');
const statefulSets = ns('apps/v1', 'statefulsets');
const controllers = [
  rows('deployment', 'A Deployment, new and rolled out', deployments, [[named('new', { spec: { selector, template: template() } })], [named('rolled', { spec: { replicas: 3, selector, template: template() } }), { replicas: 4, readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1, unavailableReplicas: 3 }], [named('zero', { spec: { replicas: 0, selector, template: template() } })]], { pick: table }),
  rows('deployment-selector', 'How selectors are written', deployments, [[named('labels', { spec: { selector: { matchLabels: { b: '2', a: '1' } }, template: template({ a: '1', b: '2' }) } })], [named('expressions', { spec: { selector: { matchLabels: { z: '0' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['2', '1'] }, { key: 'b', operator: 'NotIn', values: ['3'] }, { key: 'z', operator: 'Exists' }, { key: 'd', operator: 'DoesNotExist' }] }, template: template({ a: '1', z: '0' }) } })]]),
  rows('replicaset', 'ReplicaSets', replicaSets, [[named('new', { spec: { selector, template: template() } })], [named('some', { spec: { replicas: 5, selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'w'] }] }, template: template() } }), { replicas: 4, readyReplicas: 3 }]], { pick: table }),
  rows('replicationcontroller', 'ReplicationControllers', ns('v1', 'replicationcontrollers'), [[named('new', { spec: { template: template() } })], [named('some', { spec: { replicas: 5, selector: { app: 'x', tier: 'y' }, template: template({ app: 'x', tier: 'y' }) } }), { replicas: 4, readyReplicas: 3 }]], { pick: table }),
  rows('daemonset', 'DaemonSets, with and without a node selector', daemonSets, [[named('new', { spec: { selector, template: template() } })], [named('some', { spec: { selector, template: template({ app: 'x' }, { nodeSelector: { disk: 'ssd', arch: 'amd64' } }) } }), { desiredNumberScheduled: 5, currentNumberScheduled: 4, numberReady: 3, updatedNumberScheduled: 2, numberAvailable: 1, numberMisscheduled: 0 }]], { pick: table }),
  rows('statefulset', 'StatefulSets', statefulSets, [[named('new', { spec: { serviceName: 's', selector, template: template() } })], [named('some', { spec: { replicas: 3, serviceName: 's', selector, template: template() } }), { replicas: 3, readyReplicas: 2 }]], { pick: table }),
  rows('controllerrevision', 'ControllerRevisions, with and without an owner', ns('apps/v1', 'controllerrevisions'), [[named('free', { revision: 1, data: {} })], [{ metadata: { name: 'owned', ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: '11111111-2222-3333-4444-555555555555', controller: true }] }, revision: 7, data: {} }], [{ metadata: { name: 'owned-core', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '11111111-2222-3333-4444-555555555555', controller: true }] }, revision: 8, data: {} }], [{ metadata: { name: 'not-controlled', ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: '11111111-2222-3333-4444-555555555555' }] }, revision: 9, data: {} }]], { pick: table }),
  rows('podtemplate', 'PodTemplates', ns('v1', 'podtemplates'), [[named('one', { template: template({ b: '2', a: '1' }) })], [named('bare', { template: { spec: spec() } })]], { pick: table }),
  scenario('table-scale', { section: '2.6', about: 'The Scale of a Deployment' }, [POST(deployments, named('d', { spec: { replicas: 3, selector, template: template() } }), { compare: 'status' }), PATCH(`${deployments}/d/status`, 'merge', { status: { replicas: 2 } }, { compare: 'status' }), GET(`${deployments}/d/scale?includeObject=None`, { ...accept(TABLE), pick: table }), PATCH(`${deployments}/d/scale`, 'merge', { spec: { replicas: 1 } }, { ...accept(TABLE), pick: cells })]),
];

const jobs = ns('batch/v1', 'jobs');
const job = (name, o = {}) => named(name, { spec: { template: { spec: spec({ restartPolicy: 'Never' }) }, ...o } });
const shown = ({ Status, Completions, Duration }) => ({ Status, Completions, Duration });
const jobRow = { pick: (b) => (b.kind === 'Table' ? cells(b).map(shown) : b) };
const start = '2020-01-01T00:00:00Z';
const finish = (seconds) => new Date(Date.parse(start) + seconds * 1000).toISOString().replace('.000Z', 'Z');
const complete = (seconds) => ({ startTime: start, completionTime: finish(seconds), succeeded: 1, uncountedTerminatedPods: {}, conditions: [{ type: 'SuccessCriteriaMet', status: 'True', lastTransitionTime: start }, { type: 'Complete', status: 'True', lastTransitionTime: start }] });
const failed = { startTime: start, failed: 1, uncountedTerminatedPods: {}, conditions: [{ type: 'FailureTarget', status: 'True', reason: 'BackoffLimitExceeded' }, { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }] };
const anyDuration = { pick: (b) => (b.kind === 'Table' ? cells(b).map(shown).map((r) => ({ ...r, Duration: r.Duration === '' ? '' : '<age>' })) : b) };
const batch = [
  scenario('table-job', { section: '2.6', about: 'A new Job in full; its selector is generated' }, [POST(jobs, job('j', { manualSelector: true, selector, template: { metadata: { labels: { app: 'x' } }, spec: spec({ restartPolicy: 'Never' }) } }), { compare: 'status' }), GET(`${jobs}?includeObject=None`, { ...accept(TABLE), pick: table })]),
  rows('job-completions', 'Completions of Jobs with and without a count', jobs, [[job('counted', { completions: 5, parallelism: 2 })], [job('queue', { parallelism: 3 })], [job('queue-of-one', { parallelism: 1 })], [job('none', { completions: 0, parallelism: 0 })], [job('default')]], jobRow),
  rows('job-running', 'A Job that runs', jobs, [[job('j', { completions: 3 }), { startTime: start, active: 1, succeeded: 1, uncountedTerminatedPods: {} }]], anyDuration),
  rows('job-failed', 'A failed Job', jobs, [[job('j'), failed]], anyDuration),
  rows('job-failure-target', 'A Job that is about to fail', jobs, [[job('j'), { ...failed, conditions: failed.conditions.slice(0, 1) }]], anyDuration),
  rows('job-suspended', 'A suspended Job', jobs, [[job('j', { suspend: true }), { conditions: [{ type: 'Suspended', status: 'True', lastTransitionTime: start }] }]], jobRow),
  rows('job-resumed', 'A condition that is not true does not count', jobs, [[job('j'), { conditions: [{ type: 'Suspended', status: 'False', lastTransitionTime: start }] }]], jobRow),
  rows('job-terminating', 'A deleted Job that still exists', jobs, [[{ ...job('j'), metadata: { name: 'j', finalizers: ['example.com/f'] } }]], { ...jobRow, after: [DELETE(`${jobs}/j`, undefined, { query: { propagationPolicy: 'Background' }, compare: 'status' })] }),
  ...[[0, '0s'], [1, '1s'], [119, 'seconds'], [120, 'two minutes'], [125, 'minutes and seconds'], [599, 'just under ten minutes'], [600, 'ten minutes'], [3661, 'over an hour'], [10799, 'just under three hours'], [10800, 'three hours'], [11100, 'hours and minutes'], [28799, 'just under eight hours'], [28800, 'eight hours'], [172799, 'just under two days'], [172800, 'two days'], [180000, 'days and hours'], [691199, 'just under eight days'], [691200, 'eight days'], [31536000, 'a year of days'], [63071999, 'just under two years'], [63072000, 'two years'], [70000000, 'years and days'], [252287999, 'just under eight years'], [252288000, 'eight years']]
    .map(([seconds, words]) => rows(`duration-${seconds}`, `How a span of ${seconds} seconds is written (${words})`, jobs, [[job('j'), complete(seconds)]], { pick: (b, raw) => (raw?.kind === 'Table' ? raw.rows[0].cells.slice(1, 4) : b) })),
  rows('cronjob', 'CronJobs: schedule, time zone, suspension, active jobs', ns('batch/v1', 'cronjobs'), [[named('plain', { spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: { spec: spec({ restartPolicy: 'Never' }) } } } } })], [named('full', { spec: { schedule: '@daily', timeZone: 'Europe/Oslo', suspend: true, jobTemplate: { spec: { template: { spec: spec({ restartPolicy: 'Never' }) } } } } }), { lastScheduleTime: start, active: [{ kind: 'Job', name: 'a', namespace: '$ns', apiVersion: 'batch/v1' }, { kind: 'Job', name: 'b', namespace: '$ns', apiVersion: 'batch/v1' }] }]], { pick: table }),
];

const hpas = ns('autoscaling/v2', 'horizontalpodautoscalers');
const hpa = (metrics, o = {}) => named('h', { spec: { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 5, ...(metrics ? { metrics } : {}), ...o } });
const now = { desiredReplicas: 1, currentReplicas: 1, conditions: [] };
const targets = { pick: (b) => (b.kind === 'Table' ? cells(b).map((r) => ({ Targets: r.Targets, MinPods: r.MinPods, MaxPods: r.MaxPods, Replicas: r.Replicas })) : b) };
const resource = (target) => ({ type: 'Resource', resource: { name: 'cpu', target } });
const utilization = { type: 'Utilization', averageUtilization: 50 };
const average = (v) => ({ type: 'AverageValue', averageValue: v });
const object = (target) => ({ type: 'Object', object: { describedObject: { kind: 'Service', name: 's', apiVersion: 'v1' }, metric: { name: 'hits' }, target } });
const external = (target) => ({ type: 'External', external: { metric: { name: 'queue' }, target } });
const podMetric = { type: 'Pods', pods: { metric: { name: 'load' }, target: average('10') } };
const containerMetric = (target) => ({ type: 'ContainerResource', containerResource: { name: 'memory', container: 'c', target } });
const current = (type, field, value, o) => ({ type, [field]: { ...o, current: value } });
const scaling = [
  rows('hpa', 'An autoscaler in full', hpas, [[hpa([resource(utilization)])]], { pick: table }),
  rows('hpa-default-metric', 'Without metrics the default one is shown', hpas, [[hpa()]], targets),
  rows('hpa-min', 'minReplicas and the current count', hpas, [[hpa([resource(utilization)], { minReplicas: 2 }), { ...now, currentReplicas: 4, currentMetrics: [current('Resource', 'resource', { averageUtilization: 70, averageValue: '700m' }, { name: 'cpu' })] }]], targets),
  rows('hpa-resource-value', 'A resource by average value', hpas, [[hpa([resource(average('500m'))]), { ...now, currentMetrics: [current('Resource', 'resource', { averageValue: '1250m' }, { name: 'cpu' })] }]], targets),
  rows('hpa-pods', 'A metric of Pods', hpas, [[hpa([podMetric]), { ...now, currentMetrics: [current('Pods', 'pods', { averageValue: '7' }, { metric: { name: 'load' } })] }]], targets),
  rows('hpa-pods-unknown', 'A metric of Pods without a value', hpas, [[hpa([podMetric])]], targets),
  rows('hpa-object', 'A metric of an object by value', hpas, [[hpa([object({ type: 'Value', value: '2k' })]), { ...now, currentMetrics: [current('Object', 'object', { value: '1500' }, { metric: { name: 'hits' }, describedObject: { kind: 'Service', name: 's', apiVersion: 'v1' } })] }]], targets),
  rows('hpa-object-average', 'A metric of an object by average', hpas, [[hpa([object(average('20'))])]], targets),
  rows('hpa-external', 'An external metric by value', hpas, [[hpa([external({ type: 'Value', value: '30' })]), { ...now, currentMetrics: [current('External', 'external', { value: '12' }, { metric: { name: 'queue' } })] }]], targets),
  rows('hpa-external-average', 'An external metric by average', hpas, [[hpa([external(average('30'))]), { ...now, currentMetrics: [current('External', 'external', { value: '0', averageValue: '12' }, { metric: { name: 'queue' } })] }]], targets),
  rows('hpa-container', 'A resource of one container', hpas, [[hpa([containerMetric(utilization)]), { ...now, currentMetrics: [current('ContainerResource', 'containerResource', { averageUtilization: 33, averageValue: '33Mi' }, { name: 'memory', container: 'c' })] }]], targets),
  rows('hpa-container-value', 'A resource of one container by value, unknown yet', hpas, [[hpa([containerMetric(average('64Mi'))])]], targets),
  rows('hpa-two', 'Two metrics', hpas, [[hpa([resource(utilization), podMetric])]], targets),
  rows('hpa-four', 'More than two metrics are cut', hpas, [[hpa([resource(utilization), podMetric, object(average('20')), external(average('30'))])]], targets),
  rows('hpa-v1', 'An autoscaler of v1', ns('autoscaling/v1', 'horizontalpodautoscalers'), [[named('h', { spec: { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 5, targetCPUUtilizationPercentage: 60 } }), { currentReplicas: 2, desiredReplicas: 3, currentCPUUtilizationPercentage: 45 }]], { pick: table }),
];

const budgets = ns('policy/v1', 'poddisruptionbudgets');
const limits = [
  rows('poddisruptionbudget', 'Disruption budgets by number and percentage', budgets, [[named('min', { spec: { minAvailable: 2, selector } })], [named('max', { spec: { maxUnavailable: '25%', selector } }), { disruptionsAllowed: 3, currentHealthy: 4, desiredHealthy: 1, expectedPods: 4, observedGeneration: 1 }], [named('zero', { spec: { maxUnavailable: 0 } })], [named('neither', { spec: { selector } })]], { pick: table }),
  rows('resourcequota', 'Quotas: requests and limits apart, sorted, used of hard', ns('v1', 'resourcequotas'), [[named('new', { spec: { hard: { pods: '10' } } })], [named('used', { spec: { hard: { pods: '10', 'requests.cpu': '2', 'limits.memory': '1Gi', 'limits.cpu': '4', configmaps: '3', 'count/deployments.apps': '5' } } }), { hard: { pods: '10', 'requests.cpu': '2', 'limits.memory': '1Gi', 'limits.cpu': '4', configmaps: '3', 'count/deployments.apps': '5' }, used: { pods: '1', 'requests.cpu': '250m', 'limits.memory': '0', 'limits.cpu': '500m', configmaps: '1' } }]], { pick: table }),
  rows('limitrange', 'LimitRanges', ns('v1', 'limitranges'), [[named('l', { spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } })]], { pick: table }),
];

export default [...controllers, ...batch, ...scaling, ...limits];
