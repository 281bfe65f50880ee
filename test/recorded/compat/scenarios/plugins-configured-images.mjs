// ImagePolicyWebhook: what the webhook is asked, its answers, and what counts if it cannot be asked.
import { scenario, GET, POST, PATCH, PUT, HOOKED, AUDITED } from '../steps.ts';
import { PODS, DEPLOYMENTS, CM, cm, pod, deployment, quiet, dry } from './kit/admission.mjs';
import { inTurn, fails, garbage, cuts } from './kit/hooks.mjs';

const answer = (status, more = {}) => () => ({ apiVersion: 'imagepolicy.k8s.io/v1alpha1', kind: 'ImageReview', status, ...more });
const allow = answer({ allowed: true });
const deny = answer({ allowed: false, reason: 'not signed' });
const told = { pick: (b) => (b.kind === 'Status' ? b : { annotations: b.metadata.annotations ?? null }), compareHeaders: ['warning'] };
const within = (needs, id, about, images, steps) => scenario(`plugins-configured-images-${id}`, { section: '1', about, needs, ...(images ? { hooks: { images } } : {}) }, steps);
const plain = (...given) => within('image-policy', ...given);
const annotations = { pick: (events) => events.map((e) => e.annotations ?? null) };
const sidecar = { initContainers: [{ name: 'i', image: 'init:1' }, { name: 's', image: 'side', restartPolicy: 'Always' }], containers: [{ name: 'c', image: 'img:1' }, { name: 'd', image: 'img:2' }] };

export default [
  plain('allow', 'it allows', allow, [POST(PODS, pod('p', sidecar), told), HOOKED('images')]),
  plain('deny', 'it denies, with a reason', deny, [POST(PODS, pod(), told)]),
  plain('deny-without-reason', 'without a reason', answer({ allowed: false }), [POST(PODS, pod(), told)]),
  plain('dry-run', 'a dry run is asked about, too', deny, [POST(PODS, pod(), { ...told, ...dry }), HOOKED('images')]),
  plain('annotations', 'annotations of the pod that are for the webhook', allow, [POST(PODS, pod('p', {}, { annotations: { 'a.image-policy.k8s.io/ticket': '1', other: 'x', 'image-policy.k8s.io/b': '2' } }), quiet), HOOKED('images')]),
  plain('update', 'updates are asked about', inTurn(allow, deny), [POST(PODS, pod(), quiet), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, told), HOOKED('images', { calls: 2 })]),
  plain('ephemeral', 'ephemeral containers are asked about alone', inTurn(allow, deny), [POST(PODS, pod('p', sidecar), quiet), PATCH(`${PODS}/p/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'e', image: 'debug' }] } }, told), HOOKED('images', { calls: 2 })]),
  plain('status', 'other subresources are not', inTurn(allow, deny), [POST(PODS, pod(), quiet), PATCH(`${PODS}/p/status`, 'merge', { status: { message: 'm' } }, told)]),
  plain('other-kinds', 'nor other kinds', deny, [POST(DEPLOYMENTS, deployment(), quiet), POST(CM, cm(), quiet)]),
  plain('error', 'it fails', fails(500), [POST(PODS, pod(), told)]),
  plain('not-found', 'it is not found', fails(404), [POST(PODS, pod(), told)]),
  plain('forbidden', 'it refuses the server', fails(403), [POST(PODS, pod(), told)]),
  plain('garbage', 'it answers with something else', garbage, [POST(PODS, pod(), told)]),
  plain('other-kind', 'it answers with another kind', answer({ allowed: true }, { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1' }), [POST(PODS, pod(), told)]),
  plain('no-status', 'it answers without a status', answer(undefined), [POST(PODS, pod(), told)]),
  plain('retry', 'it answers the second time', inTurn(fails(500), allow), [POST(PODS, pod(), told), HOOKED('images', { calls: 2 })]),
  plain('unauthorized', 'it does not know the server', fails(401), [POST(PODS, pod(), told)]),
  plain('audit', 'audit annotations', answer({ allowed: true, auditAnnotations: { ok: 'yes', 'a/b': 'x' } }), [POST(PODS, pod(), quiet), AUDITED(1, annotations)]),
  plain('audit-deny', 'audit annotations of a refusal', answer({ allowed: false, reason: 'r', auditAnnotations: { why: 'because' } }), [POST(PODS, pod(), quiet), AUDITED(1, annotations)]),
  within('image-policy-default-allow', 'default-allow', 'pods are allowed if it fails', fails(500), [POST(PODS, pod(), told), GET(`${PODS}/p`, told), POST(PODS, pod('q', {}, { annotations: { a: 'b' } }), { ...told, ...dry })]),
  within('image-policy-default-allow', 'default-allow-denied', 'but not if it denies', deny, [POST(PODS, pod(), told)]),
  within('image-policy-default-allow', 'default-allow-garbage', 'and if it answers with something else', garbage, [POST(PODS, pod(), told), AUDITED(1, annotations)]),
  within('image-policy-default-allow', 'default-allow-update', 'an update gets the annotation, too', inTurn(allow, fails(403)), [POST(PODS, pod(), told), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, told), GET(`${PODS}/p`, told)]),
  within('image-policy-cached', 'cached', 'the same question is asked once', inTurn(allow, deny), [POST(PODS, pod('a'), told), POST(PODS, pod('b'), told), POST(PODS, pod('c', { containers: [{ name: 'c', image: 'other' }] }), told), POST(PODS, pod('d', { containers: [{ name: 'x', image: 'other' }] }), told), HOOKED('images', { calls: 2 })]),
  within('image-policy-cached', 'cached-annotations', 'audit annotations are kept as well', answer({ allowed: true, auditAnnotations: { ok: 'yes' } }), [POST(PODS, pod('a'), quiet), POST(PODS, pod('b'), quiet), AUDITED(2, annotations)]),
  within('image-policy-cached', 'cached-failure', 'a failure is not kept', inTurn(fails(404), allow), [POST(PODS, pod('a'), told), POST(PODS, pod('b'), told)]),
];
