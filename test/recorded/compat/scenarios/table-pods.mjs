// What a Pod's row says of its containers: Ready, Status, Restarts, and the wide columns.
import { scenario, GET, POST, PATCH, DELETE } from '../steps.ts';
import { TABLE, accept, cells } from './kit/shapes.mjs';

const pods = '/api/v1/namespaces/$ns/pods';
const past = '2020-01-01T00:00:00Z';
const container = (name) => ({ name, image: `${name}:1` });
const pod = (spec = {}, metadata = {}) => ({ metadata: { name: 'p', ...metadata }, spec: { containers: [container('a')], ...spec } });
const two = { containers: [container('a'), container('b')] };
const init = { initContainers: [container('i'), container('j')] };
const sidecar = { initContainers: [{ ...container('s'), restartPolicy: 'Always' }] };

const state = {
  running: { running: { startedAt: past } }, waiting: (reason) => ({ waiting: reason ? { reason } : {} }),
  terminated: (exitCode, reason, signal) => ({ terminated: { exitCode, ...(reason ? { reason } : {}), ...(signal ? { signal } : {}), startedAt: past, finishedAt: past } }),
};
const status = (name, s, o = {}) => ({ name, image: `${name}:1`, imageID: '', ready: false, restartCount: 0, state: s, ...o });
const ready = (name, o = {}) => status(name, state.running, { ready: true, started: true, ...o });
const condition = (type, value, reason) => ({ type, status: value, ...(reason ? { reason } : {}) });
const restarted = (n) => ({ restartCount: n, lastState: state.terminated(1, 'Error') });

const row = (id, about, spec, podStatus, { metadata, before = [], after = [] } = {}) => scenario(`table-pod-${id}`, { section: '2.6', about }, [
  POST(pods, pod(spec, metadata), { compare: 'status' }), ...before, ...(podStatus ? [PATCH(`${pods}/p/status`, 'merge', { status: podStatus }, { compare: 'status' })] : []), ...after, GET(`${pods}?includeObject=None`, { ...accept(TABLE), pick: cells }),
]);

