// Pods: the status subresource.
import { scenario, GET, POST, PATCH, PUT } from '../steps.ts';
import { inNs, pod, patched } from './kit/kinds-core.mjs';

const at = inNs('pods');
const shown = (b) => ({ generation: b.metadata.generation, labels: b.metadata.labels ?? null, owners: b.metadata.ownerReferences ?? null, spec: { nodeName: b.spec.nodeName ?? null, hostNetwork: b.spec.hostNetwork ?? null }, status: b.status });
const status = (id, about, base, rows) => patched(`core-pod-status-${id}`, { about, at, base, sub: 'status', shown }, rows.map(([note, s, more]) => [note, { status: s, ...more }]));
const terminated = (exitCode) => ({ terminated: { exitCode, reason: 'Done', message: 'm', signal: 1, startedAt: '2001-02-03T04:05:06Z', finishedAt: '2001-02-03T04:05:07Z', containerID: 'x://1' } });
const container = (state, more) => ({ containerStatuses: [{ name: 'c', image: 'b', imageID: 'i', ready: false, restartCount: 1, state, ...more }] });
const transition = (id, about, base, first, second) => scenario(`core-pod-transition-${id}`, { section: '7', about }, [POST(at, base, { compare: 'status' }), PATCH(inNs('pods', 'p/status'), 'merge', { status: first }, { compare: 'status' }), PATCH(inNs('pods', 'p/status'), 'merge', { status: second }, { pick: (b) => (b.kind === 'Status' ? b : b.status) })]);

