// /openapi/v2 and /openapi/v3: how they are served and what they name; no prose is recorded.
import { scenario, GET, POST, PUT, POLL } from '../steps.ts';
import { groups, isBuiltIn, dashed, accept, undescribed } from './kit/shapes.mjs';

const none = { namespace: false };
const caching = ['content-type', 'cache-control', 'vary', 'etag?', 'last-modified?', 'expires?', 'accept-ranges'];
const V2_PROTO = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const V2_PROTO_OLD = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V3_PROTO = V2_PROTO.replace('v2.', 'v3.');
const V3_PROTO_OLD = V2_PROTO_OLD.replace('v2@', 'v3@');
const ofBuiltIn = (path) => !/^\/?apis\/[^/]+/.test(path) || isBuiltIn(path.replace(/^\//, '').split('/')[1]);
const bare = (b, raw) => (raw?.base64 !== undefined ? { empty: raw.base64 === '' } : typeof b === 'string' ? b.slice(0, 60) : b?.kind === 'Status' ? b : Object.keys(b));
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
const operations = (paths) => Object.fromEntries(Object.entries(paths).filter(([p]) => ofBuiltIn(p)).map(([p, o]) => [p, Object.keys(o).filter((m) => methods.includes(m)).sort().join(' ')]));
const gvks = (schema) => (schema['x-kubernetes-group-version-kind'] ?? []).map((g) => [g.group || 'core', g.version, g.kind].join('/'));
const maskHash = (s) => s?.replace(/hash=[0-9A-F]+/, 'hash=<hash>');
const location = (h) => ({ location: maskHash(h.location) ?? null });

/** Every enumeration of a set of schemas: 'Container.imagePullPolicy' → its values. */
const enums = (schemas) => Object.fromEntries(Object.entries(schemas).flatMap(([n, d]) => Object.entries(d.properties ?? {}).flatMap(([f, p]) => [[`${n}.${f}`, p.enum], [`${n}.${f}[]`, p.items?.enum], [`${n}.${f}{}`, p.additionalProperties?.enum]]).filter(([, e]) => e)));
const builtInDefinitions = (d) => Object.fromEntries(Object.entries(d).filter(([n]) => n.startsWith('io.k8s.') && !n.includes('oracle-')));
const v2 = [
  scenario('openapi-v2-served', { section: '9.1', about: 'The v2 document as JSON, with its caching headers', ...none }, [GET('/openapi/v2', { compareHeaders: caching, pick: (b) => ({ keys: Object.keys(b), swagger: b.swagger, info: b.info && { title: b.info.title, version: b.info.version.replace(/[-+].*/, '') }, securityDefinitions: undescribed(b.securityDefinitions), security: b.security }) })]),
  scenario('openapi-v2-definition-names', { section: '9.1', about: 'The definitions of built-in kinds', ...none }, [GET('/openapi/v2', { pick: (b) => Object.keys(builtInDefinitions(b.definitions)) })]),
  scenario('openapi-v2-definition-kinds', { section: '9.1', about: 'Which definition stands for which group, version and kind', ...none }, [GET('/openapi/v2', { pick: (b) => Object.fromEntries(Object.entries(builtInDefinitions(b.definitions)).map(([n, d]) => [n, gvks(d)]).filter(([, g]) => g.length).map(([n, g]) => [n, g.length > 3 ? `${g.length} kinds` : g.join(' ')])) })]),
  scenario('openapi-v2-paths', { section: '9.1', about: 'The paths of built-in resources and their methods', ...none }, [GET('/openapi/v2', { pick: (b) => operations(b.paths) })]),
  scenario('openapi-v2-operation', { section: '9.1', about: 'An operation of each kind, without prose', ...none }, [GET('/openapi/v2', { pick: (b) => undescribed({ configmaps: b.paths['/api/v1/namespaces/{namespace}/configmaps'], configmap: b.paths['/api/v1/namespaces/{namespace}/configmaps/{name}'] }) })]),
  scenario('openapi-v2-definition', { section: '9.1', about: 'A few definitions in full, without prose', ...none }, [GET('/openapi/v2', { pick: (b) => undescribed(Object.fromEntries(['io.k8s.api.core.v1.ConfigMap', 'io.k8s.api.core.v1.ServicePort', 'io.k8s.api.core.v1.ServiceSpec', 'io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'io.k8s.apimachinery.pkg.api.resource.Quantity', 'io.k8s.apimachinery.pkg.apis.meta.v1.Time', 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', 'io.k8s.api.core.v1.Secret', 'io.k8s.api.apps.v1.Deployment', 'io.k8s.api.core.v1.Toleration'].map((n) => [n, b.definitions[n] ?? null]))) })]),
  scenario('openapi-v2-patch-markers', { section: '2.9', about: 'Which lists merge by which key, as strategic patches see it', ...none }, [GET('/openapi/v2', { pick: (b) => Object.entries(builtInDefinitions(b.definitions)).flatMap(([n, d]) => Object.entries(d.properties ?? {}).filter(([, p]) => p['x-kubernetes-patch-strategy']).map(([f, p]) => `${n.replace('io.k8s.', '')}.${f}: ${p['x-kubernetes-patch-strategy']} ${p['x-kubernetes-patch-merge-key'] ?? ''}`.trim())) })]),
  scenario('openapi-v2-list-markers', { section: '2.9', about: 'Which lists and maps are atomic, sets or maps, as apply sees it', ...none }, [GET('/openapi/v2', { pick: (b) => Object.entries(builtInDefinitions(b.definitions)).flatMap(([n, d]) => [...(d['x-kubernetes-map-type'] ? [`${n.replace('io.k8s.', '')}: ${d['x-kubernetes-map-type']}`] : []), ...Object.entries(d.properties ?? {}).filter(([, p]) => p['x-kubernetes-list-type'] ?? p['x-kubernetes-map-type']).map(([f, p]) => `${n.replace('io.k8s.', '')}.${f}: ${p['x-kubernetes-list-type'] ?? p['x-kubernetes-map-type']} ${(p['x-kubernetes-list-map-keys'] ?? []).join(',')}`.trim())]) })]),
  scenario('openapi-v2-enums', { section: '9.1', about: 'The enumerations that the v2 document declares', ...none }, [GET('/openapi/v2', { pick: (b) => enums(builtInDefinitions(b.definitions)) })]),
  ...[['none', null], ['any', '*/*'], ['application-any', 'application/*'], ['protobuf', V2_PROTO], ['protobuf-old-name', V2_PROTO_OLD], ['protobuf-then-json', `${V2_PROTO_OLD},application/json`], ['json-by-q', `${V2_PROTO};q=0.5,application/json`], ['yaml', 'application/yaml'], ['html', 'text/html'], ['html-or-any', 'text/html,*/*;q=0.1'], ['kubernetes-protobuf', 'application/vnd.kubernetes.protobuf'], ['v3-protobuf', V3_PROTO], ['json-parameter', 'application/json;charset=utf-8'], ['empty', '']]
    .map(([id, value]) => scenario(`openapi-v2-accept-${id}`, { section: '4.4', about: `/openapi/v2 with Accept ${value}`, ...none }, [GET('/openapi/v2', { ...accept(value), compareHeaders: ['content-type', 'vary'], pick: bare })])),
  scenario('openapi-v2-gzip', { section: '4.4', about: 'The v2 document compresses on request', ...none }, [GET('/openapi/v2', { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'vary', 'content-type'], pick: bare })]),
  scenario('openapi-v2-methods', { section: '9.1', about: 'Methods and neighbours of /openapi/v2', ...none }, [GET('/openapi/v2', { method: 'HEAD', compareHeaders: ['content-type', 'etag?'] }), POST('/openapi/v2', {}, { compareHeaders: ['content-type'], pick: bare }), GET('/openapi/v2/', { pick: bare }), GET('/openapi'), GET('/openapi/'), GET('/openapi/v1'), GET('/openapi/v4')]),
  scenario('openapi-v2-access', { section: '9.1', about: 'Who may read /openapi/v2', ...none }, [GET('/openapi/v2', { as: null }), GET('/openapi/v2', { as: 'bob', pick: bare })]),
  scenario('openapi-v2-timeout-parameter', { section: '9.1', about: 'The timeout that clients add is accepted', ...none }, [GET('/openapi/v2?timeout=32s', { pick: bare })]),
];

const keys = ['api', 'api/v1', 'apis', 'version', '.well-known/openid-configuration', 'openid/v1/jwks', ...Object.entries(groups).flatMap(([g, vs]) => [`apis/${g}`, ...vs.map((v) => `apis/${g}/${v}`)])];
const document = (b) => ({ openapi: b.openapi, info: { title: b.info?.title, version: b.info?.version?.replace(/[-+].*/, '') }, keys: Object.keys(b), paths: operations(b.paths ?? {}), schemas: Object.keys(b.components?.schemas ?? {}), securitySchemes: Object.keys(b.components?.securitySchemes ?? {}) });
const v3 = [
  scenario('openapi-v3-index', { section: '9.1', about: 'The index names one document for each group version', ...none }, [GET('/openapi/v3', { json: true, compareHeaders: caching, pick: (b) => ({ keys: Object.keys(b), paths: Object.fromEntries(Object.entries(b.paths).filter(([p]) => ofBuiltIn(p)).map(([p, v]) => [p, { ...v, serverRelativeURL: maskHash(v.serverRelativeURL) }])) }) }), GET('/openapi/v3/', { pick: bare })]),
  scenario('openapi-v3-index-accept', { section: '4.4', about: 'The index does not negotiate', ...none }, ['text/html', 'application/yaml', V3_PROTO, null].map((a) => GET('/openapi/v3', { ...accept(a), note: `accept ${a}`, compareHeaders: ['content-type'], pick: bare }))),
  ...keys.map((k) => scenario(`openapi-v3-document-${dashed(k)}`, { section: '9.1', about: `/openapi/v3/${k}: its paths, methods and schemas`, ...none }, [GET(`/openapi/v3/${k}`, { compareHeaders: ['content-type'], pick: document })])),
  ...keys.filter((k) => /\/v\d/.test(k) && k !== 'openid/v1/jwks').map((k) => scenario(`openapi-v3-enums-${dashed(k)}`, { section: '9.1', about: `The enumerations of /openapi/v3/${k}`, ...none }, [GET(`/openapi/v3/${k}`, { pick: (b) => enums(b.components.schemas) })])),
  scenario('openapi-v3-operation', { section: '9.1', about: 'A list and an item path in full, without prose', ...none }, [GET('/openapi/v3/apis/policy/v1', { pick: (b) => undescribed({ list: b.paths['/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets'], item: b.paths['/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets/{name}'], watch: b.paths['/apis/policy/v1/watch/namespaces/{namespace}/poddisruptionbudgets'] }) })]),
  scenario('openapi-v3-subresource-operation', { section: '9.1', about: 'Operations of subresources without prose', ...none }, [GET('/openapi/v3/api/v1', { pick: (b) => undescribed(Object.fromEntries(['log', 'eviction', 'exec', 'binding', 'proxy'].map((s) => [s, b.paths[`/api/v1/namespaces/{namespace}/pods/{name}/${s}`]]))) })]),
  scenario('openapi-v3-caching-without-hash', { section: '9.1', about: 'Without a hash the answer may be cached by its tag only', ...none }, [
    GET('/openapi/v3/apis/policy/v1', { id: 'doc', compareHeaders: caching, pick: bare }),
    GET('/openapi/v3/apis/policy/v1', { headers: { 'if-none-match': '${doc@headers.etag}' }, compareHeaders: caching, text: true }),
    GET('/openapi/v3/apis/policy/v1', { headers: { 'if-none-match': '"0"' }, compareHeaders: caching, pick: bare }),
  ]),
  scenario('openapi-v3-caching-with-hash', { section: '9.1', about: 'With its hash the answer is cacheable for ever', ...none }, [
    GET('/openapi/v3', { id: 'index', json: true, pick: () => null }),
    GET('${index.paths.apis/policy/v1.serverRelativeURL}', { id: 'doc', compareHeaders: caching, pick: bare }),
    GET('${index.paths.apis/policy/v1.serverRelativeURL}', { headers: { 'if-none-match': '${doc@headers.etag}' }, compareHeaders: caching, text: true }),
  ]),
  scenario('openapi-v3-hash-form', { section: '9.1', about: 'Hashes are upper-case SHA-512; the index itself has no ETag', ...none }, [
    GET('/openapi/v3/apis/policy/v1', { pickHeaders: (h) => ({ etag: /^"[0-9A-F]{128}"$/.test(h.etag) }), pick: () => null }),
    GET('/openapi/v3', { json: true, pickHeaders: (h) => ({ etag: h.etag ?? null }), pick: (b) => /hash=[0-9A-F]{128}$/.test(b.paths['apis/policy/v1'].serverRelativeURL) }),
  ]),
  scenario('openapi-v3-wrong-hash', { section: '9.1', about: 'A wrong hash redirects to the right one', ...none }, [GET('/openapi/v3/apis/policy/v1?hash=0123', { compareHeaders: caching, pickHeaders: location, text: true }), GET('/openapi/v3/apis/policy/v1?hash=', { compareHeaders: ['content-type', 'cache-control'], pickHeaders: location, pick: bare }), GET('/openapi/v3/apis/policy/v1?hash=0123&timeout=32s', { pickHeaders: location, text: true })]),
  ...[['none', null], ['any', '*/*'], ['protobuf', V3_PROTO], ['protobuf-old-name', V3_PROTO_OLD], ['protobuf-then-json', `${V3_PROTO},application/json`], ['yaml', 'application/yaml'], ['html', 'text/html'], ['v2-protobuf', V2_PROTO], ['empty', '']]
    .map(([id, value]) => scenario(`openapi-v3-accept-${id}`, { section: '4.4', about: `/openapi/v3/apis/policy/v1 with Accept ${value}`, ...none }, [GET('/openapi/v3/apis/policy/v1', { ...accept(value), compareHeaders: ['content-type', 'vary'], pick: bare })])),
  scenario('openapi-v3-absent', { section: '9.1', about: 'Documents that do not exist', ...none }, ['apis/nope.example.com/v1', 'apis/apps/v9', 'api/v2', 'nope', 'apis/apps/v1/', 'apis/apps/v1/deployments', 'logs'].map((p) => GET(`/openapi/v3/${p}`, { compareHeaders: ['content-type'] }))),
  scenario('openapi-v3-methods', { section: '9.1', about: 'Methods other than GET', ...none }, [GET('/openapi/v3', { method: 'HEAD', compareHeaders: ['content-type', 'etag?'] }), POST('/openapi/v3', {}, { pick: bare }), GET('/openapi/v3/apis/policy/v1', { method: 'HEAD', compareHeaders: ['content-type', 'etag?'] }), PUT('/openapi/v3/apis/policy/v1', {}, { pick: bare })]),
  scenario('openapi-v3-gzip', { section: '4.4', about: 'v3 documents compress on request', ...none }, [GET('/openapi/v3/api/v1', { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'vary'], pick: bare }), GET('/openapi/v3/version', { note: 'a small one', headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'vary'], pick: bare }), GET('/openapi/v3', { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'vary'], pick: bare })]),
  scenario('openapi-v3-access', { section: '9.1', about: 'Who may read /openapi/v3', ...none }, [GET('/openapi/v3', { as: null }), GET('/openapi/v3/api/v1', { as: null }), GET('/openapi/v3/api/v1', { as: 'bob', pick: bare })]),
];

