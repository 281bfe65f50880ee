// Versions that the server has forgotten. These scenarios need a server whose history no longer reaches back to version 1
// (--with compacted): the reference compacts its store every five minutes, so it must have run for ten; or compact etcd by hand.
import { scenario, GET, WATCH, SLEEP } from '../steps.ts';
import { CM, SECRETS, EVENTS, NODES, LEASES, q, cm, event, tick, LIST, SAW_BRIEF, ENDED, make } from './kit/listwatch.mjs';

const s = (id, about, steps, o = {}) => scenario(`compacted-${id}`, { section: '7', about, needs: 'compacted', ...o }, steps);
const token = (start) => Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 1, start })).toString('base64url');

export default [
  s('list-exact', 'a list at an exact version that is gone: 410', [GET(q(CM, { resourceVersion: '1', resourceVersionMatch: 'Exact' })), GET(q(CM, { resourceVersion: '1', resourceVersionMatch: 'Exact', limit: '1' }))]),
  s('list-limit', 'a limited list at a version that is gone is exact, thus 410', [GET(q(CM, { resourceVersion: '1', limit: '1' }))]),
  s('list-notolderthan', 'a list not older than a version that is gone is fine', [...make(CM, cm('a')), SLEEP(300), LIST(CM, { resourceVersion: '1' }), LIST(CM, { resourceVersion: '1', resourceVersionMatch: 'NotOlderThan' }), LIST(CM, { resourceVersion: '1', resourceVersionMatch: 'NotOlderThan', limit: '1' })]),
  s('list-exact-name', 'a list by name at an exact version that is gone', [GET(q(CM, { resourceVersion: '1', resourceVersionMatch: 'Exact', fieldSelector: 'metadata.name=a' }))]),
  s('list-exact-cluster-scoped', 'a list of a cluster-scoped kind at a version that is gone', [GET(q(NODES, { resourceVersion: '1', resourceVersionMatch: 'Exact', labelSelector: 'own=$ns' }))], { namespace: false }),
  s('list-exact-events', 'a list of events at a version that is gone', [GET(q(EVENTS, { resourceVersion: '1', resourceVersionMatch: 'Exact' }))]),
  s('get', 'a get not older than a version that is gone is fine', [...make(CM, cm('a')), SLEEP(300), GET(q(`${CM}/a`, { resourceVersion: '1' }))]),
  s('continue', 'an expired token: 410 with a token to go on with, inconsistently', [
    ...make(CM, cm('a'), cm('b'), cm('c')), tick(), LIST(CM, { limit: '1', continue: token('a\0') }, { id: 'gone', compareHeaders: ['content-type'] }),
    LIST(CM, { limit: '1', continue: '${gone.metadata.continue}' }, { id: 'p' }), LIST(CM, { limit: '1', continue: '${p.metadata.continue}' })]),
  s('continue-no-limit', 'an expired token without limit', [...make(CM, cm('a'), cm('b')), LIST(CM, { continue: token('a\0') }, { id: 'gone' }), LIST(CM, { continue: '${gone.metadata.continue}' })]),
  s('continue-selector', 'an expired token with a selector', [...make(CM, cm('a', { l: 'x' }), cm('b'), cm('c', { l: 'x' })), LIST(CM, { limit: '1', labelSelector: 'l=x', continue: token('a\0') }, { id: 'gone' }), LIST(CM, { limit: '1', labelSelector: 'l=x', continue: '${gone.metadata.continue}' })]),
  s('continue-table', 'an expired token when a Table is asked for', [LIST(CM, { limit: '1', continue: token('a\0') }, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } })]),
  ...[['configmaps', CM], ['secrets', SECRETS], ['leases', LEASES]].map(([id, path]) => s(`watch-${id}`, 'a watch from a version that is gone: 200 with one ERROR event of status 410, and the stream ends', [WATCH('w', q(path, { watch: '1', resourceVersion: '1' })), ENDED('w', { compareHeaders: ['content-type'] })])),
  s('watch-events', 'a watch of events, which are not cached, from a version that is gone', [...make(EVENTS, event('a')), WATCH('w', q(EVENTS, { watch: '1', resourceVersion: '1' })), ENDED('w')]),
  s('watch-bookmarks', 'the same with allowWatchBookmarks', [WATCH('w', q(CM, { watch: '1', resourceVersion: '1', allowWatchBookmarks: 'true' })), ENDED('w')]),
  s('watch-selector', 'the same with selectors', [WATCH('w', q(CM, { watch: '1', resourceVersion: '1', labelSelector: 'l=x', fieldSelector: 'metadata.name=a' })), ENDED('w')]),
  s('watch-table', 'the same as Table', [WATCH('w', q(CM, { watch: '1', resourceVersion: '1' }), { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } }), ENDED('w')]),
  s('watch-partial', 'the same as PartialObjectMetadata', [WATCH('w', q(CM, { watch: '1', resourceVersion: '1' }), { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } }), ENDED('w')]),
  s('watch-prefix', 'the same under /watch/', [WATCH('w', '/api/v1/watch/namespaces/$ns/configmaps?resourceVersion=1'), ENDED('w')]),
  s('watch-then-list', 'after the 410: list afresh and watch from there', [...make(CM, cm('a')), WATCH('w', q(CM, { watch: '1', resourceVersion: '1' })), ENDED('w', { pick: (e) => e.map((x) => [x.type, x.object.code]) }), LIST(CM, {}, { id: 'l' }), SLEEP(50), WATCH('again', q(CM, { watch: '1', resourceVersion: '${l.metadata.resourceVersion}' })), ...make(CM, cm('b')), SAW_BRIEF('again', 1)]),
];
