// Every built-in kind in protobuf: its answer by field numbers, and a body that the reference itself encoded.
import { readFileSync } from 'node:fs';
import { scenario, POST } from '../steps.ts';
import { PROTOBUF, accept, dashed } from './kit/shapes.mjs';
import { outline } from './kit/protobuf.mjs';
import { kinds } from './kit/protobuf-kinds.mjs';

// Bodies encoded by a kube-apiserver v1.33.5 (fixtures/make-protobuf.mjs), with neither status nor managed fields.
const bodies = JSON.parse(readFileSync(new URL('../fixtures/protobuf-kinds.json', import.meta.url), 'utf8'));
const dry = { dryRun: 'All' };
/** The encoded Events speak of the namespace they were made in. */
const home = (path) => (path.endsWith('/events') ? path.replace('$ns', 'default') : path);
const content = (b) => { if (b?.kind === 'Status' || typeof b !== 'object') return b; const { managedFields: _m, ...metadata } = b.metadata; return { ...b, metadata }; };

export default kinds.flatMap(([kind, path, object]) => [
  scenario(`protobuf-encode-${dashed(kind)}`, { section: '2.7', about: `A ${kind} answered in protobuf, by field numbers` }, [POST(path, object, { ...accept(PROTOBUF), query: dry, compareHeaders: ['content-type'], pick: outline })]),
  scenario(`protobuf-decode-${dashed(kind)}`, { section: '2.7', about: `A ${kind} sent in protobuf, answered in JSON` }, [POST(home(path), Buffer.from(bodies[kind], 'base64'), { type: PROTOBUF, query: dry, pick: content })]),
]);