const group = '$ns.example.com';
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `widgets.${group}` },
  spec: { group, scope: 'Namespaced', names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'], categories: ['all'] },
    versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } }, schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer', minimum: 0 }, note: { type: 'string', nullable: true, default: 'x' }, tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } }, any: { 'x-kubernetes-preserve-unknown-fields': true }, port: { 'x-kubernetes-int-or-string': true } } }, status: { type: 'object', properties: { size: { type: 'integer' } } } } } } },
      { name: 'v1beta1', served: true, storage: false, deprecated: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }, { name: 'v1alpha1', served: false, storage: false, schema: { openAPIV3Schema: { type: 'object' } } }] },
};
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const established = POLL(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`, (b) => b.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True'), { compare: 'status' });
/** Renames the keys that hold the name of the namespace: `pick` for documents that name schemas and paths by group. */
const keyed = (v, norm) => (typeof v === 'string' ? v.replace(/[oO]racle[0-9a-fA-F]{10}ExampleCom/, '<Group>') : v === null || typeof v !== 'object' ? v : Array.isArray(v) ? v.map((x) => keyed(x, norm)) : Object.fromEntries(Object.entries(v).map(([k, x]) => [norm.text(k), keyed(x, norm)])));
const crdDocument = (choose) => (b, _raw, norm) => undescribed(choose(keyed(b, norm)));
const withCrd = (id, about, steps, section = '9.1') => scenario(id, { section, about, cleanup: [`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`] }, [POST('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd, { compare: 'status' }), established, ...steps]);
const mine = (b) => b.groups.find((g) => g.name === '$ns.example.com') ?? null;
const custom = [
  withCrd('discovery-crd-group', 'A CRD adds its group with the served versions, stable ones first', [POLL(`/apis/${group}`, (b, s) => s === 200 && b.versions?.length === 2), POLL('/apis', (b, _s, { $ns }) => b.groups?.some((g) => g.name === `${$ns}.example.com`), { pick: mine })]),
  withCrd('discovery-crd-resources', 'A CRD adds its resources and subresources, with a storage version hash', [POLL(`/apis/${group}/v1`, (b, s) => s === 200 && b.resources?.length === 3, { ignore: ['resources.*.storageVersionHash'] }), GET(`/apis/${group}/v1`, { note: 'hash present', pick: (b) => b.resources.map((r) => typeof r.storageVersionHash) }), POLL(`/apis/${group}/v1beta1`, (b, s) => s === 200, { ignore: ['resources.*.storageVersionHash'] }), GET(`/apis/${group}/v1alpha1`), GET(`/apis/${group}/v1/nopes`), GET(`/apis/${group}/v1alpha1/widgets`)]),
  withCrd('discovery-crd-aggregated', 'A CRD shows up in the aggregated document', [POLL('/apis', (b, _s, { $ns }) => b.items?.some((i) => i.metadata.name === `${$ns}.example.com` && i.versions.length === 2), { headers: { accept: aggregated }, pick: (b) => b.items.find((i) => i.metadata.name === '$ns.example.com') ?? null })]),
  withCrd('discovery-crd-apiservice', 'A CRD brings an APIService for each served version', [POLL(`/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`, (b, s) => s === 200 && b.status?.conditions, { ignore: ['metadata.managedFields'] }), POLL(`/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.${group}`, (b, s) => s === 200 && b.status?.conditions, { ignore: ['metadata.managedFields'] })]),
  withCrd('openapi-crd-v3', 'A CRD is published as a v3 document', [POLL(`/openapi/v3/apis/${group}/v1`, (b, s) => s === 200 && b.components, { compareHeaders: ['content-type'], pick: crdDocument((b) => ({ openapi: b.openapi, info: b.info, paths: Object.fromEntries(Object.entries(b.paths).map(([p, o]) => [p, Object.keys(o).sort().join(' ')])), schemas: Object.keys(b.components.schemas).map((n) => n.replace(/oracle-\w+/, '$ns')), widget: b.components.schemas['com.example.$ns.v1.Widget'] })) })]),
  withCrd('openapi-crd-v3-operation', 'The operations of a custom resource, without prose', [POLL(`/openapi/v3/apis/${group}/v1`, (b, s) => s === 200 && b.components, { pick: crdDocument((b) => b.paths['/apis/$ns.example.com/v1/namespaces/{namespace}/widgets']) })]),
  withCrd('openapi-crd-v3-untyped', 'A CRD whose root preserves unknown fields', [POLL(`/openapi/v3/apis/${group}/v1beta1`, (b, s) => s === 200 && b.components, { pick: crdDocument((b) => Object.fromEntries(Object.entries(b.components.schemas).filter(([n]) => n.startsWith('com.')))) })]),
  withCrd('openapi-crd-v2', 'A CRD is published in the v2 document', [POLL('/openapi/v2', (b, _s, { $ns }) => b.definitions?.[`com.example.${$ns}.v1.Widget`] && b.definitions[`com.example.${$ns}.v1beta1.Widget`], { ms: 30000, pick: crdDocument((b) => Object.fromEntries(Object.entries(b.definitions).filter(([n]) => n.startsWith('com.example.$ns.')))) })]),
];

export default [...v2, ...v3, ...custom];
