// How a namespace ends without the gate OrderedNamespaceDeletion: pods do not go first.
import { POST, scenario } from '../steps.ts';
import { cm, del, gone, hold, make, release, stays, until } from './kit/controllers.mjs';
import * as f from './kit/meta.mjs';

const { at, pod, secret } = f;
const s = (id, about, steps) => scenario(`controllers-unordered-${id}`, { section: 'namespace', about, needs: 'controllers-unordered' }, steps);
const ns = '/api/v1/namespaces/$ns';
const quiet = { compare: 'status' };
const shown = { pick: (b) => (b.kind === 'Status' ? b : { conditions: b.status.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message]) ?? null, phase: b.status.phase, spec: b.spec }) };
const isLeft = (b) => b.status.conditions?.find(({ type }) => type === 'NamespaceFinalizersRemaining')?.status === 'True';

export default [
  s('pod-held', 'what else there is goes before the last pod', [POST(at('pods'), pod('p', hold), quiet), make('a'), del(ns), gone(cm('a')), until(ns, isLeft, shown), release(at('pods', 'p')), gone(ns)]),
  s('both-held', 'all that is left is told', [POST(at('pods'), pod('p', hold), quiet), make('a', hold), POST(at('secrets'), secret('s'), quiet), del(ns), until(ns, isLeft, shown), ...stays(cm('a'), 500), release(cm('a')), release(at('pods', 'p')), gone(ns)]),
  s('empty', 'an empty one goes', [del(ns), gone(ns)]),
];
