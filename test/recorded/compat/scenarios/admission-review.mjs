// The AdmissionReview that webhooks receive: its whole shape, per operation, kind and subresource.
import { POST, PUT, PATCH, DELETE, APPLY, SLEEP } from '../steps.ts';
import { CM, PODS, DEPLOYMENTS, cm, pod, deployment, webhook, mutating, validating, rule, allow, hooked, reviewed, brief, called, quiet, dry } from './kit/admission.mjs';
import { personRequest } from './kit/csr.mjs';

const hooks = { m: allow, v: allow };
const both = (rules, o = {}) => [mutating(webhook('m', { rules, ...o })), validating(webhook('v', { rules, ...o }))];
/** Both hooks see the requests; `calls` to each are recorded in full. */
const seen = (id, about, rules, steps, { calls = 1, settings = {}, pick, ...o } = {}) =>
  hooked(`review-${id}`, about, both(rules, settings), { hooks, ...o }, [...steps, reviewed('m', calls, { pick }), reviewed('v', calls, { pick })]);
/** The random part of a generated name is left out. */
const nameless = (cs) => JSON.parse(JSON.stringify(cs).replaceAll(/gen-[a-z0-9]{5}"/g, 'gen-<random>"'));

const cms = [rule('configmaps')];
const updates = [rule('configmaps', { operations: ['UPDATE'] })];
const deletes = [rule('configmaps', { operations: ['DELETE'] })];
const made = POST(CM, cm(), quiet);
/** Cluster-scoped objects reach the hooks by a label of their own. */
const labelled = { namespaceSelector: {}, objectSelector: { matchLabels: { owner: '$ns' } } };
const owner = { labels: { owner: '$ns' } };
const statusOf = (conditions) => ({ status: { conditions } });

const operations = [
  seen('create', 'a create: no uid and time yet for the mutating hook, the complete object for the validating one', cms, [POST(CM, cm())]),
  seen('update', 'a PUT: object and oldObject, UpdateOptions', updates, [made, PUT(`${CM}/c`, cm('c', { a: '2' }), { query: { fieldManager: 'me', fieldValidation: 'Strict' } })]),
  seen('update-unchanged', 'a PUT that changes nothing is reviewed too', updates, [made, PUT(`${CM}/c`, cm())]),
  seen('patch', 'a merge patch', updates, [made, PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, { query: { fieldManager: 'me' } })]),
  seen('json-patch', 'a JSON patch', updates, [made, PATCH(`${CM}/c`, 'json-patch', [{ op: 'remove', path: '/data/a' }])]),
  seen('strategic-patch', 'a strategic merge patch', updates, [made, PATCH(`${CM}/c`, 'strategic', { metadata: { labels: { x: 'y' } } })]),
  seen('patch-unchanged', 'an empty patch is reviewed too', updates, [made, PATCH(`${CM}/c`, 'merge', {})]),
  seen('apply-create', 'an apply that creates', cms, [APPLY(`${CM}/c`, 'me', cm(), { force: true })]),
  seen('apply-update', 'an apply to an object that exists', updates, [APPLY(`${CM}/c`, 'me', cm(), quiet), APPLY(`${CM}/c`, 'me', cm('c', { a: '2' }), { force: true })]),
  seen('put-create', 'a PUT that creates is a CREATE', [rule('limitranges')], [PUT('/api/v1/namespaces/$ns/limitranges/l', { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [] } }, { query: { fieldManager: 'me' } })]),
  seen('delete', 'a delete: oldObject only, DeleteOptions', deletes, [made, DELETE(`${CM}/c`)]),
  seen('delete-options', 'the DeleteOptions of the body', deletes, [made, DELETE(`${CM}/c`, { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 3, propagationPolicy: 'Orphan' })]),
  seen('delete-options-query', 'the DeleteOptions of the query', deletes, [made, DELETE(`${CM}/c`, undefined, { query: { gracePeriodSeconds: '0', propagationPolicy: 'Background' } })]),
  seen('delete-preconditions', 'the preconditions of a delete', deletes, [POST(CM, cm(), { id: 'c', ...quiet }), DELETE(`${CM}/c`, { preconditions: { uid: '${c.metadata.uid}', resourceVersion: '${c.metadata.resourceVersion}' } })]),
  seen('delete-collection', 'a delete of a collection: a review per object', deletes, [POST(CM, cm('a', {}, owner), quiet), POST(CM, cm('b', {}, owner), quiet), DELETE(CM, { propagationPolicy: 'Background' }, { query: { labelSelector: 'owner' }, compare: 'status' })], { calls: 2 }),
  seen('delete-finalizer', 'a delete that only marks, and the update that lets go', [rule('configmaps', { operations: ['DELETE', 'UPDATE'] })], [POST(CM, cm('c', {}, { finalizers: ['example.com/f'] }), quiet), DELETE(`${CM}/c`, undefined, quiet), SLEEP(300), PATCH(`${CM}/c`, 'merge', { metadata: { finalizers: null } }, quiet)], { calls: 2 }),
  seen('dry-run', 'a dry-run create says so twice', cms, [POST(CM, cm(), dry)]),
  seen('dry-run-update', 'a dry-run patch', updates, [made, PATCH(`${CM}/c`, 'merge', { data: { a: '2' } }, dry)]),
  seen('dry-run-delete', 'a dry-run delete', deletes, [made, DELETE(`${CM}/c`, undefined, dry)]),
  seen('create-options', 'CreateOptions with everything', cms, [POST(CM, cm(), { query: { fieldManager: 'me', fieldValidation: 'Ignore', pretty: 'true' } })]),
  seen('generate-name', 'generateName: no name yet for the mutating hook', cms, [POST(CM, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }, { ignore: ['metadata.name'] })], { pick: nameless }),
  seen('name-and-generate-name', 'both names', cms, [POST(CM, cm('c', {}, { generateName: 'gen-' }), quiet)]),
  seen('unknown-fields', 'unknown fields are dropped before', cms, [POST(CM, { ...cm(), extra: 1 }, quiet)]),
  seen('metadata-sent', 'metadata that the client has no say in is gone before', cms, [POST(CM, cm('c', {}, { uid: 'mine', generation: 7, creationTimestamp: '2001-01-01T00:00:00Z', selfLink: '/x', deletionGracePeriodSeconds: 3 }), quiet)]),
  seen('namespace-filled-in', 'the namespace of the path is in the object', cms, [POST(CM, cm('c', {}, { namespace: '' }), quiet)]),
];

