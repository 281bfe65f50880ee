// Shared by scenarios that compare audit events.
import { POST } from '../../steps.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const quiet = { compare: 'status' };

/** The group $ns-all may do everything in $ns. Two requests. */
export const grantAll = [
  POST(`/apis/${apiVersion}/namespaces/$ns/roles`, { metadata: { name: 'all' }, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }, quiet),
  POST(`/apis/${apiVersion}/namespaces/$ns/rolebindings`, { metadata: { name: 'all' }, subjects: [{ kind: 'Group', name: '$ns-all' }], roleRef: { kind: 'Role', name: 'all' } }, quiet),
];
