// Paths and small objects shared by the patch-* and apply-* scenarios.
import { POST, POLL } from '../../steps.ts';

const core = (r) => `/api/v1/namespaces/$ns/${r}`;
const group = (g, r) => `/apis/${g}/namespaces/$ns/${r}`;
export const CM = core('configmaps');
export const POD = core('pods');
export const SVC = core('services');
export const SECRET = core('secrets');
export const DEP = group('apps/v1', 'deployments');
export const STS = group('apps/v1', 'statefulsets');
export const HPA = (v) => group(`autoscaling/${v}`, 'horizontalpodautoscalers');

const meta = (name, extra) => (typeof name === 'string' ? { name, ...extra } : name);
export const cm = (name, data, extra) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: meta(name, extra), ...(data === undefined ? {} : { data }) });

/** A container, its pod, and the deployment and stateful set around it: as little as validation accepts. */
export const box = (name = 'web', extra = {}) => ({ name, image: 'example.com/web:1', ...extra });
export const pod = (name, spec = {}, extra) => ({ apiVersion: 'v1', kind: 'Pod', metadata: meta(name, extra), spec: { containers: [box()], ...spec } });
const workload = (kind) => (name, spec = {}, podSpec = {}, extra) => ({
  apiVersion: 'apps/v1', kind, metadata: meta(name, extra),
  spec: { selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels: { app: 'web' } }, spec: { containers: [box()], ...podSpec } }, ...spec },
});
export const deployment = workload('Deployment');
export const statefulSet = workload('StatefulSet');
/** Headless, so that it takes no address from the small range of the reference. */
export const service = (name, spec = {}, extra) => ({ apiVersion: 'v1', kind: 'Service', metadata: meta(name, extra), spec: { clusterIP: 'None', ...spec } });

export const WIDGETS = '/apis/$ns.example.com/v1/namespaces/$ns/widgets';
export const WIDGET_CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.$ns.example.com';
export const widget = (name, rest = {}, version = 'v1') => ({ apiVersion: `$ns.example.com/${version}`, kind: 'Widget', metadata: meta(name), ...rest });
/** The steps that define Widget (group $ns.example.com) with one version v1 of that schema and wait until it is served. */
export const widgets = (schema, { version = {}, versions } = {}) => [
  POST('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'widgets.$ns.example.com' },
    spec: {
      group: '$ns.example.com', scope: 'Namespaced', names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: versions ?? [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
    },
  }, { compare: 'status' }),
  POLL(WIDGETS, (_, status) => status === 200, { compare: 'status' }),
];
/** The options of a scenario that defines Widget. */
export const withWidgets = (section, about) => ({ section, about, cleanup: [WIDGET_CRD] });

/** Only who owns what: for objects whose other fields are tested elsewhere. */
export const owners = (b) => (b?.kind === 'Status' && b.status === 'Failure' ? b : { managedFields: b?.metadata?.managedFields ?? null });