const users = [
  seen('user', 'a user with groups, uid and extra', cms, [POST(CM, cm(), { ...quiet, headers: { 'impersonate-user': '$ns-jane', 'impersonate-group': ['system:masters', 'devs'], 'impersonate-uid': '42', 'impersonate-extra-scopes': ['view', 'edit'], 'impersonate-extra-example.com%2fteam': 'a' } })]),
  seen('user-service-account', 'a service account', cms, [POST(CM, cm(), { ...quiet, headers: { 'impersonate-user': 'system:serviceaccount:$ns:x', 'impersonate-group': ['system:masters'] } })]),
];

const subresources = [
  seen('status', 'a status update: the subresource in both places', [rule('pods/status', { operations: ['UPDATE'] })], [POST(PODS, pod(), quiet), PATCH(`${PODS}/p/status`, 'merge', { status: { phase: 'Running' } }, quiet)]),
  seen('scale', 'a scale update: the object is a Scale of autoscaling/v1', [rule('deployments/scale', { groups: ['apps'] })], [POST(DEPLOYMENTS, deployment(), quiet), PUT(`${DEPLOYMENTS}/d/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd', namespace: '$ns' }, spec: { replicas: 3 } })]),
  seen('scale-patch', 'a patch of scale', [rule('deployments/scale', { groups: ['apps'] })], [POST(DEPLOYMENTS, deployment(), quiet), PATCH(`${DEPLOYMENTS}/d/scale`, 'merge', { spec: { replicas: 2 } }, quiet)]),
  seen('scale-of-rc', 'the scale of a ReplicationController', [rule('replicationcontrollers/scale')], [POST('/api/v1/namespaces/$ns/replicationcontrollers', { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'r' }, spec: { template: deployment().spec.template } }, quiet), PATCH('/api/v1/namespaces/$ns/replicationcontrollers/r/scale', 'merge', { spec: { replicas: 2 } }, quiet)]),
  seen('binding', 'pods/binding is a CREATE of a Binding', [rule('pods/binding')], [POST(PODS, pod(), quiet), POST(`${PODS}/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: '$ns-n' } })]),
  seen('bindings', 'the old bindings resource', [rule('bindings')], [POST(PODS, pod(), quiet), POST('/api/v1/namespaces/$ns/bindings', { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: '$ns-n' } })]),
  seen('eviction', 'pods/eviction is a CREATE of an Eviction', [rule('pods/eviction')], [POST(PODS, pod(), quiet), POST(`${PODS}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions: { gracePeriodSeconds: 0 } })]),
  seen('eviction-delete', 'an eviction is not reviewed as a DELETE of the pod', [rule('pods', { operations: ['DELETE'] })], [POST(PODS, pod(), quiet), POST(`${PODS}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } })], { calls: 0 }),
  seen('token', 'serviceaccounts/token is a CREATE of a TokenRequest', [rule('serviceaccounts/token')], [POST('/api/v1/namespaces/$ns/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } }, quiet), POST('/api/v1/namespaces/$ns/serviceaccounts/sa/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: ['x'] } }, quiet)]),
  seen('ephemeral-containers', 'pods/ephemeralcontainers', [rule('pods/ephemeralcontainers')], [POST(PODS, pod(), quiet), PATCH(`${PODS}/p/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'e', image: 'img' }] } }, quiet)]),
  seen('resize', 'pods/resize', [rule('pods/resize')], [POST(PODS, pod('p', { containers: [{ name: 'c', image: 'img', resources: { requests: { cpu: '1' } } }] }), quiet), PATCH(`${PODS}/p/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '2' } } }] } }, quiet)]),
  seen('exec', 'pods/exec is a CONNECT with its options as the object', [rule('pods/exec', { operations: ['CONNECT'] })], [POST(PODS, pod(), quiet), POST(`${PODS}/p/exec?command=a&command=b&stdout=true&container=c`)]),
  seen('exec-get', 'GET of pods/exec is a CONNECT too', [rule('pods/exec', { operations: ['CONNECT'] })], [POST(PODS, pod(), quiet), { ...POST(`${PODS}/p/exec?command=a&stdin=true`), method: 'GET' }]),
  seen('attach', 'pods/attach', [rule('pods/attach', { operations: ['CONNECT'] })], [POST(PODS, pod(), quiet), POST(`${PODS}/p/attach?tty=true`)]),
  seen('portforward', 'pods/portforward', [rule('pods/portforward', { operations: ['CONNECT'] })], [POST(PODS, pod(), quiet), POST(`${PODS}/p/portforward?ports=80`)]),
  seen('proxy', 'pods/proxy: any method is a CONNECT', [rule('pods/proxy', { operations: ['CONNECT'] })], [POST(PODS, pod(), quiet), DELETE(`${PODS}/p/proxy/a/b`)]),
  seen('log', 'pods/log is a read: no review', [rule('*/*', { scope: 'Namespaced' })], [{ ...POST(`${PODS}/p/log`), method: 'GET' }, { ...POST(CM), method: 'GET', compare: 'status' }], { calls: 0, settings: { objectSelector: { matchExpressions: [{ key: 'probe', operator: 'DoesNotExist' }] } } }),
];

