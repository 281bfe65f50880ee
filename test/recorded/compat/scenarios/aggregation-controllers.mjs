// What controllers do about what aggregated API servers have, and while they are away. Each scenario needs a server of its own: a server that is away
// holds up every namespace.
import { DELETE, GET, POLL, POST, scenario } from '../steps.ts';
import { apiService, apiServicePath, cleanup, group, registered, service, untilReason } from './kit/aggregation.mjs';

const section = 'aggregation';
const ms = 120_000;
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const namespaces = '/api/v1/namespaces';
const other = '$ns-2';
const made = POST(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } }, { compare: 'status' });
const conditions = (body) => body?.status?.conditions?.map(({ type, status, reason, message }) => ({ type, status, reason, message }));
const conditionOf = (body, type) => body?.status?.conditions?.find((one) => one.type === type);
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list'];

/** Has one thing in every namespace, until it is told to delete it; `/asked` tells what it was told. */
const remote = (ownVerbs, { finalizers } = {}) => {
  const asked = [];
  return ({ method, path, namespace }) => {
    const [plain] = path.split('?');
    const [, root, of, version, ...rest] = plain.split('/');
    if (root !== 'apis' || version === undefined) return undefined;
    if (rest.length === 0) return { body: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${of}/${version}`, resources: [{ name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ownVerbs }, { name: 'wide', singularName: '', namespaced: false, kind: 'Wide', verbs: ownVerbs }] } };
    if (rest[0] === 'asked') return { body: { asked: asked.map((one) => one.replaceAll(namespace, '$ns')) } };
    const isOther = rest[1] === `${namespace}-2`;
    if (method === 'DELETE' && isOther) asked.push(`DELETE ${plain}`);
    const items = isOther && (finalizers !== undefined || asked.length === 0) ? [{ apiVersion: `${of}/${version}`, kind: 'Thing', metadata: { name: 'one', namespace: rest[1], uid: 'u', ...(finalizers === undefined ? {} : { finalizers }) } }] : [];
    return { body: method === 'DELETE' ? { kind: 'Status', apiVersion: 'v1', status: 'Success' } : { kind: 'ThingList', apiVersion: `${of}/${version}`, metadata: { resourceVersion: '1' }, items } };
  };
};
const v2 = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };
const untilKnown = (freshness = 'Current') => POLL('/apis', (body, _, { $ns }) => body?.items?.some(({ metadata, versions }) => metadata.name.includes($ns) && versions.every((one) => one.freshness === freshness)), { headers: v2, ms, compare: 'status' });
const on = (id, needs, about, extension, steps) => scenario(`aggregation-controllers-${id}`, { section, about, needs, cleanup: [...cleanup, `${namespaces}/${other}`], extension }, steps);
const gone = POLL(`${namespaces}/${other}`, (_, status) => status === 404, { ms, compare: 'status' });

export default [
  on('namespace', 'aggregation-controllers', 'the things of a remote server go with their namespace', remote(verbs), [...registered(), untilKnown(), made, DELETE(`${namespaces}/${other}`, undefined, { compare: 'status' }), gone, GET(`/apis/${group}/v1/asked`, { pick: ({ asked }) => [...new Set(asked)] })]),
  on('namespace-one-by-one', 'aggregation-controllers', 'of a server without deletecollection they are deleted one by one', remote(['delete', 'get', 'list']), [...registered(), untilKnown(), made, DELETE(`${namespaces}/${other}`, undefined, { compare: 'status' }), gone, GET(`/apis/${group}/v1/asked`, { pick: ({ asked }) => [...new Set(asked)] })]),
  on('namespace-no-delete', 'aggregation-controllers', 'what cannot be deleted holds up nothing', remote(['get', 'list']), [...registered(), untilKnown(), made, DELETE(`${namespaces}/${other}`, undefined, { compare: 'status' }), gone, GET(`/apis/${group}/v1/asked`)]),
  on('namespace-finalizers', 'aggregation-controllers', 'finalizers of a remote server hold up the namespace', remote(verbs, { finalizers: ['example.com/hold'] }), [...registered(), untilKnown(), made, DELETE(`${namespaces}/${other}`, undefined, { compare: 'status' }), POLL(`${namespaces}/${other}`, (body) => conditionOf(body, 'NamespaceFinalizersRemaining')?.status === 'True', { ms, pick: conditions }), DELETE(apiServicePath(), undefined, { compare: 'status' }), gone]),
  on('namespace-down', 'aggregation-controllers-down', 'a server that is away holds up a namespace', remote(verbs), [
    POST('/api/v1/namespaces/$ns/services', service(), { compare: 'status' }), POST(apiServices, apiService({ service: { namespace: '$ns', name: 'ext', port: 1 } }), { compare: 'status' }), untilReason('FailedDiscoveryCheck', { compare: 'status' }), untilKnown('Stale'), made,
    DELETE(`${namespaces}/${other}`, undefined, { compare: 'status' }), POLL(`${namespaces}/${other}`, (body) => conditionOf(body, 'NamespaceDeletionDiscoveryFailure')?.status === 'True', { ms, pick: conditions }), DELETE(apiServicePath(), undefined, { compare: 'status' }), gone,
  ]),
];
