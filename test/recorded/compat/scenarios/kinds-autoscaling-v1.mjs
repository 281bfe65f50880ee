// autoscaling/v1: half of the spec and half of the status stand in annotations. What a write may not change is nevertheless kept: the status
// by a write of the object, the spec by a write of the status.
import { scenario, GET, POST, PUT, PATCH, APPLY } from '../steps.ts';

const list = (version) => `/apis/autoscaling/${version}/namespaces/$ns/horizontalpodautoscalers`;
const item = (version) => `${list(version)}/h`;
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const hpa = (version, rest = {}, metadata = {}) => ({ apiVersion: `autoscaling/${version}`, kind: 'HorizontalPodAutoscaler', metadata: { name: 'h', ...metadata }, spec: { scaleTargetRef, maxReplicas: 3 }, ...rest });
const memory = { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '5Mi' } } };
const behavior = { scaleDown: { stabilizationWindowSeconds: 7, policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } };
const status = {
  currentReplicas: 1, desiredReplicas: 2,
  currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 10, averageValue: '100m' } } }],
  conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z', reason: 'R', message: 'm' }],
};
const conditions = { 'autoscaling.alpha.kubernetes.io/conditions': '[{"type":"AbleToScale","status":"True"}]' };
const currentMetrics = { 'autoscaling.alpha.kubernetes.io/current-metrics': '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":4,"currentAverageValue":"4m"}}]' };
const metrics = { 'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"9Mi"}}]' };
const full = [
  POST(list('v2'), hpa('v2', { spec: { scaleTargetRef, maxReplicas: 3, metrics: [memory], behavior } }), { compare: 'status' }),
  PATCH(`${item('v2')}/status`, 'merge', { status }, { compare: 'status' }),
];
const both = [GET(item('v2')), GET(item('v1'))];
const told = (id, about, first, steps) => scenario(`hpa-v1-keeps-${id}`, { section: '9.1', about: `HorizontalPodAutoscaler in v1: ${about}` }, [...first, ...steps.flatMap((step) => [step, ...both])]);

export default [
  told('status-of-create', 'a create sets no status, neither by a field', [], [POST(list('v1'), hpa('v1', { status: { currentReplicas: 4, currentCPUUtilizationPercentage: 5 } }))]),
  told('status-of-create-annotated', 'nor by annotations', [], [POST(list('v1'), hpa('v1', {}, { annotations: { ...conditions, ...currentMetrics, other: 'kept' } }))]),
  told('status-of-put', 'a PUT of the plain manifest keeps the status', full, [PUT(item('v1'), hpa('v1', { spec: { scaleTargetRef, maxReplicas: 8 } }))]),
  told('status-of-put-annotated', 'a PUT with other annotations keeps the status', full, [PUT(item('v1'), hpa('v1', { status: { currentReplicas: 4, currentCPUUtilizationPercentage: 5 } }, { annotations: { ...conditions, ...currentMetrics, other: 'kept' } }))]),
  told('status-of-patch', 'so does a patch that removes or changes the annotations', full, [
    PATCH(item('v1'), 'merge', { metadata: { annotations: { 'autoscaling.alpha.kubernetes.io/conditions': null, 'autoscaling.alpha.kubernetes.io/current-metrics': null } } }),
    PATCH(item('v1'), 'merge', { metadata: { annotations: { ...conditions, ...currentMetrics, other: 'kept' } }, status: { currentReplicas: 9 } }),
    PATCH(item('v1'), 'merge', { metadata: { annotations: null } }),
  ]),
  told('spec-of-status-put', 'a PUT of the status without annotations keeps the spec', full, [PUT(`${item('v1')}/status`, hpa('v1', { status: { currentReplicas: 5, desiredReplicas: 6, currentCPUUtilizationPercentage: 7 } }))]),
  told('spec-of-status-put-annotated', 'nor does one with other annotations change it', full, [PUT(`${item('v1')}/status`, hpa('v1', { spec: { scaleTargetRef, maxReplicas: 9, targetCPUUtilizationPercentage: 9 }, status: { currentReplicas: 5, desiredReplicas: 6 } }, { annotations: { ...metrics, ...conditions, other: 'kept' }, labels: { a: 'b' } }))]),
  told('spec-of-status-patch', 'nor a patch of the status', full, [
    PATCH(`${item('v1')}/status`, 'merge', { metadata: { annotations: { ...metrics, ...conditions, 'autoscaling.alpha.kubernetes.io/behavior': null } }, status: { currentReplicas: 5 } }),
    PATCH(`${item('v1')}/status`, 'merge', { metadata: { annotations: null } }),
  ]),
  told('both-of-apply', 'an apply of the object keeps the status, one of the status keeps the spec', full, [
    APPLY(item('v1'), 'm', hpa('v1', { spec: { scaleTargetRef, maxReplicas: 4, targetCPUUtilizationPercentage: 9 } }), { force: true }),
    APPLY(`${item('v1')}/status`, 'n', { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, status: { currentReplicas: 7, desiredReplicas: 8 } }, { force: true }),
  ]),
];
