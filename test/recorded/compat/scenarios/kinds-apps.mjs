// apps/v1: Deployment, ReplicaSet, DaemonSet, StatefulSet, ControllerRevision.
import { scenario, GET, POST, PUT, PATCH } from '../steps.ts';
import { kind } from './kit/kinds-groups.mjs';

const labels = { app: 'a' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const workload = { spec: { selector: { matchLabels: labels }, template } };

const deployment = kind({ apiVersion: 'apps/v1', resource: 'deployments', kind: 'Deployment', base: workload });
const replicaset = kind({ apiVersion: 'apps/v1', resource: 'replicasets', kind: 'ReplicaSet', base: workload });
const daemonset = kind({ apiVersion: 'apps/v1', resource: 'daemonsets', kind: 'DaemonSet', base: workload });
const statefulset = kind({ apiVersion: 'apps/v1', resource: 'statefulsets', kind: 'StatefulSet', base: workload });
const revision = kind({ apiVersion: 'apps/v1', resource: 'controllerrevisions', kind: 'ControllerRevision', base: { data: { spec: { n: 1 } }, revision: 1 } });

/** A pod template that touches what workloads care about; the pod's own fields are the core group's area. */
const richTemplate = {
  metadata: { labels: { app: 'a', tier: 't' }, annotations: { 'example.com/a': '1' }, name: 'kept', generateName: 'kept-' },
  spec: {
    containers: [{ name: 'c', image: 'repo/i:v1', ports: [{ containerPort: 80 }], resources: { requests: { cpu: '0.5' }, limits: { cpu: 1, memory: '1024Mi' } },
      readinessProbe: { httpGet: { port: 80 } }, env: [{ name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }], volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
    volumes: [{ name: 'v', configMap: { name: 'm' } }], terminationGracePeriodSeconds: 5, serviceAccountName: 's', nodeSelector: { n: 'v' },
  },
};

/** Rules that all four workloads have for their selector and template. */
const selectorRefusals = {
  'selector-missing': { 'spec.selector': undefined },
  'selector-empty': [{ 'spec.selector': {} }, { 'spec.selector': { matchLabels: {} } }],
  'selector-mismatch': [{ 'spec.selector.matchLabels': { app: 'b' } }, { 'spec.template.metadata': undefined }, { 'spec.selector': { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } }],
  'selector-labels': [
    { 'spec.selector.matchLabels': { 'bad key': 'a' } },
    { 'spec.selector.matchLabels': { app: 'bad value' } },
  ],
  'selector-expressions': [
    { 'spec.selector.matchExpressions': [{ key: 'app', operator: 'In' }] },
    { 'spec.selector.matchExpressions': [{ key: 'app', operator: 'Exists', values: ['a'] }] },
    { 'spec.selector.matchExpressions': [{ key: 'app', operator: 'Is', values: ['a'] }] },
    { 'spec.selector.matchExpressions': [{ operator: 'Exists' }] },
    { 'spec.selector.matchExpressions': [{ key: 'app', operator: 'In', values: ['-a'] }] },
  ],
  'template-labels': [{ 'spec.template.metadata.labels': { app: 'a', 'x/y/z': 'v' } }, { 'spec.template.metadata.labels': { app: 'a', l: 'bad value' } }],
  'template-annotations': { 'spec.template.metadata.annotations': { 'bad key': 'v' } },
  'restart-policy': [{ 'spec.template.spec.restartPolicy': 'OnFailure' }, { 'spec.template.spec.restartPolicy': 'Never' }, { 'spec.template.spec.restartPolicy': 'Sometimes' }],
  'active-deadline': { 'spec.template.spec.activeDeadlineSeconds': 5 },
  'template-missing': { 'spec.template': undefined },
  spec: { spec: undefined },
};
const statusCondition = { type: 'Custom', status: 'True', reason: 'R', message: 'm', lastTransitionTime: '2020-01-01T00:00:00Z' };
const podRefusals = {
  'template-spec': [{ 'spec.template.spec': {} }, { 'spec.template.spec.containers': [] }, { 'spec.template.spec.containers.0.image': undefined }],
};
const intOrPercent = (path) => [{ [path]: -1 }, { [path]: '-1%' }, { [path]: '10' }, { [path]: 'ten%' }, { [path]: '' }, { [path]: '101%' }];

const scale = (k) => [
  scenario(`${k}-scale`, { section: '4.2', about: `${k}: the scale subresource reads and writes spec.replicas and bumps the generation` }, [
    POST(`/apis/apps/v1/namespaces/$ns/${k}s`, { apiVersion: 'apps/v1', kind: { deployment: 'Deployment', replicaset: 'ReplicaSet', statefulset: 'StatefulSet' }[k], metadata: { name: 'x' }, spec: { ...workload.spec, selector: { matchLabels: labels, matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] } } }, { compare: 'status' }),
    GET(`/apis/apps/v1/namespaces/$ns/${k}s/x/scale`, { id: 's' }),
    PUT(`/apis/apps/v1/namespaces/$ns/${k}s/x/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'x', namespace: '$ns' }, spec: { replicas: 4 } }),
    PATCH(`/apis/apps/v1/namespaces/$ns/${k}s/x/scale`, 'merge', { spec: { replicas: -1 } }),
    PATCH(`/apis/apps/v1/namespaces/$ns/${k}s/x/scale`, 'merge', { metadata: { resourceVersion: '${s.metadata.resourceVersion}' }, spec: { replicas: 5 } }),
    PATCH(`/apis/apps/v1/namespaces/$ns/${k}s/x/scale`, 'merge', { spec: { replicas: null }, status: { replicas: 9 } }),
    GET(`/apis/apps/v1/namespaces/$ns/${k}s/x`),
    GET(`/apis/apps/v1/namespaces/$ns/${k}s/missing/scale`),
  ]),
];

export default [
  // Deployment
  ...deployment.creates({
    minimal: {},
    maximal: { 'metadata.labels': { l: 'v' }, spec: {
      replicas: 3, selector: { matchLabels: labels, matchExpressions: [{ key: 'tier', operator: 'In', values: ['t', 'u'] }] }, template: richTemplate,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '30%', maxSurge: 2 } }, minReadySeconds: 3, revisionHistoryLimit: 0, paused: true, progressDeadlineSeconds: 99 } },
    recreate: { 'spec.strategy': { type: 'Recreate' } },
    'half-a-rolling-update': { 'spec.strategy': { rollingUpdate: { maxSurge: 0 } } },
    'zero-replicas': { 'spec.replicas': 0 },
  }),
  ...deployment.accepts({
    'rolling-update': [{ 'spec.strategy.rollingUpdate': { maxUnavailable: 0, maxSurge: 1 } }, { 'spec.strategy.rollingUpdate': { maxUnavailable: '100%', maxSurge: '300%' } }],
    'name-not-a-label': { 'metadata.name': 'a.b' },
  }),
  ...deployment.refuses({
    ...selectorRefusals, ...podRefusals,
    name: [{ 'metadata.name': 'A' }, { 'metadata.name': `${'a'.repeat(254)}` }],
    replicas: { 'spec.replicas': -1 },
    'min-ready-seconds': [{ 'spec.minReadySeconds': -1 }, { 'spec.minReadySeconds': 600 }],
    'revision-history-limit': { 'spec.revisionHistoryLimit': -1 },
    'progress-deadline': [{ 'spec.progressDeadlineSeconds': -1 }, { 'spec.progressDeadlineSeconds': 5, 'spec.minReadySeconds': 5 }, { 'spec.progressDeadlineSeconds': 0 }],
    'strategy-type': [{ 'spec.strategy': { type: 'Slow' } }, { 'spec.strategy': { type: 'Recreate', rollingUpdate: {} } }],
    'max-unavailable': intOrPercent('spec.strategy.rollingUpdate.maxUnavailable'),
    'max-surge': intOrPercent('spec.strategy.rollingUpdate.maxSurge').slice(0, 5),
    'no-room-to-roll': [{ 'spec.strategy.rollingUpdate': { maxUnavailable: 0, maxSurge: 0 } }, { 'spec.strategy.rollingUpdate': { maxUnavailable: '0%', maxSurge: '0%' } }],
    'several-at-once': { 'spec.replicas': -1, 'spec.minReadySeconds': -2, 'spec.selector': undefined, 'spec.strategy': { type: 'Recreate', rollingUpdate: {} } },
  }),
  ...deployment.updates({
    selector: [
      { spec: { selector: { matchLabels: { app: 'b' } } } },
      { spec: { selector: { matchLabels: { app: 'b' } }, template: { metadata: { labels: { app: 'b' } } } } },
      { spec: { selector: null } },
      { spec: { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } } },
    ],
    template: [{ spec: { template: { spec: { containers: [{ name: 'd', image: 'j' }] } } } }, { spec: { template: { metadata: { labels: { app: null } } } } }],
    strategy: [{ spec: { strategy: { type: 'Recreate' } } }, { spec: { strategy: { type: 'Recreate', rollingUpdate: null } } }, { spec: { strategy: null } }],
    'defaulted-fields': [{ spec: { replicas: null, revisionHistoryLimit: null, progressDeadlineSeconds: null } }, { spec: { replicas: -5 } }],
  }, { from: { 'spec.replicas': 3, 'spec.progressDeadlineSeconds': 60 } }),
  ...deployment.statuses({
    counts: [
      { replicas: 3, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 1, unavailableReplicas: 2, observedGeneration: 1, collisionCount: 1 },
      { replicas: -1, updatedReplicas: -1, readyReplicas: -1, availableReplicas: -1, unavailableReplicas: -1, observedGeneration: -1, collisionCount: -1, terminatingReplicas: -1 },
      { replicas: 1, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 3 },
    ],
    conditions: [
      { conditions: [{ type: 'Available', status: 'True', reason: 'R', message: 'm', lastUpdateTime: '2020-01-01T00:00:00Z', lastTransitionTime: '2020-01-01T00:00:00Z' }] },
      { conditions: [{ type: 'Available' }] },
      { terminatingReplicas: 1 },
    ],
  }),
  ...deployment.strategy({ status: { replicas: 2, observedGeneration: 1 }, spec: { spec: { paused: true } } }),
  scenario('deployment-status-collision-count', { section: '4.7', about: 'Deployment, StatefulSet and DaemonSet: the collision count never goes back' }, ['deployments', 'statefulsets', 'daemonsets'].flatMap((r) => [
    POST(`/apis/apps/v1/namespaces/$ns/${r}`, { apiVersion: 'apps/v1', kind: { deployments: 'Deployment', statefulsets: 'StatefulSet', daemonsets: 'DaemonSet' }[r], metadata: { name: 'x' }, ...workload }, { compare: 'status' }),
    PATCH(`/apis/apps/v1/namespaces/$ns/${r}/x/status`, 'merge', { status: { collisionCount: 2 } }, { compare: 'status' }),
    PATCH(`/apis/apps/v1/namespaces/$ns/${r}/x/status`, 'merge', { status: { collisionCount: 1 } }),
    PATCH(`/apis/apps/v1/namespaces/$ns/${r}/x/status`, 'merge', { status: { collisionCount: null } }),
  ])),
  ...scale('deployment'),
  ...deployment.puts(),

  // ReplicaSet
  ...replicaset.creates({
    minimal: {},
    maximal: { spec: { replicas: 0, minReadySeconds: 7, selector: { matchLabels: labels, matchExpressions: [{ key: 'gone', operator: 'DoesNotExist' }] }, template: richTemplate } },
  }),
  ...replicaset.accepts({ 'name-not-a-label': { 'metadata.name': 'a.b' } }),
  ...replicaset.refuses({
    ...selectorRefusals, ...podRefusals,
    replicas: { 'spec.replicas': -1 }, 'min-ready-seconds': { 'spec.minReadySeconds': -1 },
  }),
  ...replicaset.updates({
    selector: [{ spec: { selector: { matchLabels: { app: 'b' } }, template: { metadata: { labels: { app: 'b' } } } } }, { spec: { selector: { matchLabels: { app: 'b' } } } }],
    template: { spec: { template: { spec: { containers: [{ name: 'd', image: 'j' }] } } } },
    'invalid-twice': { spec: { replicas: -1 } },
  }),
  ...replicaset.statuses({
    counts: [
      { replicas: 3, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 1, observedGeneration: 1 },
      { replicas: -1, fullyLabeledReplicas: -1, readyReplicas: -1, availableReplicas: -1, observedGeneration: -1 },
      { replicas: 1, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 3 },
      { replicas: 1, conditions: [statusCondition, statusCondition], terminatingReplicas: 1 },
    ],
  }),
  ...replicaset.strategy({ status: { replicas: 2, observedGeneration: 1 }, spec: { spec: { minReadySeconds: 5 } } }),
  ...scale('replicaset'),
  ...replicaset.puts(),
  scenario('replicaset-status-replicas-selector', { section: '4.3', about: 'ReplicaSet: the field selector status.replicas' }, [
    POST('/apis/apps/v1/namespaces/$ns/replicasets', replicaset.object(), { compare: 'status' }),
    GET('/apis/apps/v1/namespaces/$ns/replicasets', { query: { fieldSelector: 'status.replicas=0' }, pick: (b) => b.items?.map((i) => i.metadata.name) ?? b }),
    GET('/apis/apps/v1/namespaces/$ns/replicasets', { query: { fieldSelector: 'status.replicas=1' }, pick: (b) => b.items?.map((i) => i.metadata.name) ?? b }),
    GET('/apis/apps/v1/namespaces/$ns/replicasets', { query: { fieldSelector: 'spec.replicas=1' } }),
    GET('/apis/apps/v1/namespaces/$ns/deployments', { query: { fieldSelector: 'status.replicas=1' } }),
  ]),

  // DaemonSet
  ...daemonset.creates({
    minimal: {},
    maximal: { spec: { selector: { matchLabels: labels }, template: richTemplate, minReadySeconds: 3, revisionHistoryLimit: 2, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '20%' } } } },
    'on-delete': { 'spec.updateStrategy': { type: 'OnDelete' } },
    'on-delete-with-rolling-update': { 'spec.updateStrategy': { type: 'OnDelete', rollingUpdate: { maxUnavailable: 3 } } },
  }),
  ...daemonset.refuses({
    ...selectorRefusals, ...podRefusals,
    'min-ready-seconds': { 'spec.minReadySeconds': -1 },
    'revision-history-limit': { 'spec.revisionHistoryLimit': -1 },
    'strategy-type': { 'spec.updateStrategy': { type: 'Slow' } },
    'max-unavailable': intOrPercent('spec.updateStrategy.rollingUpdate.maxUnavailable'),
    'max-surge': [...intOrPercent('spec.updateStrategy.rollingUpdate.maxSurge'), { 'spec.updateStrategy.rollingUpdate': { maxUnavailable: 1, maxSurge: 1 } }, { 'spec.updateStrategy.rollingUpdate': { maxSurge: 1 } }, { 'spec.updateStrategy.rollingUpdate': { maxUnavailable: 0 } }],
  }),
  ...daemonset.updates({
    selector: [{ spec: { selector: { matchLabels: { app: 'b' } }, template: { metadata: { labels: { app: 'b' } } } } }, { spec: { selector: null } }],
    'template-generation': [
      { spec: { template: { spec: { containers: [{ name: 'd', image: 'j' }] } } } },
      { spec: { minReadySeconds: 9 } },
      { metadata: { annotations: { 'deprecated.daemonset.template.generation': '7' } } },
      { metadata: { annotations: { 'deprecated.daemonset.template.generation': null } } },
    ],
    'invalid-twice': { spec: { minReadySeconds: -1 } },
  }),
  scenario('daemonset-template-generation-on-create', { section: '2', about: 'DaemonSet: the template generation travels in an annotation' }, [
    POST('/apis/apps/v1/namespaces/$ns/daemonsets', daemonset.object({ 'metadata.name': 'five', 'metadata.annotations': { 'deprecated.daemonset.template.generation': '5' } })),
    POST('/apis/apps/v1/namespaces/$ns/daemonsets', daemonset.object({ 'metadata.name': 'zero', 'metadata.annotations': { 'deprecated.daemonset.template.generation': '0', other: 'x' } })),
    POST('/apis/apps/v1/namespaces/$ns/daemonsets', daemonset.object({ 'metadata.name': 'minus', 'metadata.annotations': { 'deprecated.daemonset.template.generation': '-3' } })),
    POST('/apis/apps/v1/namespaces/$ns/daemonsets', daemonset.object({ 'metadata.name': 'word', 'metadata.annotations': { 'deprecated.daemonset.template.generation': 'five' } })),
  ]),
  ...daemonset.statuses({
    counts: [
      { currentNumberScheduled: 1, numberMisscheduled: 2, desiredNumberScheduled: 3, numberReady: 4, observedGeneration: 1, updatedNumberScheduled: 5, numberAvailable: 6, numberUnavailable: 7, collisionCount: 1 },
      { currentNumberScheduled: -1, numberMisscheduled: -2, desiredNumberScheduled: -3, numberReady: -4, observedGeneration: -1, updatedNumberScheduled: -5, numberAvailable: -6, numberUnavailable: -7, collisionCount: -1 },
      { conditions: [statusCondition] },
    ],
  }),
  ...daemonset.puts(),
  ...daemonset.strategy({ status: { numberReady: 1, observedGeneration: 1 }, spec: { spec: { minReadySeconds: 5 } } }),

  // StatefulSet
  ...statefulset.creates({
    minimal: {},
    maximal: { spec: {
      replicas: 2, selector: { matchLabels: labels }, template: richTemplate, serviceName: 'svc', podManagementPolicy: 'Parallel', revisionHistoryLimit: 3, minReadySeconds: 4,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1, maxUnavailable: 2 } }, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' }, ordinals: { start: 5 },
      volumeClaimTemplates: [
        { metadata: { name: 'data', labels: { l: 'v' } }, spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } } },
        { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'block' }, spec: { accessModes: ['ReadWriteMany'], volumeMode: 'Block', resources: { requests: { storage: '1024Mi' } } }, status: { phase: 'Bound' } },
      ] } },
    'on-delete': { 'spec.updateStrategy': { type: 'OnDelete' } },
    'rolling-update-by-name-only': { 'spec.updateStrategy': { type: 'RollingUpdate' } },
    'half-a-retention-policy': { 'spec.persistentVolumeClaimRetentionPolicy': { whenScaled: 'Delete' } },
  }),
  ...statefulset.accepts({
    'negative-history-limit': { 'spec.revisionHistoryLimit': -1 },
    'template-with-unmounted-volume': { 'spec.template.spec.containers.0.volumeMounts': [{ name: 'nowhere', mountPath: '/x' }] },
    'template-spec': [{ 'spec.template.spec': {} }, { 'spec.template.spec.containers.0.image': undefined }],
    'volume-claim-templates': { 'spec.volumeClaimTemplates': [{ metadata: { name: 'Bad_Name' }, spec: {} }, { spec: { accessModes: ['Sometimes'] } }] },
    'service-name-empty': { 'spec.serviceName': '' },
  }),
  ...statefulset.refuses({
    ...selectorRefusals,
    name: [{ 'metadata.name': 'a.b' }, { 'metadata.name': 'a'.repeat(64) }],
    replicas: { 'spec.replicas': -1 }, 'min-ready-seconds': { 'spec.minReadySeconds': -1 }, 'ordinals-start': { 'spec.ordinals': { start: -1 } },
    'service-name': [{ 'spec.serviceName': 'a.b' }, { 'spec.serviceName': 'A' }],
    'pod-management-policy': { 'spec.podManagementPolicy': 'Random' },
    'strategy-type': [{ 'spec.updateStrategy': { type: 'Slow' } }, { 'spec.updateStrategy': { type: 'OnDelete', rollingUpdate: { partition: 1 } } }, { 'spec.updateStrategy': { type: 'OnDelete', rollingUpdate: {} } }],
    partition: { 'spec.updateStrategy.rollingUpdate': { partition: -1 } },
    'retention-policy': [{ 'spec.persistentVolumeClaimRetentionPolicy': { whenDeleted: 'Keep', whenScaled: 'Drop' } }],
  }),
  ...statefulset.updates({
    'allowed-fields': [
      { spec: { replicas: 4, ordinals: { start: 2 }, minReadySeconds: 2, revisionHistoryLimit: 1, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' }, updateStrategy: { rollingUpdate: { partition: 3 } } } },
      { spec: { template: { spec: { containers: [{ name: 'd', image: 'j' }] } } } },
      { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } },
    ],
    'other-fields': [
      { spec: { serviceName: 'other' } }, { spec: { podManagementPolicy: 'Parallel' } },
      { spec: { selector: { matchLabels: { app: 'b' } }, template: { metadata: { labels: { app: 'b' } } } } },
      { spec: { volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: {} }] } },
      { spec: { serviceName: 'Not.Valid' } },
      { spec: { selector: null } },
      { spec: { serviceName: 'other', replicas: -1 } },
    ],
  }),
  ...statefulset.statuses({
    counts: [
      { replicas: 3, readyReplicas: 2, currentReplicas: 1, updatedReplicas: 2, availableReplicas: 1, observedGeneration: 1, collisionCount: 2, currentRevision: 'r1', updateRevision: 'r2' },
      { replicas: -1, readyReplicas: -1, currentReplicas: -1, updatedReplicas: -1, availableReplicas: -1, observedGeneration: -1, collisionCount: -1 },
      { replicas: 1, readyReplicas: 2, currentReplicas: 2, updatedReplicas: 2, availableReplicas: 3 },
      { replicas: null },
      { conditions: [statusCondition, { type: 'Bare' }] },
    ],
  }),
  ...statefulset.strategy({ status: { replicas: 2, observedGeneration: 1 }, spec: { spec: { minReadySeconds: 5 } } }),
  ...scale('statefulset'),
  ...statefulset.puts(),

  // ControllerRevision
  ...revision.creates({ minimal: { revision: undefined }, 'with-any-data': { data: { apiVersion: 'v1', kind: 'X', deep: { list: [1, 'a', null, 2.50, { z: 1, a: 2 }] } }, revision: 12 } }),
  ...revision.refuses({
    revision: { revision: -1 },
    data: [{ data: undefined }, { data: null }, { data: [1] }, { data: 'text' }, { data: 3 }],
    name: { 'metadata.name': 'A' },
  }),
  ...revision.puts(),
  ...revision.updates({ data: [{ data: { spec: { n: 2 } } }, { data: null }, { revision: 5 }, { revision: -5 }] }),
];
