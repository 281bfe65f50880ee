// Which plugins and steps of admission are counted for which operations, whatever the resource. One scenario, since all share the counters of a server.
import { scenario, GET, POST, PATCH, DELETE, SLEEP } from '../steps.ts';
import { CM, PODS, cm, pod, quiet } from './kit/admission.mjs';

/** The label sets of a metric's counts, in one order. */
const series = (name) => ({ text: true, pick: (text) => [...`${text}`.matchAll(new RegExp(`^apiserver_admission_${name}_count\\{([^}]*)\\}`, 'gm'))].map(([, labels]) => labels).sort() });
const lines = (name) => ({ text: true, pick: (text) => [...new Set([...`${text}`.matchAll(new RegExp(`^apiserver_admission_${name}[^{]*\\{operation="CREATE",rejected="false",type="admit"[^}]*\\}`, 'gm'))].map(([line]) => line))].sort() });

export default [
  scenario('plugins-metrics', { section: '7', about: 'metrics of admission: which plugins are counted for an operation', needs: 'plugins-metrics' }, [
    POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', { data: { x: 'y' } }, quiet), DELETE(`${CM}/c`, undefined, quiet),
    POST(PODS, pod(), quiet), GET(`${PODS}/p/exec`, { query: { command: 'x' }, ...quiet }),
    POST('/api/v1/namespaces/$ns-none/configmaps', cm(), { ...quiet, note: 'NamespaceLifecycle refuses' }),
    POST(PODS, pod('q', { priorityClassName: '$ns-nope' }), { ...quiet, note: 'Priority refuses' }),
    POST('/api/v1/namespaces/$ns/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { clusterIP: 'None', externalIPs: ['192.0.2.1'], ports: [{ port: 80 }] } }, { ...quiet, note: 'DenyServiceExternalIPs refuses' }),
    DELETE('/api/v1/namespaces/default', undefined, { ...quiet, note: 'NamespaceLifecycle refuses a delete' }),
    SLEEP(500),
    GET('/metrics', series('controller_admission_duration_seconds')),
    GET('/metrics', series('step_admission_duration_seconds')),
    GET('/metrics', series('step_admission_duration_seconds_summary')),
    GET('/metrics', lines('step_admission_duration_seconds')),
  ]),
];
