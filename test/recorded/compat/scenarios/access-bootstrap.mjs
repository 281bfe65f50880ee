// The objects that a server writes when it starts: roles and bindings, flow schemas and priority levels, one scenario for each (§5).
import { scenario, GET } from '../steps.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1', flow = '/apis/flowcontrol.apiserver.k8s.io/v1';
/** Who wrote them is looked at once, below: the list of fields is long. */
const unmanaged = { ignore: ['metadata.managedFields'] };
const kebab = (name) => name.replace(/[:./]+/g, '-').toLowerCase();
const s = (id, about, steps) => scenario(`bootstrap-${id}`, { section: '5', about, namespace: false }, steps);
const each = (kind, resource, names, path = (n) => `${rbac}/${resource}/${n}`) => names.map((n) => s(`${kind.toLowerCase()}-${kebab(n)}`, `${kind} ${n}`, [GET(path(n), unmanaged)]));

const controllers = ['attachdetach-controller', 'certificate-controller', 'clusterrole-aggregation-controller', 'cronjob-controller', 'daemon-set-controller', 'deployment-controller', 'disruption-controller', 'endpoint-controller', 'endpointslice-controller', 'endpointslicemirroring-controller', 'ephemeral-volume-controller', 'expand-controller', 'generic-garbage-collector', 'horizontal-pod-autoscaler', 'job-controller', 'legacy-service-account-token-cleaner', 'namespace-controller', 'node-controller', 'persistent-volume-binder', 'pod-garbage-collector', 'pv-protection-controller', 'pvc-protection-controller', 'replicaset-controller', 'replication-controller', 'resourcequota-controller', 'root-ca-cert-publisher', 'route-controller', 'selinux-warning-controller', 'service-account-controller', 'service-cidrs-controller', 'service-controller', 'statefulset-controller', 'ttl-after-finished-controller', 'ttl-controller', 'validatingadmissionpolicy-status-controller'].map((n) => `system:controller:${n}`);
const certificates = ['certificatesigningrequests:nodeclient', 'certificatesigningrequests:selfnodeclient', 'kube-apiserver-client-approver', 'kube-apiserver-client-kubelet-approver', 'kubelet-serving-approver', 'legacy-unknown-approver'].map((n) => `system:certificates.k8s.io:${n}`);
const bound = ['cluster-admin', 'system:basic-user', 'system:discovery', 'system:kube-controller-manager', 'system:kube-dns', 'system:kube-scheduler', 'system:monitoring', 'system:node', 'system:node-proxier', 'system:public-info-viewer', 'system:service-account-issuer-discovery', 'system:volume-scheduler'];
const unbound = ['admin', 'edit', 'view', 'system:aggregate-to-admin', 'system:aggregate-to-edit', 'system:aggregate-to-view', 'system:auth-delegator', 'system:heapster', 'system:kube-aggregator', 'system:kubelet-api-admin', 'system:node-bootstrapper', 'system:node-problem-detector', 'system:persistent-volume-provisioner'];
const lockers = ['system::leader-locking-kube-controller-manager', 'system::leader-locking-kube-scheduler'];
const inSystem = [...lockers, 'system:controller:bootstrap-signer', 'system:controller:cloud-provider', 'system:controller:token-cleaner'];
const namespaced = (resource, names) => [...names.map((n) => `kube-system/${n}`), 'kube-public/system:controller:bootstrap-signer'].map((full) => { const [ns, name] = full.split('/'); return s(`${resource.slice(0, -1)}-${ns}-${kebab(name)}`, `${resource} ${full}`, [GET(`${rbac}/namespaces/${ns}/${resource}/${name}`, unmanaged)]); });

const listed = (resource) => GET(`${rbac}/${resource}?labelSelector=kubernetes.io%2Fbootstrapping%3Drbac-defaults`, { pick: (b) => b.items.map((i) => [i.metadata.namespace, i.metadata.name].filter(Boolean).join('/')) });
const flowSchemas = ['catch-all', 'endpoint-controller', 'exempt', 'global-default', 'kube-controller-manager', 'kube-scheduler', 'kube-system-service-accounts', 'probes', 'service-accounts', 'system-leader-election', 'system-node-high', 'system-nodes', 'workload-leader-election'];
const levels = ['catch-all', 'exempt', 'global-default', 'leader-election', 'node-high', 'system', 'workload-high', 'workload-low'];
const ofFlow = (resource) => GET(`${flow}/${resource}`, { pick: (b) => b.items.filter((i) => i.metadata.annotations?.['apf.kubernetes.io/autoupdate-spec'] === 'true').map((i) => i.metadata.name) });

export default [
  s('list-clusterroles', 'the names of all ClusterRoles', [listed('clusterroles')]),
  s('list-clusterrolebindings', 'the names of all ClusterRoleBindings', [listed('clusterrolebindings')]),
  s('list-roles', 'the names of all Roles', [listed('roles')]),
  s('list-rolebindings', 'the names of all RoleBindings', [listed('rolebindings')]),
  s('list-flowschemas', 'the names of all FlowSchemas', [ofFlow('flowschemas')]),
  s('list-prioritylevels', 'the names of all PriorityLevelConfigurations', [ofFlow('prioritylevelconfigurations')]),
  s('managed-fields', 'they are written by kube-apiserver', [GET(`${rbac}/clusterrolebindings/cluster-admin`, { pick: (b) => b.metadata.managedFields }), GET(`${rbac}/clusterroles/view`, { pick: (b) => b.metadata.managedFields }), GET(`${flow}/flowschemas/probes`, { pick: (b) => b.metadata.managedFields.map(({ fieldsV1, ...m }) => m) })]),
  s('legacy-token-tracking', 'the config map that tells since when legacy tokens are tracked', [GET('/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking', { pick: (b) => ({ labels: b.metadata.labels ?? null, annotations: b.metadata.annotations ?? null, keys: Object.keys(b.data), date: /^\d{4}-\d\d-\d\d$/.test(b.data.since) }) })]),
  s('identity-lease', 'the lease by which a server makes itself known', [GET('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver', { pick: (b) => b.items.map((l) => ({ name: l.metadata.name.replace(/^apiserver-[a-z0-9]{26}$/, 'apiserver-?'), labels: Object.keys(l.metadata.labels), annotations: l.metadata.annotations ?? null, seconds: l.spec.leaseDurationSeconds, holder: l.spec.holderIdentity.replace(l.metadata.name, '<name of the lease>').replace(/_.*/, '_?') })) })]),
  ...each('ClusterRole', 'clusterroles', [...bound, ...unbound, ...certificates, ...controllers]),
  ...each('ClusterRoleBinding', 'clusterrolebindings', [...bound, ...controllers]),
  ...namespaced('roles', ['extension-apiserver-authentication-reader', ...inSystem]),
  ...namespaced('rolebindings', ['system::extension-apiserver-authentication-reader', ...inSystem]),
  ...each('FlowSchema', 'flowschemas', flowSchemas, (n) => `${flow}/flowschemas/${n}`),
  ...each('PriorityLevel', 'prioritylevelconfigurations', levels, (n) => `${flow}/prioritylevelconfigurations/${n}`),
];
