// What becomes of a definition and of its objects while it goes, and of definitions in groups that are built in.
import { GET, POST, PUT, PATCH, DELETE, POLL, SLEEP, scenario } from '../steps.ts';
import { CRDS, GROUP, anything, at, crd, crdPath, established, integer, object, string, version, widget, withCrd } from './kit/crd.mjs';

const section = 'crd lifecycle';
const GONE = 100_000;
const held = { finalizers: ['example.com/hold'] };
const spec = object({ a: string(), replicas: integer() });
const status = object({ a: string(), replicas: integer() });
const subresources = { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } };
const going = POLL(crdPath(), (b) => b?.status?.conditions?.some((c) => c.type === 'Terminating' && c.reason === 'InstanceDeletionInProgress'), { ms: GONE, compare: 'status' });
const release = [PATCH(at('w'), 'merge', { metadata: { finalizers: null } }, { compare: 'status' }), POLL(crdPath(), (b, s) => s === 404, { compare: 'status', ms: GONE })];
const parts = (b) => (b?.kind === 'Status' ? b : [b?.spec ?? null, b?.status ?? null]);
const verbs = (b) => b?.resources?.map((r) => [r.name, r.verbs]) ?? b;

const terminating = [
  withCrd('crd-lifecycle-terminating-status', { section, about: '/status is served while the definition goes' }, crd({ spec, status, subresources }), [
    POST(at(), widget('w', { spec: { a: 'x', replicas: 1 } }, { metadata: held }), { compare: 'status' }), DELETE(crdPath(), undefined, { compare: 'status' }), going,
    GET(at('w/status'), { pick: parts }), PATCH(at('w/status'), 'merge', { status: { a: 'y' } }, { pick: parts }),
    GET(at('w'), { id: 'w', compare: 'status' }), PUT(at('w/status'), widget('w', { spec: {}, status: { a: 'z' } }, { metadata: { resourceVersion: '${w.metadata.resourceVersion}' } }), { pick: parts }),
    PUT(at('w'), widget('w', { spec: { a: 'y' } }, { metadata: { resourceVersion: '1' } }), { pick: parts }),
    ...release,
  ]),
  withCrd('crd-lifecycle-terminating-scale', { section, about: '/scale is served while the definition goes' }, crd({ spec, status, subresources }), [
    POST(at(), widget('w', { spec: { a: 'x', replicas: 1 } }, { metadata: held }), { compare: 'status' }), DELETE(crdPath(), undefined, { compare: 'status' }), going,
    GET(at('w/scale'), { pick: parts }), PATCH(at('w/scale'), 'merge', { spec: { replicas: 2 } }, { pick: parts }), GET(at('w'), { pick: parts }), POST(at('w/scale'), {}), GET(at('w/other')),
    ...release,
  ]),
  withCrd('crd-lifecycle-terminating-discovery', { section, about: 'subresources stay in discovery while the definition goes' }, crd({ spec, status, subresources }), [
    POST(at(), widget('w', {}, { metadata: held }), { compare: 'status' }), DELETE(crdPath(), undefined, { compare: 'status' }),
    POLL(`/apis/${GROUP}/v1`, (b) => !b?.resources?.[0]?.verbs?.includes('create'), { pick: verbs }), ...release,
  ]),
  withCrd('crd-lifecycle-cleaned-up-own-finalizer', { section, about: 'objects can be created again when the objects are gone and a finalizer of a client keeps the definition' }, crd({ spec, metadata: held }), [
    DELETE(crdPath(), undefined, { compare: 'status' }), POLL(crdPath(), (b) => b?.metadata?.finalizers?.length === 1, { ms: GONE, compare: 'status' }),
    POLL(`/apis/${GROUP}/v1`, (b) => b?.resources?.[0]?.verbs?.includes('create'), { pick: verbs }),
    POST(at(), widget('again', { spec: { a: 'x' } }), { pick: parts }), DELETE(at('again'), undefined, { compare: 'status' }),
    PATCH(crdPath(), 'merge', { metadata: { finalizers: null } }, { compare: 'status' }), POLL(crdPath(), (b, s) => s === 404, { compare: 'status', ms: GONE }),
  ]),
];