export default [
  scenario('core-pod-status-maximal', { section: '2', about: 'a status that touches every field; requests to change the spec are ignored' }, [
    POST(at, pod({ initContainers: [{ name: 'i', image: 'b' }], containers: [{ name: 'c', image: 'b', resources: { requests: { cpu: '1', 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '1' } } }] }), { compare: 'status' }),
    PATCH(inNs('pods', 'p/status'), 'merge', {
      metadata: { labels: { from: 'status' }, annotations: { a: 'b' } }, spec: { hostNetwork: true, nodeName: 'ignored' },
      status: {
        observedGeneration: 1, phase: 'Running', message: 'm', reason: 'r', nominatedNodeName: 'n', hostIP: '10.1.1.1', hostIPs: [{ ip: '10.1.1.1' }, { ip: '2001:db8::1' }], podIP: '10.2.2.2', podIPs: [{ ip: '10.2.2.2' }, { ip: '2001:db8::2' }], startTime: '2001-02-03T04:05:06Z', resize: 'InProgress',
        conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: '2001-02-03T04:05:06Z', reason: 'r', message: 'm', observedGeneration: 1 }, { type: 'example.com/own', status: 'Unknown' }],
        initContainerStatuses: [{ name: 'i', state: terminated(0), lastState: { waiting: { reason: 'w', message: 'm' } }, ready: true, restartCount: 0, image: 'b', imageID: 'x', containerID: 'y', started: false }],
        containerStatuses: [{ name: 'c', state: { running: { startedAt: '2001-02-03T04:05:06Z' } }, lastState: terminated(1), ready: true, restartCount: 3, image: 'b', imageID: 'x', containerID: 'y', started: true, allocatedResources: { cpu: '1' }, resources: { requests: { cpu: '1' }, limits: { cpu: '2' } }, volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true, recursiveReadOnly: 'Disabled' }], user: { linux: { uid: 1, gid: 2, supplementalGroups: [3] } }, allocatedResourcesStatus: [{ name: 'example.com/gpu', resources: [{ resourceID: 'g1', health: 'Healthy' }] }], stopSignal: 'SIGTERM' }],
        ephemeralContainerStatuses: [{ name: 'e', state: { waiting: {} }, ready: false, restartCount: 0, image: 'b', imageID: '' }],
      },
    }),
    GET(inNs('pods', 'p/status')),
  ]),
  ...status('merge', 'small changes of the status, and what the server keeps', pod(), [
    ['podIP fills podIPs', { podIP: '10.2.2.2' }], ['podIP wins over podIPs', { podIP: '10.9.9.9', podIPs: [{ ip: '10.3.3.3' }] }], ['no addresses', { podIP: null, podIPs: null }], ['qosClass emptied', { qosClass: '' }], ['phase unknown to the API', { phase: 'Dreaming' }], ['phase emptied', { phase: '' }],
    ['owner references are kept', {}, { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' }] } }],
  ]),
  ...status('gated', 'fields of a status behind a feature that is off are dropped, without being checked', pod(), [
    ['observedGeneration', { observedGeneration: 1 }], ['observedGeneration negative', { observedGeneration: -1 }], ['observedGeneration of a condition', { conditions: [{ type: 'A', status: 'True', observedGeneration: -1 }] }], ['allocatedResourcesStatus', container({ waiting: {} }, { allocatedResourcesStatus: [{ name: 'example.com/gpu', resources: [{ resourceID: 'a', health: 'Fine' }] }] })], ['resourceClaimStatuses', { resourceClaimStatuses: [{ name: 'x' }] }],
  ]),
  ...status('invalid', 'statuses that are refused', pod(), [
    ['qosClass', { qosClass: 'Guaranteed' }], ['condition type', { conditions: [{ type: 'a b', status: 'True' }] }], ['nominatedNodeName', { nominatedNodeName: 'A_b' }], ['podIP', { podIP: 'x' }], ['podIPs of one family', { podIPs: [{ ip: '10.1.1.1' }, { ip: '10.1.1.2' }] }], ['three podIPs', { podIPs: [{ ip: '10.1.1.1' }, { ip: '2001:db8::1' }, { ip: '10.1.1.2' }] }],
    ['hostIPs without hostIP', { hostIPs: [{ ip: '10.1.1.1' }] }], ['hostIPs unlike hostIP', { hostIP: '10.1.1.2', hostIPs: [{ ip: '10.1.1.1' }] }], ['hostIPs not an address', { hostIP: 'x', hostIPs: [{ ip: 'x' }] }], ['user', container({ waiting: {} }, { user: { linux: { uid: -1, gid: -1, supplementalGroups: [-1] } } })],
  ]),
  transition('always', 'with restartPolicy Always a terminated container may run again', pod(), container(terminated(0)), container({ running: {} })),
  transition('never', 'with restartPolicy Never it may not', pod({ restartPolicy: 'Never' }), container(terminated(1)), container({ running: {} })),
  transition('on-failure-failed', 'with OnFailure a failed container may run again', pod({ restartPolicy: 'OnFailure' }), container(terminated(1)), container({ running: {} })),
  transition('on-failure-done', 'with OnFailure a container that succeeded may not', pod({ restartPolicy: 'OnFailure' }), container(terminated(0)), container({ waiting: {} })),
  transition('gone', 'a terminated container may vanish from the status', pod({ restartPolicy: 'Never' }), container(terminated(0)), { containerStatuses: [] }),
  transition('init', 'a finished init container may not run again with restartPolicy Never', pod({ restartPolicy: 'Never', initContainers: [{ name: 'c', image: 'b' }], containers: [{ name: 'd', image: 'b' }] }), { initContainerStatuses: container(terminated(0)).containerStatuses }, { initContainerStatuses: container({ running: {} }).containerStatuses }),
  transition('sidecar', 'a sidecar may', pod({ restartPolicy: 'Never', initContainers: [{ name: 'c', image: 'b', restartPolicy: 'Always' }], containers: [{ name: 'd', image: 'b' }] }), { initContainerStatuses: container(terminated(0)).containerStatuses }, { initContainerStatuses: container({ running: {} }).containerStatuses }),
  transition('ephemeral', 'an ephemeral container never runs again', pod(), { ephemeralContainerStatuses: container(terminated(0)).containerStatuses }, { ephemeralContainerStatuses: container({ running: {} }).containerStatuses }),
  scenario('core-pod-status-state-default', { section: '2', about: 'a container status without a state' }, [POST(at, pod(), { compare: 'status' }), PATCH(inNs('pods', 'p/status'), 'merge', { status: { containerStatuses: [{ name: 'c', image: 'b', imageID: '', ready: false, restartCount: 0 }] } }, { pick: (b) => b.status })]),
  scenario('core-pod-status-put', { section: '4.7', about: 'PUT of a status with another spec keeps the stored spec' }, [POST(at, pod(), { compare: 'status' }), PUT(inNs('pods', 'p/status'), { ...pod({ containers: [{ name: 'z', image: 'z' }] }), status: { phase: 'Failed', reason: 'Evicted' } }, { pick: (b) => (b.kind === 'Status' ? b : { spec: b.spec.containers, status: b.status }) })]),
];