const kinds = [
  seen('service', 'defaults are in the object; the address only for the validating hook', [rule('services')], [POST('/api/v1/namespaces/$ns/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }, { id: 's' })]),
  seen('pod', 'a pod, after the built-in plugins had their turn', [rule('pods')], [POST(PODS, pod(), quiet)]),
  seen('pod-delete', 'a pod with a node: the options carry the grace period that was found', [rule('pods', { operations: ['DELETE'] })], [POST(PODS, pod('p', { nodeName: '$ns-n' }), quiet), DELETE(`${PODS}/p`, undefined, quiet)]),
  seen('deployment', 'a kind of another group; generation', [rule('deployments', { groups: ['apps'], operations: ['UPDATE'] })], [POST(DEPLOYMENTS, deployment(), quiet), PATCH(`${DEPLOYMENTS}/d`, 'merge', { spec: { replicas: 2 } }, quiet)]),
  seen('secret', 'stringData comes as data', [rule('secrets')], [POST('/api/v1/namespaces/$ns/secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { k: 'v' } }, quiet)]),
  seen('event', 'an Event of the core group', [rule('events')], [POST('/api/v1/namespaces/$ns/events', { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject: { namespace: '$ns', name: 'p' }, type: 'Normal', reason: 'R' }, quiet)]),
  seen('local-access-review', 'reviews of access are reviewed as well', [rule('localsubjectaccessreviews', { groups: ['authorization.k8s.io'] })], [POST('/apis/authorization.k8s.io/v1/namespaces/$ns/localsubjectaccessreviews', { apiVersion: 'authorization.k8s.io/v1', kind: 'LocalSubjectAccessReview', spec: { user: 'x', resourceAttributes: { namespace: '$ns', verb: 'get', resource: 'pods' } } }, quiet)]),
  seen('access-review', 'a SubjectAccessReview with metadata reaches the mutating hook before it is refused', [rule('subjectaccessreviews', { groups: ['authorization.k8s.io'] })], [POST('/apis/authorization.k8s.io/v1/subjectaccessreviews', { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: owner, spec: { user: 'x', resourceAttributes: { verb: 'get', resource: 'pods' } } }, quiet)], { settings: labelled }),
  seen('namespace', 'a namespace: its own name stands as the namespace of the review', [rule('namespaces')], [POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-other', ...owner } }, quiet)], { settings: labelled, cleanup: ['/api/v1/namespaces/$ns-other'] }),
  seen('namespace-finalize', 'namespaces/finalize', [rule('namespaces/finalize')], [POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-other', ...owner } }, { id: 'n', ...quiet }), PUT('/api/v1/namespaces/$ns-other/finalize', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-other', ...owner }, spec: { finalizers: ['kubernetes'] } }, quiet)], { settings: labelled, cleanup: ['/api/v1/namespaces/$ns-other'] }),
  seen('cluster-scoped', 'a cluster-scoped object has no namespace', [rule('priorityclasses', { groups: ['scheduling.k8s.io'] })], [POST('/apis/scheduling.k8s.io/v1/priorityclasses', { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: '$ns-p', ...owner }, value: 1 }, quiet)], { settings: labelled, cleanup: ['/apis/scheduling.k8s.io/v1/priorityclasses/$ns-p'] }),
  seen('csr-approval', 'certificatesigningrequests/approval', [rule('certificatesigningrequests/approval', { groups: ['certificates.k8s.io'] })], [
    POST('/apis/certificates.k8s.io/v1/certificatesigningrequests', { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: '$ns-r', ...owner }, spec: { request: personRequest, signerName: 'example.com/s', usages: ['client auth'] } }, quiet),
    PATCH('/apis/certificates.k8s.io/v1/certificatesigningrequests/$ns-r/approval', 'merge', statusOf([{ type: 'Approved', status: 'True', reason: 'R' }]), quiet),
  ], { settings: labelled, cleanup: ['/apis/certificates.k8s.io/v1/certificatesigningrequests/$ns-r'] }),
];

const reviewVersions = ['m', 'v'].map((key) => hooked(`review-v1beta1-${key === 'm' ? 'mutating' : 'validating'}`, 'a hook that asks for v1beta1 reviews', (key === 'm' ? mutating : validating)(webhook(key, { admissionReviewVersions: ['v1beta1', 'v1'] })), { hooks }, [POST(CM, cm(), quiet), reviewed(key)]));
const choice = [['v1-first', ['v1', 'v1beta1']], ['unknown-first', ['v9', 'v1beta1']], ['unknown-before-v1', ['v2alpha1', 'v1']]].map(([id, versions]) =>
  hooked(`review-version-${id}`, `admissionReviewVersions ${versions.join(', ')}: the first known one is used`, validating(webhook('v', { admissionReviewVersions: versions })), { hooks }, [POST(CM, cm(), quiet), reviewed('v', 1, { pick: (cs) => cs.map((c) => c.body.apiVersion) })]));

const transport = [
  hooked('review-timeout-parameter', 'the time limit is told in whole seconds', [validating([['a', 1], ['b', 10], ['c', 30]].map(([key, timeoutSeconds]) => webhook(key, { timeoutSeconds })))], { hooks: { a: allow, b: allow, c: allow } }, [
    POST(CM, cm(), quiet), ...['a', 'b', 'c'].map((k) => reviewed(k, 1, { pick: (_, raw) => raw.map((c) => [c.method, c.path, c.contentType, c.accept]) })),
  ]),
  hooked('review-timeout-default', 'without timeoutSeconds it is 10 s', [mutating(webhook('m', { timeoutSeconds: undefined }))], { hooks }, [POST(CM, cm(), quiet), reviewed('m', 1, { pick: (_, raw) => raw.map((c) => c.path) })]),
  hooked('review-timeout-of-request', 'a shorter time limit of the request is told instead', [mutating(webhook('m', { timeoutSeconds: 20 }))], { hooks }, [POST(CM, cm(), { ...quiet, query: { timeout: '7s' } }), reviewed('m', 1, { pick: (_, raw) => raw.map((c) => c.path) })]),
  hooked('review-uid', 'each hook and each call has a uid of its own', [mutating([webhook('m'), webhook('n')]), validating(webhook('v'))], { hooks: { ...hooks, n: allow } }, [POST(CM, cm(), quiet), brief('m', 1, 'uid'), brief('n', 1, 'uid'), brief('v', 1, 'uid')]),
];

const unseen = [
  hooked('review-none-invalid', 'an object that validation refuses: the mutating hook alone is asked', both(cms), { hooks }, [POST(CM, cm('Bad_Name')), called('m', 1), called('v')]),
  hooked('review-none-malformed', 'a body that cannot be read: nobody is asked', both(cms), { hooks }, [POST(CM, '{"kind":', { type: 'application/json', compare: 'status' }), POST(CM, { ...cm(), data: 5 }, quiet), POST(CM, { ...cm(), extra: 1 }, { ...quiet, query: { fieldValidation: 'Strict' } }), called('m'), called('v')]),
  hooked('review-none-missing', 'an update or delete of what is not there: nobody is asked', both(cms), { hooks }, [PUT(`${CM}/c`, cm(), quiet), PATCH(`${CM}/c`, 'merge', {}, quiet), DELETE(`${CM}/c`, undefined, quiet), called('m'), called('v')]),
  hooked('review-existing', 'a create of what is there: both are asked, then 409', both(cms), { hooks }, [POST(CM, cm(), quiet), POST(CM, cm(), quiet), called('m', 2), called('v', 2)]),
  hooked('review-conflict', 'a PUT with a stale version: the mutating hook alone is asked', both(updates), { hooks }, [POST(CM, cm(), quiet), PUT(`${CM}/c`, cm('c', {}, { resourceVersion: '1' }), quiet), called('m', 1), called('v')]),
  hooked('review-none-forbidden', 'a caller without the right: nobody is asked', both(cms), { hooks }, [POST(CM, cm(), { ...quiet, as: 'bob' }), called('m'), called('v')]),
  hooked('review-none-precondition', 'a delete whose precondition fails: nobody is asked', both(deletes), { hooks }, [POST(CM, cm(), quiet), DELETE(`${CM}/c`, { preconditions: { uid: 'other' } }), called('m'), called('v')]),
];

export default [...operations, ...users, ...subresources, ...kinds, ...reviewVersions, ...choice, ...transport, ...unseen];