// Objects go through the version that is stored, served or not, and their finalizers count.
const served = (v1, v2) => [version('v1', { spec: anything(), served: v1 }), version('v2', { spec: anything(), storage: false, served: v2 })];
const stillHeld = [going, SLEEP(1500), GET(crdPath(), { pick: (b) => [b?.metadata?.finalizers ?? b, b?.status?.conditions?.find((c) => c.type === 'Terminating')?.reason] })];
const finalizers = [
  withCrd('crd-lifecycle-finalizers-storage-not-served', { section, about: 'the storage version is not served: finalizers of objects are respected' }, crd({ versions: served(false, true) }), [
    POST(at('', { v: 'v2' }), widget('w', {}, { v: 'v2', metadata: held }), { compare: 'status' }), POST(at('', { v: 'v2' }), widget('free', {}, { v: 'v2' }), { compare: 'status' }),
    DELETE(crdPath(), undefined, { compare: 'status' }), ...stillHeld, POLL(at('free', { v: 'v2' }), (b, s) => s === 404, { ms: GONE }),
    GET(at('w', { v: 'v2' }), { pick: (b) => [b?.metadata?.name ?? b, b?.metadata?.finalizers] }),
    PATCH(at('w', { v: 'v2' }), 'merge', { metadata: { finalizers: null } }, { compare: 'status' }), POLL(crdPath(), (b, s) => s === 404, { compare: 'status', ms: GONE }),
  ]),
  withCrd('crd-lifecycle-finalizers-nothing-served', { section, about: 'no version is served any longer: finalizers of objects are respected' }, crd({ versions: served(true, true) }), [
    POST(at(), widget('w', {}, { metadata: held }), { compare: 'status' }),
    PATCH(crdPath(), 'json-patch', [{ op: 'replace', path: '/spec/versions/0/served', value: false }, { op: 'replace', path: '/spec/versions/1/served', value: false }], { pick: (b) => b?.spec?.versions?.map((v) => v.served) ?? b }),
    POLL(at('w'), (b, s) => s === 404, { compare: 'status' }),
    DELETE(crdPath(), undefined, { compare: 'status' }), ...stillHeld,
    PATCH(crdPath(), 'json-patch', [{ op: 'replace', path: '/spec/versions/0/served', value: true }], { pick: (b) => b?.spec?.versions?.map((v) => v.served) ?? b }),
    POLL(at('w'), (b, s) => s === 200, { pick: (b) => [b?.metadata?.name ?? b, b?.metadata?.finalizers] }), ...release,
  ]),
];

