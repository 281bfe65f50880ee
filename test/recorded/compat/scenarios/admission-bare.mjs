// A CONNECT without any option: its review has an object that is nothing but a kind and an apiVersion.
import { POST, PUT, DELETE } from '../steps.ts';
import { PODS, pod, webhook, mutating, validating, rule, allow, deny, hooked, reviewed, quiet } from './kit/admission.mjs';

const SERVICES = '/api/v1/namespaces/$ns/services';
const made = POST(PODS, pod(), quiet);
const service = POST(SERVICES, { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }, quiet);
const both = (of, o = {}) => [mutating(webhook('m', { rules: [rule(of, { operations: ['CONNECT'] })], ...o })), validating(webhook('v', { rules: [rule(of, { operations: ['CONNECT'] })], ...o }))];
const bare = (id, about, of, ...steps) => hooked(`bare-${id}`, about, both(of), { hooks: { m: allow, v: allow } }, [...steps, reviewed('m', 1), reviewed('v', 1)]);
const at = (method, path) => ({ ...POST(path, undefined, { compare: 'status' }), method });
// A webhook that cannot read its review is passed over if its failurePolicy is Ignore.
const denied = (id, about, of, ...steps) => hooked(`bare-${id}`, about, [validating(webhook('v', { rules: [rule(of, { operations: ['CONNECT'] })], failurePolicy: 'Ignore' }))], { hooks: { v: deny({ message: 'no', code: 403, reason: 'Forbidden' }) } }, steps);

export default [
  bare('exec', 'pods/exec', 'pods/exec', made, at('POST', `${PODS}/p/exec`)),
  bare('attach', 'pods/attach', 'pods/attach', made, at('POST', `${PODS}/p/attach`)),
  bare('attach-get', 'pods/attach by GET', 'pods/attach', made, at('GET', `${PODS}/p/attach`)),
  bare('portforward', 'pods/portforward', 'pods/portforward', made, at('POST', `${PODS}/p/portforward`)),
  bare('pods-proxy', 'pods/proxy without a path', 'pods/proxy', made, at('PUT', `${PODS}/p/proxy`)),
  bare('services-proxy', 'services/proxy without a path', 'services/proxy', service, at('PATCH', `${SERVICES}/s/proxy`)),
  denied('denied-attach', 'a refusal holds, though the webhook fails open', 'pods/attach', made, POST(`${PODS}/p/attach`)),
  denied('denied-proxy', 'a refusal of pods/proxy', 'pods/proxy', made, PUT(`${PODS}/p/proxy`), DELETE(`${PODS}/p/proxy`)),
];
