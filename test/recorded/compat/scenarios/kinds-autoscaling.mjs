// autoscaling/v2 and v1: HorizontalPodAutoscaler in its two versions, and what travels between them in annotations.
import { scenario, GET, POST, PUT, PATCH } from '../steps.ts';
import { kind } from './kit/kinds-groups.mjs';

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const base = { spec: { scaleTargetRef, maxReplicas: 3 } };
const v2 = kind({ apiVersion: 'autoscaling/v2', resource: 'horizontalpodautoscalers', kind: 'HorizontalPodAutoscaler', base, label: 'hpa' });
const v1 = kind({ apiVersion: 'autoscaling/v1', resource: 'horizontalpodautoscalers', kind: 'HorizontalPodAutoscaler', base, label: 'hpa-v1' });
const asV1 = v1.item, asV2 = v2.item;

const utilization = (averageUtilization) => ({ type: 'Utilization', averageUtilization });
const value = (v) => ({ type: 'Value', value: v });
const averageValue = (v) => ({ type: 'AverageValue', averageValue: v });
const metrics = {
  resource: { type: 'Resource', resource: { name: 'memory', target: averageValue('100Mi') } },
  container: { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target: utilization(60) } },
  pods: { type: 'Pods', pods: { metric: { name: 'rps', selector: { matchLabels: { a: 'b' } } }, target: averageValue('1k') } },
  object: { type: 'Object', object: { describedObject: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'i' }, metric: { name: 'hits' }, target: value('2500m') } },
  external: { type: 'External', external: { metric: { name: 'queue', selector: { matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] } }, target: averageValue(30) } },
};
const cpu = { type: 'Resource', resource: { name: 'cpu', target: utilization(70) } };
const behavior = {
  scaleUp: { stabilizationWindowSeconds: 60, selectPolicy: 'Min', policies: [{ type: 'Pods', value: 4, periodSeconds: 30 }, { type: 'Percent', value: 50, periodSeconds: 1800 }] },
  scaleDown: { selectPolicy: 'Disabled', stabilizationWindowSeconds: 3600 },
};
const selector = { matchLabels: { s: 't' } };
/** Metrics with the rarer of their values, and a status with every kind of metric. */
const rare = [
  { type: 'Object', object: { describedObject: { kind: 'Node', name: 'n' }, metric: { name: 'm', selector }, target: { type: 'AverageValue', averageValue: '7', averageUtilization: 3 } } },
  { type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '9', averageUtilization: 3 } } },
  { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1', value: '2', averageUtilization: 3 } } },
  { type: 'ContainerResource', containerResource: { name: 'memory', container: 'c', target: { type: 'AverageValue', averageValue: '1Gi', value: '2Gi' } } },
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '250m', value: '1' } } },
];
const current = { value: '1', averageValue: '2', averageUtilization: 3 };
const everyStatus = [
  { type: 'Object', object: { describedObject: { kind: 'Node', name: 'n', apiVersion: 'v1' }, metric: { name: 'm', selector }, current } }, { type: 'Pods', pods: { metric: { name: 'm', selector }, current } }, { type: 'Resource', resource: { name: 'cpu', current } },
  { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', current } }, { type: 'External', external: { metric: { name: 'm', selector }, current } },
];
const metric = (m) => ({ 'spec.metrics': [m] });
const resource = (o) => metric({ type: 'Resource', resource: { name: 'cpu', target: utilization(50), ...o } });
const up = (scaleUp) => ({ 'spec.behavior': { scaleUp } });

const statusV2 = {
  observedGeneration: 1, lastScaleTime: '2020-01-01T00:00:00Z', currentReplicas: 1, desiredReplicas: 2,
  currentMetrics: [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 10, averageValue: '100m' } } }, { type: 'Resource', resource: { name: 'memory', current: { averageValue: '1Mi' } } },
    { type: 'External', external: { metric: { name: 'queue' }, current: { value: '5' } } },
  ],
  conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z', reason: 'R', message: 'm' }],
};