const approved = { annotations: { 'api-approved.kubernetes.io': 'unapproved, test-only' } };
const inBuiltIn = (group, plural, kind, v = 'v1') => crd({ group, plural, kind, scope: 'Cluster', metadata: approved, versions: [version(v, { schema: anything() })] });
const shadow = (id, about, definition, steps) => {
  const path = `${CRDS}/${definition.metadata.name}`;
  return scenario(`crd-lifecycle-built-in-${id}`, { section, about, cleanup: [path] }, [
    POST(CRDS, definition, { compare: 'status' }), POLL(path, established, { pick: (b) => b?.status?.conditions?.map((c) => [c.type, c.status, c.reason].join(' ')).sort() }), SLEEP(2500),
    ...steps,
    DELETE(path, undefined, { compare: 'status' }), POLL(path, (b, s) => s === 404, { compare: 'status', ms: GONE }),
  ]);
};
const hasFoos = (b) => b?.resources?.map((r) => r.name).filter((name) => name.startsWith('foos')) ?? b;
const networking = '/apis/networking.k8s.io';
const builtIn = [
  shadow('version', 'a definition in a version that is built in is not served', inBuiltIn('networking.k8s.io', 'foos', 'Foo'), [
    GET(`${networking}/v1`, { pick: hasFoos }), GET(`${networking}/v1/foos`), POST(`${networking}/v1/foos`, { apiVersion: 'networking.k8s.io/v1', kind: 'Foo', metadata: { name: 'f' } }),
    GET('/openapi/v3/apis/networking.k8s.io/v1', { pick: (b) => Object.keys(b?.paths ?? {}).filter((path) => path.includes('foos')) }),
  ]),
  shadow('other-version', 'a definition in another version of a built-in group is not served', inBuiltIn('networking.k8s.io', 'bars', 'Bar', 'v7'), [
    GET(`${networking}/v7`), GET(`${networking}/v7/bars`), POST(`${networking}/v7/bars`, { apiVersion: 'networking.k8s.io/v7', kind: 'Foo', metadata: { name: 'f' } }),
  ]),
  shadow('same-name', 'a definition with the name of a built-in resource changes nothing of it, nor does its end', inBuiltIn('networking.k8s.io', 'ingressclasses', 'IngressClass'), [
    POST(`${networking}/v1/ingressclasses`, { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', metadata: { name: 'shadowed-$ns' }, spec: { controller: 'example.com/x' } }, { pick: (b) => b?.spec ?? b }),
    PATCH(`${CRDS}/ingressclasses.networking.k8s.io`, 'merge', { spec: { names: { shortNames: ['shadowed'] } } }, { compare: 'status' }), SLEEP(1000),
    GET(`${networking}/v1/ingressclasses/shadowed-$ns`, { pick: (b) => b?.spec ?? b }),
    GET(`${networking}/v1`, { pick: (b) => b?.resources?.map((r) => [r.name, r.shortNames ?? null]) }),
    DELETE(`${CRDS}/ingressclasses.networking.k8s.io`, undefined, { compare: 'status' }), POLL(`${CRDS}/ingressclasses.networking.k8s.io`, (b, s) => s === 404, { compare: 'status', ms: GONE }),
    GET(`${networking}/v1/ingressclasses/shadowed-$ns`, { pick: (b) => b?.spec ?? b }),
    DELETE(`${networking}/v1/ingressclasses/shadowed-$ns`, undefined, { compare: 'status' }),
    POST(CRDS, inBuiltIn('networking.k8s.io', 'ingressclasses', 'IngressClass'), { compare: 'status' }),
  ]),
  shadow('same-place', 'the objects of a built-in resource that are stored where those of the definition would be outlive it', inBuiltIn('apiregistration.k8s.io', 'apiservices', 'APIService'), [
    DELETE(`${CRDS}/apiservices.apiregistration.k8s.io`, undefined, { compare: 'status' }), POLL(`${CRDS}/apiservices.apiregistration.k8s.io`, (b, s) => s === 404, { compare: 'status', ms: GONE }),
    GET('/apis/apiregistration.k8s.io/v1/apiservices/v1.apps', { pick: (b) => b?.metadata?.name ?? b }),
    POST(CRDS, inBuiltIn('apiregistration.k8s.io', 'apiservices', 'APIService'), { compare: 'status' }),
  ]),
];

// A conversion webhook by a Service: it is looked up, and called by its cluster IP.
const byService = (port) => crd({
  versions: [version('v1', { spec: anything() }), version('v2', { spec: anything({ description: 'second' }), storage: false })],
  conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { service: { name: 'hook', namespace: '$ns', path: '/convert', ...(port ? { port } : {}) }, caBundle: '${caBundle}' } } },
});
const service = (spec) => POST('/api/v1/namespaces/$ns/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 'hook' }, spec: { ports: [{ port: 443 }], ...spec } }, { compare: 'status' });
const through = (id, about, spec, port) => scenario(`crd-lifecycle-service-${id}`, { section, about, hooks: { convert: () => ({}) }, cleanup: [crdPath()] }, [
  ...(spec ? [service(spec)] : []),
  POST(CRDS, byService(port), { compare: 'status' }), POLL(crdPath(), established, { compare: 'status' }), POLL(at(), (b, s) => s === 200, { compare: 'status' }),
  POST(at(), widget('w', { spec: { a: 1 } }), { compare: 'status' }), GET(at('w', { v: 'v2' })),
]);
const services = [
  through('missing', 'the Service is not there', undefined),
  through('no-port', 'the Service has no such port', {}, 8443),
  through('headless', 'the Service has no cluster IP', { clusterIP: 'None' }),
  through('external-name', 'the Service is a name outside of the cluster, which is called', { type: 'ExternalName', externalName: '127.0.0.1' }, 1),
];

export default [...terminating, ...finalizers, ...builtIn, ...services];
