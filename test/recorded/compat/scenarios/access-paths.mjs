// Odd paths and what the authorizer makes of them: what it saw is what the handlers serve (§4.1, §5).
import { scenario, GET, POST, DELETE } from '../steps.ts';
import { mine, granted, grantedEverywhere, clusterCleanup, may, mayVisit, refusal } from './kit/access.mjs';

const s = (id, about, steps, o = {}) => scenario(`authzpath-${id}`, { section: '4.1', about, ...o }, steps);
const ns = '/api/v1/namespaces/$ns';
/** What came: the status and message of a failure, the kind of anything else, where a redirect leads. */
const shape = { compareHeaders: ['location', 'content-type'], pick: (b) => (b?.kind === 'Status' ? b : b?.kind ?? (typeof b === 'object' ? 'an object' : b)) };
const by = (who, ...paths) => paths.map((p) => GET(p, { ...who, ...shape }));
const admin = {}, bob = { as: 'bob' };
const secret = POST(`${ns}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'hidden' }, stringData: { k: 'v' } }, { compare: 'status' });
const map = POST(`${ns}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'seen' } }, { compare: 'status' });
const reader = granted(may('get,list', 'configmaps'));

const odd = {
  'double-slash': ['//api/v1/namespaces/$ns/configmaps', '/api//v1/namespaces/$ns/configmaps', `${ns}//configmaps`, `${ns}/configmaps//`, `${ns}/configmaps//seen`, '//version', '/healthz//ping'],
  'dot-dot': [`${ns}/configmaps/../secrets`, `${ns}/configmaps/seen/../../secrets/hidden`, '/api/v1/../v1/pods', '/version/../metrics', '/../version', `${ns}/configmaps/..`],
  'empty-group': ['/apis//v1', '/apis//v1/', '/apis//v1/nodes', '/apis//v1/namespaces/$ns/configmaps', '/apis//v1/namespaces/$ns/configmaps/seen', '/apis//v1/nopes', '/apis//', '/apis///v1/nodes', '/apis//v2/things'],
  dot: [`${ns}/./configmaps`, `${ns}/configmaps/.`, '/./version', '/version/.'],
  'escaped-slash': [`${ns}/configmaps%2Fseen`, `${ns}%2Fsecrets/hidden`, '/api%2Fv1/pods?limit=1', `${ns}/configmaps/..%2Fsecrets%2Fhidden`, '/api/v1/namespaces/$ns%2Fsecrets', '/%2Fversion', '/healthz%2Fping'],
  'escaped-dots': [`${ns}/configmaps/%2e%2e/secrets`, `${ns}/configmaps/%2E%2E%2Fsecrets`, '/version/%2e%2e/metrics', '/%2e/version'],
  'escaped-letters': ['/%76ersion', `${ns}/config%6Daps/seen`, '/%61pi/v1', `${ns}/configmaps/%73een`],
  'escaped-others': [`${ns}/configmaps/a%00b`, `${ns}/configmaps/a%0Ab`, `${ns}/configmaps/a%3Fb`, `${ns}/configmaps/a%23b`, `${ns}/configmaps/a%25b`, `${ns}/configmaps/a;b=c`, `${ns}/configmaps/a%20b`],
  'bad-escape': [`${ns}/configmaps/%zz`, '/version%', '/%', `${ns}/configmaps/%2`],
  case: ['/API/v1/pods', '/api/V1/pods', `${ns}/ConfigMaps`, '/Version', '/HEALTHZ', '/apis/APPS/v1'],
  backslash: [`${ns}\\configmaps`, '/version\\..\\metrics'],
  semicolon: [`${ns};x=y/configmaps`, '/version;x', '/healthz;/ping'],
  question: ['/version?', '/version??', `${ns}/configmaps/seen?/../../secrets`, '/version?#x'],
};
const views = Object.entries(odd).flatMap(([id, paths]) => [
  s(`${id}-admin`, `${id} by one who may do anything`, [map, secret, ...by(admin, ...paths)]),
  s(`${id}-bob`, `${id} by one who may do nothing: what the refusal names`, by(bob, ...paths)),
]);

