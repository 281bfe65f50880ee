// What the server does for kubectl: the manager named kubectl and the last-applied annotation, and moving from client-side to server-side apply.
import { scenario, GET, POST, PATCH, APPLY } from '../steps.ts';
import { CM, DEP, box, cm, deployment } from './kit/apply.mjs';

const one = (id, about, steps) => scenario(`apply-kubectl-${id}`, { section: '4.7', about }, steps);
const quiet = { compare: 'status' };
const by = (fieldManager, o) => ({ query: { fieldManager }, ...o });
const NOTE = 'kubectl.kubernetes.io/last-applied-configuration';
/** The object as client-side apply stores it: with itself in an annotation. */
const noted = (o, said = o) => ({ ...o, metadata: { ...o.metadata, annotations: { ...o.metadata.annotations, [NOTE]: `${JSON.stringify(said)}\n` } } });
const csa = (o, said) => POST(CM, noted(o, said), by('kubectl-client-side-apply', quiet));

export default [
  one('migration', 'after client-side apply, kubectl changes its fields by server-side apply without conflict, and the annotation follows', [csa(cm('c', { a: '1', b: '2' })), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '9', b: '2' }))]),
  one('migration-other-manager', 'another manager does conflict', [csa(cm('c', { a: '1' })), APPLY(`${CM}/c`, 'other', cm('c', { a: '9' }))]),
  one('migration-same-values', 'the same values are shared with the client-side manager', [csa(cm('c', { a: '1' })), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '1' }))]),
  one('migration-removal', 'a field left out is not removed, as the client-side manager still owns it', [csa(cm('c', { a: '1', b: '2' })), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '1' }))]),
  one('migration-changed-since', 'a field that was changed after client-side apply conflicts', [csa(cm('c', { a: '1', b: '2' })), PATCH(`${CM}/c`, 'merge', { data: { a: '5' } }, by('somebody', quiet)), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '9', b: '9' }))]),
  one('migration-not-in-annotation', 'a field that is not in the annotation conflicts', [csa(cm('c', { a: '1', b: '2' }), cm('c', { a: '1' })), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '9' })), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '9', b: '9' }))]),
  one('migration-bad-annotation', 'an annotation that does not decode', [POST(CM, cm('c', { a: '1' }, { annotations: { [NOTE]: 'not json' } }), by('kubectl-client-side-apply', quiet)), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '9' })), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '1' }))]),
  one('migration-empty-annotation', 'an empty annotation', [POST(CM, cm('c', { a: '1' }, { annotations: { [NOTE]: '' } }), by('kubectl-client-side-apply', quiet)), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '9' })), APPLY(`${CM}/c`, 'kubectl', cm('c', { b: '1' }))]),
  one('migration-other-owner', 'fields in the annotation that another apply manager owns', [csa(cm('c', { a: '1' })), APPLY(`${CM}/c`, 'other', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '9' }))]),
  one('migration-force', 'force takes everything', [csa(cm('c', { a: '1' })), PATCH(`${CM}/c`, 'merge', { data: { a: '5' } }, by('somebody', quiet)), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '9' }), { force: true })]),
  one('migration-deployment', 'after client-side apply of a deployment: another image passes, another value for a default that the annotation does not hold conflicts', [
    POST(DEP, noted(deployment('d')), by('kubectl-client-side-apply', quiet)), APPLY(`${DEP}/d`, 'kubectl', deployment('d', {}, { containers: [box('web', { image: 'example.com/web:2' })] })), APPLY(`${DEP}/d`, 'kubectl', deployment('d', { replicas: 3 })),
  ]),
  one('annotation-follows', 'the annotation is rewritten by every apply of kubectl while it exists', [csa(cm('c', { a: '1' })), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '1', n: '2' }, { labels: { l: '1' } })), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '1' }))]),
  one('annotation-not-for-others', 'an apply by another manager leaves the annotation alone', [csa(cm('c', { a: '1' })), APPLY(`${CM}/c`, 'other', cm('c', { n: '2' }))]),
  one('annotation-not-created', 'without the annotation, an apply by kubectl does not create it', [POST(CM, cm('c', { a: '1' }), by('kubectl-create', quiet)), APPLY(`${CM}/c`, 'kubectl', cm('c', { n: '2' })), APPLY(`${CM}/d`, 'kubectl', cm('d', { n: '2' }))]),
  one('annotation-in-body', 'a body that holds the annotation itself', [APPLY(`${CM}/c`, 'kubectl', noted(cm('c', { a: '1' }))), APPLY(`${CM}/c`, 'kubectl', noted(cm('c', { a: '2' }), cm('c', { lie: '1' }))), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '3' }))]),
  one('annotation-too-large', 'an annotation that would grow beyond the limit is left out', [csa(cm('c', { a: '1' })), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '1', big: 'x'.repeat(262200) }), { pick: (b) => (b.kind === 'Status' ? b : { annotations: b.metadata.annotations ?? null, managedFields: b.metadata.managedFields }) })]),
  one('manager-prefix', 'kubectl alone counts: kubectl-client-side-apply and kubectl-edit as appliers are plain managers', [csa(cm('c', { a: '1' })), APPLY(`${CM}/c`, 'kubectl-client-side-apply', cm('c', { a: '2' })), APPLY(`${CM}/c`, 'kubectl-edit', cm('c', { a: '2' }))]),
  one('csa-upgrade', 'the patch by which kubectl moves its client-side entry into its server-side entry', [
    csa(cm('c', { a: '1', b: '2' })), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '1' }), { id: 'c' }),
    PATCH(`${CM}/c`, 'json-patch', [
      { op: 'replace', path: '/metadata/managedFields', value: [{ manager: 'kubectl', operation: 'Apply', apiVersion: 'v1', time: '2020-01-01T00:00:00Z', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} }, 'f:metadata': { 'f:annotations': { [`f:${NOTE}`]: {} } } } }] },
      { op: 'replace', path: '/metadata/resourceVersion', value: '${c.metadata.resourceVersion}' },
    ], by('kubectl')),
    APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '1' })), GET(`${CM}/c`),
  ]),
  one('kubectl-request', 'the request as kubectl sends it', [PATCH(`${CM}/c`, 'apply-yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  namespace: $ns\ndata:\n  a: "1"\n', { query: { fieldManager: 'kubectl', fieldValidation: 'Strict', force: 'false' } })]),
];