export default [
  ...v2.creates({
    minimal: {},
    maximal: { spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 9, metrics: [cpu, ...Object.values(metrics)], behavior } },
    'cpu-only': { 'spec.metrics': [cpu] },
    'cpu-not-first': { 'spec.metrics': [metrics.resource, cpu] },
    'two-cpu-metrics': { 'spec.metrics': [cpu, { ...cpu, resource: { ...cpu.resource, target: utilization(20) } }] },
    'no-cpu': { 'spec.metrics': [metrics.resource] },
    'rare-values': { 'spec.metrics': rare },
    'empty-behavior': { 'spec.behavior': {} },
    'half-a-behavior': { 'spec.behavior': { scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } } },
    'tolerance-dropped': { 'spec.behavior': { scaleUp: { tolerance: '0.1' } } },
    'annotations-of-v1': { 'metadata.annotations': { 'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"Pods"}]', 'autoscaling.alpha.kubernetes.io/behavior': '{}', other: 'kept' } },
  }, { readBack: [asV1, asV2], section: '9.1' }),
  ...v1.creates({
    minimal: {},
    cpu: { 'spec.targetCPUUtilizationPercentage': 55, 'spec.minReplicas': 2 },
    'other-metrics-in-annotation': { 'spec.targetCPUUtilizationPercentage': 55, 'metadata.annotations': { 'autoscaling.alpha.kubernetes.io/metrics': JSON.stringify([{ type: 'Pods', pods: { metricName: 'rps', targetAverageValue: '1k' } }, { type: 'Resource', resource: { name: 'memory', targetAverageValue: '5Mi' } }]) } },
    'behavior-in-annotation': { 'metadata.annotations': { 'autoscaling.alpha.kubernetes.io/behavior': JSON.stringify({ ScaleUp: { StabilizationWindowSeconds: 5, SelectPolicy: 'Max', Policies: [{ Type: 'Pods', Value: 1, PeriodSeconds: 15 }] } }), other: 'kept' } },
    'broken-annotation': { 'metadata.annotations': { 'autoscaling.alpha.kubernetes.io/metrics': '[not json', 'autoscaling.alpha.kubernetes.io/conditions': '{}' } },
  }, { readBack: [asV2, asV1], section: '9.1' }),
  scenario('hpa-status-across-versions', { section: '9.1', about: 'HorizontalPodAutoscaler: metrics and conditions of the status are annotations in v1' }, [
    POST(v2.list, v2.object({ 'spec.metrics': [cpu, metrics.external] }), { compare: 'status' }),
    PATCH(`${asV2}/status`, 'merge', { status: statusV2 }),
    GET(asV1), GET(`${asV1}/status`),
    PATCH(`${asV1}/status`, 'merge', { status: { currentReplicas: 5, currentCPUUtilizationPercentage: 33 } }),
    GET(asV2),
  ]),
  scenario('hpa-status-of-every-metric', { section: '9.1', about: 'HorizontalPodAutoscaler: every kind of current metric, in both versions' }, [
    POST(v2.list, v2.object({ 'spec.metrics': rare }), { compare: 'status' }),
    PATCH(`${asV2}/status`, 'merge', { status: { currentMetrics: everyStatus, desiredReplicas: 1 } }),
    GET(asV1),
  ]),
  scenario('hpa-v1-update-keeps-metrics', { section: '9.1', about: 'HorizontalPodAutoscaler: a v1 write that keeps the annotations keeps the v2 fields, one that drops them loses them' }, [
    POST(v2.list, v2.object({ 'spec.metrics': [cpu, metrics.resource], 'spec.behavior': behavior }), { compare: 'status' }),
    PATCH(asV1, 'merge', { spec: { maxReplicas: 8, targetCPUUtilizationPercentage: 44 } }),
    GET(asV2),
    PUT(asV1, v1.object({ 'spec.minReplicas': 2 })),
    GET(asV2),
  ]),
  ...v2.accepts({
    'min-replicas': [{ 'spec.minReplicas': 3 }],
    behavior: [{ 'spec.behavior': { scaleUp: { stabilizationWindowSeconds: 0 }, scaleDown: { stabilizationWindowSeconds: 0, selectPolicy: 'Max' } } }],
    'resource-name': resource({ name: 'example.com/anything' }),
    'object-with-both-values': metric({ type: 'Object', object: { ...metrics.object.object, target: { type: 'Value', value: '1', averageValue: '2' } } }),
    'target-type-not-matching': resource({ target: { type: 'Value', averageUtilization: 5 } }),
  }),
  ...v2.refuses({
    name: { 'metadata.name': 'A' },
    'min-replicas': [{ 'spec.minReplicas': 0 }, { 'spec.minReplicas': -1 }, { 'spec.minReplicas': 4 }, { 'spec.minReplicas': 0, 'spec.metrics': [metrics.external] }],
    'max-replicas': [{ 'spec.maxReplicas': 0 }, { 'spec.maxReplicas': undefined }, { 'spec.maxReplicas': -2 }],
    'scale-target': [{ 'spec.scaleTargetRef': {} }, { 'spec.scaleTargetRef': { kind: 'a/b', name: 'c%d' } }, { 'spec.scaleTargetRef': { kind: '..', name: '.' } }, { 'spec.scaleTargetRef': undefined }],
    'metric-type': [metric({}), metric({ type: 'Other' }), metric({ type: 'Pods' }), metric({ type: 'Object' }), metric({ type: 'Resource' }), metric({ type: 'External' }), metric({ type: 'ContainerResource' })],
    'metric-source': [metric({ ...cpu, type: 'Pods' }), metric({ ...cpu, pods: metrics.pods.pods })],
    'metric-target': [resource({ target: {} }), resource({ target: { type: 'Half', averageUtilization: 5 } }), resource({ target: utilization(0) }), resource({ target: averageValue('0') }), resource({ target: { type: 'Utilization', averageUtilization: 5, averageValue: '5' } }), resource({ target: { type: 'Value', value: '-1', averageUtilization: 1 } })],
    'metric-resource': [resource({ name: '' }), resource({ name: undefined })],
    'metric-container': ['', 'C'].map((container) => metric({ type: 'ContainerResource', containerResource: { ...metrics.container.containerResource, container } })).concat([metric({ type: 'ContainerResource', containerResource: { container: 'c', target: utilization(1) } }), metric({ type: 'ContainerResource', containerResource: { name: 'bad', container: 'c', target: utilization(1) } }), metric({ type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target: value('1') } }), metric({ type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 1, averageValue: '1' } } })]),
    'metric-pods': [metric({ type: 'Pods', pods: { metric: {}, target: value('1') } }), metric({ type: 'Pods', pods: { metric: { name: 'a/b' }, target: averageValue('1') } })],
    'metric-object': [metric({ type: 'Object', object: { describedObject: {}, metric: { name: 'm' }, target: { type: 'Value' } } }), metric({ type: 'Object', object: {} })],
    'metric-external': [metric({ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value' } } }), metric({ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '1', averageValue: '1' } } })],
    'stabilization-window': [up({ stabilizationWindowSeconds: -1 }), up({ stabilizationWindowSeconds: 3601 })],
    'select-policy': [up({ selectPolicy: 'Best' }), up({ selectPolicy: '' })],
    'scaling-policies': [up({ policies: [] }), up({ policies: [{}] }), up({ policies: [{ type: 'Pods', value: 0, periodSeconds: 0 }] }), up({ policies: [{ type: 'Nodes', value: 1, periodSeconds: 1801 }] }), { 'spec.behavior': { scaleDown: { policies: [{ type: 'Pods', value: -1, periodSeconds: -1 }] } } }],
  }),
  ...v1.refuses({
    'min-and-max': [{ 'spec.minReplicas': 0 }, { 'spec.maxReplicas': 0 }],
    'target-cpu': [{ 'spec.targetCPUUtilizationPercentage': 0 }, { 'spec.targetCPUUtilizationPercentage': -1 }],
    'scale-target': { 'spec.scaleTargetRef': undefined },
    'metric-annotation': { 'metadata.annotations': { 'autoscaling.alpha.kubernetes.io/metrics': JSON.stringify([{ type: 'Pods' }]) } },
  }),
  ...v2.updates({
    any: [{ spec: { scaleTargetRef: { name: 'other' }, minReplicas: null, metrics: null } }, { spec: { maxReplicas: 0 } }, { spec: { behavior: null } }, { spec: { minReplicas: 0 } }],
  }, { from: { 'spec.minReplicas': 2, 'spec.behavior': {} } }),
  ...v2.statuses({ counts: [statusV2, { currentReplicas: -1, desiredReplicas: -1 }, { currentMetrics: null }] }),
  ...v2.puts(),
  ...v1.puts(),
  ...v2.strategy({ status: { currentReplicas: 1, desiredReplicas: 1, currentMetrics: null }, spec: { spec: { minReplicas: 2 } } }),
];