const attempts = [
  s('reader-dot-dot', 'a reader of config maps does not come to secrets by dots', [...reader, map, secret, ...by(mine, `${ns}/configmaps/seen`, `${ns}/configmaps/../secrets/hidden`, `${ns}/configmaps/seen/../../secrets/hidden`, `${ns}/configmaps/%2e%2e/secrets/hidden`, `${ns}/configmaps/..%2fsecrets%2fhidden`)]),
  s('reader-double-slash', 'nor by doubled slashes', [...reader, map, secret, ...by(mine, `${ns}//secrets/hidden`, `${ns}/configmaps//seen`, `//api/v1/namespaces/$ns/configmaps/seen`, `/api/v1//namespaces/$ns/configmaps`)]),
  s('reader-escaped', 'nor by escapes; an escaped letter is the letter', [...reader, map, secret, ...by(mine, `${ns}/%63onfigmaps/seen`, `${ns}/%73ecrets/hidden`, `${ns}/configmaps%2fseen`, `${ns}/configmaps/seen%2f..%2f..%2fsecrets%2fhidden`)]),
  s('reader-other-namespace', 'nor to another namespace', [...reader, ...by(mine, '/api/v1/namespaces/default/../$ns/configmaps', '/api/v1/namespaces/$ns/../default/configmaps', '/api/v1/namespaces/$ns%2f..%2fdefault/configmaps', '/api/v1/namespaces//configmaps')]),
  s('reader-trailing', 'a slash at the end is authorized as without it', [...reader, map, ...by(mine, `${ns}/configmaps/`, `${ns}/configmaps/seen/`, `${ns}/configmaps/seen//`, `${ns}/secrets/`)]),
  s('reader-subresource', 'words after the name are a subresource, whatever they are', [...reader, map, ...by(mine, `${ns}/configmaps/seen/status`, `${ns}/configmaps/seen/x/y`, `${ns}/configmaps/seen/..`)]),
  s('reader-query', 'the query does not change what is asked for', [...reader, map, secret, ...by(mine, `${ns}/configmaps/seen?resource=secrets&name=hidden&namespace=kube-system`, `${ns}/configmaps?namespace=default&fieldSelector=metadata.namespace%3D$ns`)]),
  s('reader-fragment', 'nor does a fragment, which is part of the path here', [...reader, map, ...by(mine, `${ns}/configmaps/seen#x`)]),
  s('absolute-url', 'a whole URL as target', [...reader, map, ...by(mine, `https://example.com${ns}/configmaps/seen`, `http://example.com${ns}/secrets`)]),
  s('urls-prefix', 'a right on a prefix of paths', [...grantedEverywhere(mayVisit('get', '/healthz/*')), ...by(mine, '/healthz/ping', '/healthz/../metrics', '/healthz/%2e%2e/metrics', '/healthz//ping', '/healthz/..%2fmetrics')], { cleanup: clusterCleanup }),
  s('write-attempts', 'writes on odd paths', [...granted(may('create,delete', 'configmaps')), secret, POST(`${ns}/configmaps/../secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }, { ...mine, ...shape }), DELETE(`${ns}/configmaps/../secrets/hidden`, undefined, { ...mine, ...shape }), DELETE(`${ns}/configmaps/%2e%2e/secrets/hidden`, undefined, { ...mine, ...shape }), POST(`${ns}//configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }, { ...mine, ...shape }), GET(`${ns}/secrets/hidden`, refusal)]),
  s('empty-group-writes', 'writes to the core group as one without a name', [map, POST('/apis//v1/namespaces/$ns/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }, shape), DELETE('/apis//v1/namespaces/$ns/configmaps/seen', undefined, shape)]),
  s('namespace-words', 'resources named like parts of paths', by(bob, '/api/v1/namespaces/$ns/namespaces/x', '/api/v1/namespaces/namespaces/namespaces', '/api/v1/namespaces/watch/pods', '/api/v1/namespaces/$ns/watch/x', '/apis/watch/v1/namespaces/$ns/x', '/api/v1/namespaces/$ns/status', '/api/v1/namespaces/$ns/finalize/x', '/api/v1/namespaces/$ns/other')),
  s('long', 'a very long path', [GET(`${ns}/configmaps/${'x'.repeat(5000)}`, { as: 'bob', pick: (b) => ({ reason: b.reason, length: b.message.length, name: b.details.name.length }) }), GET(`/${'y/'.repeat(3000)}`, { as: 'bob', pick: (b) => ({ reason: b.reason, length: b.message.length }) })]),
  s('short', 'paths too short to be a resource', by(bob, '/api', '/api/', '/api/v1', '/api/v1/', '/apis/apps/v1/', '/apis/apps', '/apis//', '/apis/apps/v1/deployments', '/api/v1/x')),
];

export default [...views, ...attempts];
