// Webhooks that are still asked when the time of the request itself is over: the answer is that of the server's own time limit.
import { GET, PATCH, POST } from '../steps.ts';
import { CM, cm, webhook, mutating, validating, allow, hooked, called, quiet } from './kit/admission.mjs';

const hangs = () => ({ hang: true });
const shown = { query: { timeout: '1s' }, text: true, compareHeaders: ['content-type', 'retry-after', 'x-content-type-options', 'cache-control'] };
const on = (id, about, configurations, hooks, steps) => hooked(`hooks-deadline-${id}`, about, configurations, { hooks }, steps);

export default [
  on('mutating-fail', 'a mutating hook, Fail', mutating(webhook('h')), { h: hangs }, [POST(CM, cm(), shown), GET(`${CM}/c`, quiet)]),
  on('mutating-ignore', 'a mutating hook, Ignore: nothing is let through', mutating([webhook('h', { failurePolicy: 'Ignore' }), webhook('i', { failurePolicy: 'Ignore' })]), { h: hangs, i: allow }, [POST(CM, cm(), shown), GET(`${CM}/c`, quiet), called('i')]),
  on('validating-fail', 'a validating hook, Fail', validating(webhook('h')), { h: hangs }, [POST(CM, cm(), shown), GET(`${CM}/c`, quiet)]),
  on('validating-ignore', 'a validating hook, Ignore', validating(webhook('h', { failurePolicy: 'Ignore' })), { h: hangs }, [POST(CM, cm(), shown), GET(`${CM}/c`, quiet)]),
  on('yaml', 'for a client that wants YAML', validating(webhook('h')), { h: hangs }, [POST(CM, cm(), { ...shown, headers: { accept: 'application/yaml' } })]),
  on('patch', 'a patch', validating(webhook('h', { rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] }] })), { h: hangs }, [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', { data: { a: '2' } }, shown), GET(`${CM}/c`, { pick: (b) => b.data })]),
  on('own-first', 'the timeout of the hook is over before that of the request', validating(webhook('h', { timeoutSeconds: 1 })), { h: hangs }, [POST(CM, cm(), { query: { timeout: '3s' } })]),
];