const phases = [
  row('new', 'A Pod nobody has touched', {}),
  row('unknown-phase', 'A Pod whose phase is Unknown', {}, { phase: 'Unknown' }),
  row('running', 'One container ready', {}, { phase: 'Running', containerStatuses: [ready('a')] }),
  row('running-partly', 'One of two containers ready', two, { phase: 'Running', containerStatuses: [ready('a'), status('b', state.running)] }),
  row('running-without-statuses', 'Running without container statuses', two, { phase: 'Running' }),
  row('ready-but-not-running', 'A container is counted as ready only while it runs', {}, { phase: 'Running', containerStatuses: [status('a', {}, { ready: true })] }),
  row('succeeded', 'A finished Pod has a row condition', {}, { phase: 'Succeeded', containerStatuses: [status('a', state.terminated(0, 'Completed'))] }),
  row('failed', 'A failed Pod has a row condition', {}, { phase: 'Failed', containerStatuses: [status('a', state.terminated(1, 'Error'))] }),
  row('failed-bare', 'A failed Pod without statuses', {}, { phase: 'Failed' }),
  row('evicted', 'The reason of the Pod stands for its phase', {}, { phase: 'Failed', reason: 'Evicted', message: 'low on memory' }),
  row('reason-while-running', 'Containers override the reason of the Pod only when they have one', {}, { phase: 'Running', reason: 'NodeAffinity', containerStatuses: [ready('a')] }),
  row('scheduling-gated', 'A gated Pod says so', { schedulingGates: [{ name: 'example.com/g' }] }),
  row('scheduling-gated-condition', 'The condition alone counts, over the reason', {}, { phase: 'Pending', reason: 'Other', conditions: [condition('PodScheduled', 'False', 'SchedulingGated')] }),
  row('unschedulable', 'An unschedulable Pod is merely pending', {}, { conditions: [condition('PodScheduled', 'False', 'Unschedulable')] }),
];
const containers = [
  row('creating', 'A waiting container gives its reason', {}, { phase: 'Pending', containerStatuses: [status('a', state.waiting('ContainerCreating'))] }),
  row('crash-loop', 'A container in back-off', {}, { phase: 'Running', containerStatuses: [status('a', state.waiting('CrashLoopBackOff'), restarted(5))] }),
  row('waiting-without-reason', 'Waiting without a reason says nothing', {}, { phase: 'Pending', containerStatuses: [status('a', state.waiting())] }),
  row('first-container-wins', 'Of several reasons the first container\'s is shown', two, { phase: 'Pending', containerStatuses: [status('a', state.waiting('ErrImagePull')), status('b', state.waiting('ContainerCreating'))] }),
  row('second-container-only', 'A reason of the second container is shown if the first has none', two, { phase: 'Running', containerStatuses: [ready('a'), status('b', state.waiting('CrashLoopBackOff'))] }),
  row('terminated-reason', 'The reason of a terminated container', { restartPolicy: 'Never' }, { phase: 'Running', containerStatuses: [status('a', state.terminated(137, 'OOMKilled'))] }),
  row('terminated-exit-code', 'An exit code without a reason', { restartPolicy: 'Never' }, { phase: 'Failed', containerStatuses: [status('a', state.terminated(3))] }),
  row('terminated-signal', 'A signal without a reason', { restartPolicy: 'Never' }, { phase: 'Failed', containerStatuses: [status('a', state.terminated(137, '', 9))] }),
  row('terminated-zero', 'Exit code zero without a reason', { restartPolicy: 'Never' }, { phase: 'Succeeded', containerStatuses: [status('a', state.terminated(0))] }),
  row('completed-and-running-ready', 'One completed, one running, the Pod ready', { ...two, restartPolicy: 'Never' }, { phase: 'Running', conditions: [condition('Ready', 'True')], containerStatuses: [status('a', state.terminated(0, 'Completed')), ready('b')] }),
  row('completed-and-running-not-ready', 'One completed, one running, the Pod not ready', { ...two, restartPolicy: 'Never' }, { phase: 'Running', conditions: [condition('Ready', 'False')], containerStatuses: [status('a', state.terminated(0, 'Completed')), ready('b')] }),
  row('completed-second', 'Completed is shown although the first container still runs', { ...two, restartPolicy: 'Never' }, { phase: 'Running', containerStatuses: [status('a', state.running), status('b', state.terminated(0, 'Completed'))] }),
];
const restarts = [
  row('restarts', 'Restarts add up, with the time of the last', two, { phase: 'Running', containerStatuses: [ready('a', restarted(2)), ready('b', restarted(3))] }),
  row('restarts-without-date', 'Restarts without a known end', {}, { phase: 'Running', containerStatuses: [ready('a', { restartCount: 4 })] }),
  row('restarts-date-without-count', 'An end without a count is not shown', {}, { phase: 'Running', containerStatuses: [ready('a', { restartCount: 0, lastState: state.terminated(1, 'Error') })] }),
  row('restarts-of-init', 'Init containers count while initialising', init, { phase: 'Pending', initContainerStatuses: [status('i', state.waiting('CrashLoopBackOff'), restarted(7))], containerStatuses: [status('a', state.waiting('PodInitializing'))] }),
  row('restarts-of-finished-init', 'Init containers no longer count once done', { initContainers: [container('i')] }, { phase: 'Running', initContainerStatuses: [status('i', state.terminated(0, 'Completed'), restarted(7))], containerStatuses: [ready('a', restarted(1))] }),
  row('restarts-of-sidecar', 'Sidecars always count', sidecar, { phase: 'Running', initContainerStatuses: [ready('s', restarted(2))], containerStatuses: [ready('a', { restartCount: 1 })] }),
];
const initialising = [
  row('init-without-statuses', 'Init containers without statuses', init, { phase: 'Pending' }),
  row('init-waiting', 'Before the first init container', init, { phase: 'Pending', initContainerStatuses: [status('i', state.waiting('PodInitializing')), status('j', state.waiting('PodInitializing'))] }),
  row('init-running', 'The first init container runs', init, { phase: 'Pending', initContainerStatuses: [status('i', state.running), status('j', state.waiting('PodInitializing'))] }),
  row('init-second', 'The second init container runs', init, { phase: 'Pending', initContainerStatuses: [status('i', state.terminated(0, 'Completed')), status('j', state.running)] }),
  row('init-back-off', 'An init container in back-off', init, { phase: 'Pending', initContainerStatuses: [status('i', state.waiting('CrashLoopBackOff'), { restartCount: 1 })] }),
  row('init-failed-reason', 'An init container failed with a reason', init, { phase: 'Pending', initContainerStatuses: [status('i', state.terminated(1, 'Error'))] }),
  row('init-failed-exit-code', 'An init container failed with an exit code', { ...init, restartPolicy: 'Never' }, { phase: 'Failed', initContainerStatuses: [status('i', state.terminated(3))] }),
  row('init-failed-signal', 'An init container was killed', { ...init, restartPolicy: 'Never' }, { phase: 'Failed', initContainerStatuses: [status('i', state.terminated(137, '', 9))] }),
  row('init-done', 'All init containers done, the container waits', init, { phase: 'Pending', initContainerStatuses: [status('i', state.terminated(0, 'Completed')), status('j', state.terminated(0, 'Completed'))], containerStatuses: [status('a', state.waiting('ContainerCreating'))] }),
  row('init-condition', 'With Initialized the containers count as ready, but the init reason stays', init, { phase: 'Running', conditions: [condition('Initialized', 'True')], initContainerStatuses: [status('i', state.running)], containerStatuses: [ready('a')] }),
  row('init-condition-reason', 'With Initialized the containers\' reason replaces the init one', init, { phase: 'Running', conditions: [condition('Initialized', 'True')], initContainerStatuses: [status('i', state.running)], containerStatuses: [status('a', state.waiting('CrashLoopBackOff'))] }),
];
const sidecars = [
  row('sidecar-ready', 'A started and ready sidecar counts among the containers', sidecar, { phase: 'Running', initContainerStatuses: [ready('s')], containerStatuses: [ready('a')] }),
  row('sidecar-not-ready', 'A started sidecar that is not ready', sidecar, { phase: 'Running', initContainerStatuses: [ready('s', { ready: false })], containerStatuses: [ready('a')] }),
  row('sidecar-not-started', 'A sidecar that has not started holds the Pod', sidecar, { phase: 'Pending', initContainerStatuses: [status('s', state.running, { started: false })] }),
  row('sidecar-back-off', 'A sidecar in back-off before it started', sidecar, { phase: 'Pending', initContainerStatuses: [status('s', state.waiting('CrashLoopBackOff'), { started: false, restartCount: 2 })] }),
  row('sidecar-without-status', 'A sidecar without a status still counts', sidecar, { phase: 'Running', containerStatuses: [ready('a')] }),
  row('sidecar-between', 'A sidecar between two init containers', { initContainers: [container('i'), { ...container('s'), restartPolicy: 'Always' }, container('j')] }, { phase: 'Pending', initContainerStatuses: [status('i', state.terminated(0, 'Completed')), ready('s'), status('j', state.running)] }),
];
const finalizer = { metadata: { finalizers: ['example.com/f'] } };
const remove = [DELETE(`${pods}/p`, undefined, { query: { gracePeriodSeconds: '0' }, compare: 'status' })];
const ending = [
  row('terminating', 'A deleted Pod terminates', {}, { phase: 'Running', containerStatuses: [ready('a')] }, { ...finalizer, after: remove }),
  row('terminating-pending', 'A deleted Pod that never ran', {}, undefined, { ...finalizer, after: remove }),
  row('terminating-crash-loop', 'Terminating hides the containers\' reasons', {}, { phase: 'Running', containerStatuses: [status('a', state.waiting('CrashLoopBackOff'))] }, { ...finalizer, after: remove }),
  row('terminating-succeeded', 'A finished Pod keeps its status when deleted', {}, { phase: 'Succeeded', containerStatuses: [status('a', state.terminated(0, 'Completed'))] }, { ...finalizer, after: remove }),
  row('terminating-failed', 'A failed Pod keeps its status when deleted', {}, { phase: 'Failed', reason: 'Evicted' }, { ...finalizer, after: remove }),
  row('terminating-lost-node', 'A deleted Pod of a lost node is Unknown', {}, { phase: 'Running', reason: 'NodeLost' }, { ...finalizer, after: remove }),
  row('lost-node', 'A Pod of a lost node that is not deleted', {}, { phase: 'Running', reason: 'NodeLost' }),
  row('terminating-graceful', 'A Pod on a node waits out its grace period', { nodeName: 'none-such', terminationGracePeriodSeconds: 30 }, { phase: 'Running' }, { after: [DELETE(`${pods}/p`, undefined, { compare: 'status' })] }),
];
const wide = [
  row('wide', 'Address, node, nominated node and readiness gates', { nodeName: 'none-such', readinessGates: [{ conditionType: 'example.com/x' }, { conditionType: 'example.com/y' }] }, { phase: 'Running', podIP: '10.1.2.3', podIPs: [{ ip: '10.1.2.3' }, { ip: 'fd00::1' }], nominatedNodeName: 'other', conditions: [condition('example.com/x', 'True'), condition('example.com/y', 'False')] }),
  row('wide-only-pod-ip', 'podIP without podIPs', {}, { phase: 'Running', podIP: '10.1.2.4' }),
  row('wide-gates-unset', 'Readiness gates without conditions', { readinessGates: [{ conditionType: 'example.com/x' }] }, { phase: 'Running' }),
];
const several = [
  scenario('table-pod-list-order', { section: '2.6', about: 'Rows stand in the order of the list, conditions only where they apply' }, [...['b', 'a', 'c'].map((name) => POST(pods, pod({}, { name }), { compare: 'status' })), PATCH(`${pods}/b/status`, 'merge', { status: { phase: 'Succeeded' } }, { compare: 'status' }), GET(`${pods}?includeObject=None`, { ...accept(TABLE), pick: cells })]),
];

export default [...phases, ...containers, ...restarts, ...initialising, ...sidecars, ...ending, ...wide, ...several];
