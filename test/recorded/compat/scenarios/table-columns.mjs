// The columns of every built-in kind: name, type, format, priority. An empty list has them all.
import { scenario, GET } from '../steps.ts';
import { TABLE, accept, columns, dashed } from './kit/shapes.mjs';

const namespaced = {
  v1: ['configmaps', 'endpoints', 'events', 'limitranges', 'persistentvolumeclaims', 'pods', 'podtemplates', 'replicationcontrollers', 'resourcequotas', 'secrets', 'serviceaccounts', 'services'],
  'apps/v1': ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'], 'events.k8s.io/v1': ['events'], 'autoscaling/v1': ['horizontalpodautoscalers'], 'autoscaling/v2': ['horizontalpodautoscalers'], 'batch/v1': ['cronjobs', 'jobs'],
  'networking.k8s.io/v1': ['ingresses', 'networkpolicies'], 'policy/v1': ['poddisruptionbudgets'], 'rbac.authorization.k8s.io/v1': ['rolebindings', 'roles'], 'storage.k8s.io/v1': ['csistoragecapacities'], 'coordination.k8s.io/v1': ['leases'], 'discovery.k8s.io/v1': ['endpointslices'],
};
const cluster = {
  v1: ['namespaces', 'nodes', 'persistentvolumes', 'componentstatuses'], 'apiregistration.k8s.io/v1': ['apiservices'], 'certificates.k8s.io/v1': ['certificatesigningrequests'], 'networking.k8s.io/v1': ['ingressclasses', 'ipaddresses', 'servicecidrs'], 'rbac.authorization.k8s.io/v1': ['clusterrolebindings', 'clusterroles'],
  'storage.k8s.io/v1': ['csidrivers', 'csinodes', 'storageclasses', 'volumeattachments'], 'admissionregistration.k8s.io/v1': ['mutatingwebhookconfigurations', 'validatingadmissionpolicies', 'validatingadmissionpolicybindings', 'validatingwebhookconfigurations'], 'apiextensions.k8s.io/v1': ['customresourcedefinitions'],
  'scheduling.k8s.io/v1': ['priorityclasses'], 'node.k8s.io/v1': ['runtimeclasses'], 'flowcontrol.apiserver.k8s.io/v1': ['flowschemas', 'prioritylevelconfigurations'],
};
const root = (gv) => (gv === 'v1' ? '/api/v1' : `/apis/${gv}`);
const one = (gv, r, path, o) => scenario(`table-columns-${dashed(`${r}-${gv}`)}`, { section: '2.6', about: `The columns of ${r} of ${gv}`, ...o }, [GET(`${path}?labelSelector=oracle%3Dnone-such`, { ...accept(TABLE), pick: columns })]);

export default [
  ...Object.entries(namespaced).flatMap(([gv, rs]) => rs.map((r) => one(gv, r, `${root(gv)}/namespaces/$ns/${r}`))),
  ...Object.entries(cluster).flatMap(([gv, rs]) => rs.map((r) => one(gv, r, `${root(gv)}/${r}`, { namespace: false }))),
];
