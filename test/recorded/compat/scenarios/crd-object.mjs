// The life of a CustomResourceDefinition: creation and conditions, updates, name conflicts, deletion, its status and its table.
import { scenario, GET, POST, PUT, PATCH, DELETE, APPLY, POLL, WATCH, WATCHED, SLEEP } from '../steps.ts';
import { CRDS, GROUP, crd, crdPath, at, widget, version, object, string, integer, withCrd, serve, established, noPointers, sortedManagers } from './kit/crd.mjs';

const section = '9.1';
const spec = object({ a: string(), n: integer() });
const condition = (type, status) => (b) => b?.status?.conditions?.some((c) => c.type === type && c.status === status);
const one = (id, about, definition, steps, more = {}) => scenario(`crd-object-${id}`, { section, about, namespace: false, cleanup: [crdPath()], ...more }, [POST(CRDS, definition, { id: 'crd', compare: 'status' }), POLL(crdPath(), established, { id: 'made', compare: 'status' }), ...steps]);
const status = (b) => b?.status ?? b;
const names = (b) => ({ generation: b?.metadata?.generation, names: b?.spec?.names, accepted: b?.status?.acceptedNames, stored: b?.status?.storedVersions, conditions: b?.status?.conditions, ...(b?.kind === 'Status' ? { refused: b } : {}) });

const creation = [
  scenario('crd-object-minimal', { section, about: 'the smallest definition: defaults at creation, then its conditions', namespace: false, cleanup: [crdPath()] }, [
    POST(CRDS, crd({ schema: object() })),
    POLL(crdPath(), established, { pick: sortedManagers }),
  ]),
  scenario('crd-object-full-names', { section, about: 'all names given: they become the accepted names', namespace: false, cleanup: [crdPath()] }, [
    POST(CRDS, crd({ spec, names: { singular: 'gizmo', listKind: 'WidgetCollection', shortNames: ['wi', 'wd'], categories: ['all', 'things'] } }), { pick: (b) => b?.spec?.names }),
    POLL(crdPath(), established, { pick: status }),
  ]),
  scenario('crd-object-every-part', { section, about: 'what a definition with all optional parts looks like when read back', namespace: false, cleanup: [crdPath()] }, [
    POST(CRDS, crd({ scope: 'Cluster', versions: [
      version('v1', { spec: { ...spec, description: 'words' }, subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n', labelSelectorPath: '.status.sel' } }, additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a', description: 'the a', format: 'byte', priority: 1 }], selectableFields: [{ jsonPath: '.spec.a' }] }),
      version('v1beta1', { spec, storage: false, served: false, deprecated: true, deprecationWarning: 'do not use' }),
    ] })),
    POLL(crdPath(), established, { pick: (b) => b?.spec }),
  ]),
  scenario('crd-object-already-exists', { section, about: 'creating a definition twice', namespace: false, cleanup: [crdPath()] }, [
    POST(CRDS, crd({ spec }), { compare: 'status' }), POST(CRDS, crd({ spec })),
  ]),
  scenario('crd-object-not-found', { section, about: 'a definition that does not exist', namespace: false }, [
    GET(crdPath()), DELETE(crdPath()), GET(`${crdPath()}/status`),
    PUT(crdPath(), { ...crd({ spec }), metadata: { name: 'widgets.$ns.example.com', resourceVersion: '1' } }),
  ]),
  scenario('crd-object-not-served-before-established', { section, about: 'paths of a group that no definition defines', namespace: false }, [
    GET(`/apis/${GROUP}`), GET(`/apis/${GROUP}/v1`), GET(`/apis/${GROUP}/v1/widgets`, { compareHeaders: ['content-type'] }), POST(`/apis/${GROUP}/v1/namespaces/default/widgets`, widget('w')),
  ]),
  scenario('crd-object-apply', { section, about: 'a definition made and changed by server-side apply', namespace: false, cleanup: [crdPath()] }, [
    APPLY(crdPath(), 'me', crd({ spec })),
    POLL(crdPath(), established, { compare: 'status' }),
    APPLY(crdPath(), 'me', crd({ spec: object({ a: string() }), names: { shortNames: ['wi'] } }), { pick: sortedManagers }),
  ]),
  scenario('crd-object-watch', { section, about: 'the events of a definition from creation to Established', namespace: false, cleanup: [crdPath()] }, [
    WATCH('w', CRDS, { query: { watch: 'true', fieldSelector: 'metadata.name=widgets.$ns.example.com' } }),
    POST(CRDS, crd({ spec }), { compare: 'status' }),
    WATCHED('w', { events: 3, pick: (es) => es.map((e) => [e.type, e.object.metadata.generation, e.object.status.conditions?.map((c) => `${c.type}=${c.status} ${c.reason} ${c.message}`), e.object.status.acceptedNames]) }),
  ]),
];

const updates = [
  one('update-requires-resource-version', 'PUT needs the resource version', crd({ spec }), [PUT(crdPath(), crd({ spec }))]),
  one('update-conflict', 'PUT with an old resource version', crd({ spec }), [PUT(crdPath(), { ...crd({ spec }), metadata: { name: 'widgets.$ns.example.com', resourceVersion: '${crd.metadata.resourceVersion}' } })]),
  one('update-generation', 'a change of the spec raises the generation, a change of metadata does not', crd({ spec }), [
    PATCH(crdPath(), 'merge', { spec: { names: { shortNames: ['wi'] } } }, { pick: (b) => b?.metadata?.generation }),
    PATCH(crdPath(), 'merge', { metadata: { labels: { a: 'b' } } }, { pick: (b) => b?.metadata?.generation }),
    PATCH(crdPath(), 'merge', { spec: { names: { shortNames: ['wi'] } } }, { pick: (b) => b?.metadata?.generation }),
  ]),
  one('update-scope', 'the scope cannot change', crd({ spec }), [PATCH(crdPath(), 'merge', { spec: { scope: 'Cluster' } })]),
  one('update-kind', 'the kind cannot change', crd({ spec }), [PATCH(crdPath(), 'merge', { spec: { names: { kind: 'Gadget' } } })]),
  one('update-group', 'the group cannot change', crd({ spec }), [PATCH(crdPath(), 'merge', { spec: { group: 'other.example.com' } })]),
  one('update-plural', 'the plural cannot change', crd({ spec }), [PATCH(crdPath(), 'merge', { spec: { names: { plural: 'gadgets' } } })]),
  one('update-list-kind-and-singular', 'list kind and singular can change, and are accepted', crd({ spec }), [
    PATCH(crdPath(), 'merge', { spec: { names: { listKind: 'Widgets', singular: 'gizmo', shortNames: ['gz'], categories: ['all'] } } }, { compare: 'status' }),
    POLL(crdPath(), (b) => b?.status?.acceptedNames?.singular === 'gizmo', { pick: names }),
  ]),
  one('update-remove-list-kind', 'removed names are defaulted again', crd({ spec, names: { listKind: 'Widgets', singular: 'gizmo' } }), [
    PATCH(crdPath(), 'merge', { spec: { names: { listKind: null, singular: null } } }, { pick: (b) => b?.spec?.names }),
  ]),
  one('update-remove-stored-version', 'a version that was stored cannot be removed', crd({ spec }), [
    PATCH(crdPath(), 'merge', { spec: { versions: [version('v2', { spec })] } }, { pick: noPointers }),
  ]),
  one('update-change-storage-version', 'a new storage version is added to storedVersions', crd({ spec }), [
    PATCH(crdPath(), 'merge', { spec: { versions: [version('v1', { spec, storage: false }), version('v2', { spec })] } }, { pick: names }),
  ]),
  one('update-remove-unstored-version', 'a version that was never stored can be removed', crd({ versions: [version('v1', { spec }), version('v2', { spec, storage: false })] }), [
    PATCH(crdPath(), 'merge', { spec: { versions: [version('v1', { spec })] } }, { pick: names }),
  ]),
  one('update-no-storage-version', 'the storage version cannot be dropped', crd({ spec }), [
    PATCH(crdPath(), 'json-patch', [{ op: 'replace', path: '/spec/versions/0/storage', value: false }], { pick: noPointers }),
  ]),
  one('update-stored-versions-migration', 'storedVersions is shortened through the status, then the version can go', crd({ spec }), [
    PATCH(crdPath(), 'merge', { spec: { versions: [version('v1', { spec, storage: false }), version('v2', { spec })] } }, { pick: (b) => b?.status?.storedVersions }),
    PATCH(`${crdPath()}/status`, 'merge', { status: { storedVersions: ['v2'] } }, { pick: (b) => b?.status?.storedVersions ?? b }),
    PATCH(crdPath(), 'merge', { spec: { versions: [version('v2', { spec })] } }, { pick: (b) => b?.spec?.versions?.map((v) => v.name) ?? b }),
  ]),
  one('update-status-through-main', 'status in a PUT of the definition is ignored', crd({ spec }), [
    PATCH(crdPath(), 'merge', { status: { storedVersions: ['v9'], conditions: [] } }, { pick: names }),
  ]),
  one('status-put-ignores-spec', 'a write of the status does not change the spec', crd({ spec }), [
    PATCH(`${crdPath()}/status`, 'merge', { metadata: { labels: { a: 'b' } }, spec: { names: { shortNames: ['zz'] } }, status: { storedVersions: ['v1', 'v0'] } }, { pick: (b) => ({ labels: b?.metadata?.labels ?? null, ...names(b) }) }),
    GET(`${crdPath()}/status`, { pick: (b) => [b.kind, b.status.storedVersions] }),
  ]),
  one('status-bad-accepted-names', 'accepted names in the status are validated', crd({ spec }), [
    PATCH(`${crdPath()}/status`, 'merge', { status: { acceptedNames: { plural: 'Not Good', kind: 'K' } } }),
  ]),
  one('status-empty-stored-versions', 'storedVersions may be emptied through the status', crd({ spec }), [
    PATCH(`${crdPath()}/status`, 'merge', { status: { storedVersions: [] } }, { pick: names }),
    PATCH(crdPath(), 'merge', { metadata: { labels: { a: 'b' } } }, { pick: names }),
  ]),
  one('strategic-merge', 'strategic merge patch of a definition', crd({ spec }), [
    PATCH(crdPath(), 'strategic', { spec: { names: { shortNames: ['wi'] } } }, { pick: names }),
  ]),
  one('ca-bundle-after-established', 'once established, a CA bundle must be PEM', crd({ spec }), [
    PATCH(crdPath(), 'merge', { spec: { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com/', caBundle: 'bm90IGEgY2VydA==' } } } } }),
  ]),
  one('conversion-back-to-none', 'going back to strategy None leaves webhook settings to be removed', crd({ spec, conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com/' } } } }), [
    PATCH(crdPath(), 'merge', { spec: { conversion: { strategy: 'None' } } }),
    PATCH(crdPath(), 'merge', { spec: { conversion: { strategy: 'None', webhook: null } } }, { pick: (b) => b?.spec?.conversion ?? b }),
    PATCH(crdPath(), 'merge', { spec: { conversion: null } }, { pick: (b) => b?.spec?.conversion ?? b }),
  ]),
  scenario('crd-object-invalid-ca-bundle-on-create', { section, about: 'a definition created with a bad CA bundle is not established', namespace: false, cleanup: [crdPath()] }, [
    POST(CRDS, crd({ spec, conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com/', caBundle: 'bm90IGEgY2VydA==' } } } }), { compare: 'status' }),
    POLL(crdPath(), condition('Established', 'False'), { compare: 'status' }),
    SLEEP(1000),
    GET(crdPath(), { pick: status }),
  ]),
  one('kubernetes-group-conditions', 'a definition in a protected group carries a condition about its approval', crd({ spec }), [
    POST(CRDS, crd({ spec, group: '$ns.k8s.io', metadata: { annotations: { 'api-approved.kubernetes.io': 'unapproved, test' } } }), { compare: 'status' }),
    POLL(`${CRDS}/widgets.$ns.k8s.io`, condition('KubernetesAPIApprovalPolicyConformant', 'False'), { compare: 'status' }),
    POLL(`${CRDS}/widgets.$ns.k8s.io`, condition('Established', 'True'), { pick: (b) => b?.status?.conditions?.map(({ lastTransitionTime, ...c }) => c).sort((a, c) => (a.type < c.type ? -1 : 1)) }),
    PATCH(`${CRDS}/widgets.$ns.k8s.io`, 'merge', { metadata: { annotations: { 'api-approved.kubernetes.io': 'nonsense' } } }),
    PATCH(`${CRDS}/widgets.$ns.k8s.io`, 'merge', { metadata: { annotations: { 'api-approved.kubernetes.io': null } } }),
    PATCH(`${CRDS}/widgets.$ns.k8s.io`, 'merge', { metadata: { annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/kubernetes/pull/1' } } }, { compare: 'status' }),
    POLL(`${CRDS}/widgets.$ns.k8s.io`, condition('KubernetesAPIApprovalPolicyConformant', 'True'), { pick: (b) => b?.status?.conditions?.map(({ lastTransitionTime, ...c }) => c).sort((a, c) => (a.type < c.type ? -1 : 1)) }),
  ], { cleanup: [crdPath(), `${CRDS}/widgets.$ns.k8s.io`] }),
];

const clash = (id, about, first, second, steps = []) => scenario(`crd-object-conflict-${id}`, { section, about, namespace: false, cleanup: [`${CRDS}/${first.metadata.name}`, `${CRDS}/${second.metadata.name}`] }, [
  POST(CRDS, first, { compare: 'status' }), POLL(`${CRDS}/${first.metadata.name}`, established, { compare: 'status' }),
  POST(CRDS, second, { compare: 'status' }), POLL(`${CRDS}/${second.metadata.name}`, condition('NamesAccepted', 'False'), { compare: 'status' }),
  SLEEP(700), GET(`${CRDS}/${second.metadata.name}`, { pick: status }), ...steps,
]);
const gadget = (n) => crd({ plural: 'gadgets', kind: 'Gadget', spec, names: n });
const conflicts = [
  clash('kind', 'two definitions of one group with the same kind', crd({ spec }), gadget({ kind: 'Widget', listKind: 'GadgetList', singular: 'gadget' }), [GET(`/apis/${GROUP}/v1/gadgets`)]),
  clash('list-kind', 'the same list kind', crd({ spec }), gadget({ listKind: 'WidgetList' })),
  clash('kind-and-list-kind', 'a kind that is a list kind of another', crd({ spec }), gadget({ kind: 'WidgetList', listKind: 'GadgetList', singular: 'gadget' })),
  clash('singular', 'the same singular', crd({ spec }), gadget({ singular: 'widget' })),
  clash('short-name', 'the same short name', crd({ spec, names: { shortNames: ['w'] } }), gadget({ shortNames: ['g', 'w'] })),
  clash('short-name-is-plural', 'a short name that is the plural of another', crd({ spec }), gadget({ shortNames: ['widgets'] })),
  clash('several', 'several conflicts', crd({ spec, names: { shortNames: ['w'] } }), gadget({ kind: 'Widget', singular: 'widget', shortNames: ['w'] })),
  clash('resolved', 'a conflict ends when the other definition goes', crd({ spec }), gadget({ singular: 'widget' }), [
    DELETE(crdPath(), undefined, { compare: 'status' }), POLL(`${CRDS}/gadgets.$ns.example.com`, established, { ms: 100000, pick: status }),
  ]),
  clash('resolved-by-rename', 'a conflict ends when the names change', crd({ spec }), gadget({ singular: 'widget' }), [
    PATCH(`${CRDS}/gadgets.$ns.example.com`, 'merge', { spec: { names: { singular: 'gadget' } } }, { compare: 'status' }), POLL(`${CRDS}/gadgets.$ns.example.com`, established, { pick: status }),
  ]),
  scenario('crd-object-conflict-other-group', { section, about: 'the same names in another group do not conflict', namespace: false, cleanup: [crdPath(), `${CRDS}/widgets.$ns-b.example.com`] }, [
    POST(CRDS, crd({ spec, names: { shortNames: ['w'] } }), { compare: 'status' }), POLL(crdPath(), established, { compare: 'status' }),
    POST(CRDS, crd({ spec, group: '$ns-b.example.com', names: { shortNames: ['w'] } }), { compare: 'status' }), POLL(`${CRDS}/widgets.$ns-b.example.com`, established, { pick: status }),
  ]),
  scenario('crd-object-conflict-after-established', { section, about: 'an established definition that takes a used name keeps the names it had', namespace: false, cleanup: [crdPath(), crdPath('gadgets')] }, [
    POST(CRDS, crd({ spec }), { compare: 'status' }), POLL(crdPath(), established, { compare: 'status' }),
    POST(CRDS, gadget({}), { compare: 'status' }), POLL(crdPath('gadgets'), established, { compare: 'status' }),
    PATCH(crdPath('gadgets'), 'merge', { spec: { names: { singular: 'widget', shortNames: ['gg'] } } }, { compare: 'status' }),
    POLL(crdPath('gadgets'), condition('NamesAccepted', 'False'), { pick: names }),
  ]),
];

/** Definitions are removed by a few workers of the server, which can be busy with others for a minute. */
const GONE = 100000;
const hasWidget = (name, metadata = {}) => POST(at(), widget(name, { spec: { a: 'x' } }, { metadata }), { compare: 'status' });
const deletion = [
  withCrd('crd-object-delete', { section, about: 'deleting a definition: it waits for a finalizer, then it and its resources are gone' }, crd({ spec }), [
    hasWidget('one'),
    DELETE(crdPath(), undefined, { pick: sortedManagers }),
    POLL(crdPath(), (b, s) => s === 404, { ms: GONE }),
    POLL(at(), (b, s) => s === 404, { compareHeaders: ['content-type'] }),
    GET(at('one')),
  ]),
  withCrd('crd-object-delete-blocked', { section, about: 'a resource with a finalizer holds up the deletion of its definition; meanwhile nothing can be created' }, crd({ spec }), [
    hasWidget('one', { finalizers: ['example.com/hold'] }), hasWidget('two'),
    DELETE(crdPath(), undefined, { compare: 'status' }),
    POLL(at('two'), (b, s) => s === 404, { ms: GONE }),
    POLL(crdPath(), (b) => b?.status?.conditions?.some((c) => c.type === 'Terminating' && c.reason === 'InstanceDeletionInProgress'), { ms: GONE, pick: (b) => [b?.metadata?.finalizers, b?.status?.conditions] }),
    GET(at('one'), { pick: (b) => [b?.metadata?.name, b?.metadata?.finalizers, b?.metadata?.deletionTimestamp] }),
    POST(at(), widget('three')),
    PATCH(at('one'), 'merge', { spec: { a: 'changed' } }, { pick: (b) => b?.spec ?? b }),
    PATCH(at('one'), 'merge', { metadata: { finalizers: null } }, { compare: 'status' }),
    POLL(crdPath(), (b, s) => s === 404, { compare: 'status', ms: GONE }),
  ]),
  withCrd('crd-object-delete-blocked-apply', { section, about: 'server-side apply can still create while the definition is going' }, crd({ spec }), [
    hasWidget('one', { finalizers: ['example.com/hold'] }),
    DELETE(crdPath(), undefined, { compare: 'status' }),
    POLL(crdPath(), (b) => b?.status?.conditions?.some((c) => c.type === 'Terminating' && c.reason === 'InstanceDeletionInProgress'), { ms: GONE, compare: 'status' }),
    APPLY(at('four'), 'me', widget('four'), { pick: (b) => b?.metadata?.name ?? b }),
    DELETE(at(), undefined, { compare: 'status' }),
    PATCH(at('one'), 'merge', { metadata: { finalizers: null } }, { compare: 'status' }),
  ]),
  withCrd('crd-object-delete-own-finalizer', { section, about: 'a finalizer of our own on the definition is kept next to the server\'s' }, crd({ spec, metadata: { finalizers: ['example.com/mine'] } }), [
    DELETE(crdPath(), undefined, { pick: (b) => [b?.metadata?.finalizers, b?.status?.conditions?.map((c) => [c.type, c.status, c.reason])] }),
    POLL(crdPath(), (b) => b?.metadata?.finalizers?.length === 1, { ms: GONE, pick: (b) => [b?.metadata?.finalizers, b?.status?.conditions?.map((c) => [c.type, c.status, c.reason, c.message])] }),
    PATCH(crdPath(), 'merge', { metadata: { finalizers: null } }, { compare: 'status' }),
    POLL(crdPath(), (b, s) => s === 404, { compare: 'status', ms: GONE }),
  ]),
  withCrd('crd-object-delete-dry-run', { section, about: 'a dry-run deletion leaves the definition' }, crd({ spec }), [
    DELETE(crdPath(), undefined, { query: { dryRun: 'All' }, pick: (b) => b?.kind === 'Status' ? b : [b.kind, b.metadata.finalizers ?? null, b.status.conditions.map((c) => c.type)] }),
    GET(crdPath(), { pick: (b) => [b.metadata.deletionTimestamp ?? null, b.metadata.finalizers ?? null] }),
  ]),
  withCrd('crd-object-delete-precondition', { section, about: 'deleting with the uid of another definition' }, crd({ spec }), [
    DELETE(crdPath(), { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: '00000000-0000-4000-8000-000000000000' } }),
  ]),
  withCrd('crd-object-delete-watchers', { section, about: 'a watch of the resources sees them deleted, then ends' }, crd({ spec }), [
    hasWidget('one'),
    WATCH('w', at(), { query: { watch: 'true' } }),
    DELETE(crdPath(), undefined, { compare: 'status' }),
    WATCHED('w', { events: 2, ms: GONE, pick: (es) => es.map((e) => [e.type, e.object.metadata?.name ?? e.object]) }),
  ]),
  withCrd('crd-object-recreate', { section, about: 'a definition made again after its deletion starts with no resources' }, crd({ spec }), [
    hasWidget('one'),
    DELETE(crdPath(), undefined, { compare: 'status' }), POLL(crdPath(), (b, s) => s === 404, { compare: 'status', ms: GONE }),
    ...serve(crd({ spec })), GET(at(), { pick: (b) => b.items }),
  ]),
  scenario('crd-object-delete-collection', { section, about: 'definitions deleted by label', namespace: false, cleanup: [crdPath(), crdPath('gadgets')] }, [
    POST(CRDS, crd({ spec, metadata: { labels: { run: '$ns' } } }), { compare: 'status' }), POST(CRDS, { ...gadget({}), metadata: { name: 'gadgets.$ns.example.com', labels: { run: '$ns' } } }, { compare: 'status' }),
    POLL(crdPath(), established, { compare: 'status' }), POLL(crdPath('gadgets'), established, { compare: 'status' }),
    DELETE(CRDS, undefined, { query: { labelSelector: 'run=$ns' }, pick: (b) => [b.kind, b.items?.map((i) => [i.metadata.name, i.metadata.finalizers, i.status.conditions.map((c) => c.type)])] }),
    POLL(CRDS, (b) => b?.items?.length === 0, { ms: GONE, query: { labelSelector: 'run=$ns' }, pick: (b) => b.items }),
  ]),
];

const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
const tables = [
  scenario('crd-object-table', { section, about: 'definitions as a table', namespace: false, cleanup: [crdPath()] }, [
    POST(CRDS, crd({ spec, metadata: { labels: { run: '$ns' } } }), { compare: 'status' }),
    POLL(crdPath(), established, { compare: 'status' }),
    GET(CRDS, { query: { labelSelector: 'run=$ns' }, headers: table, pick: (b) => ({ columns: b.columnDefinitions?.map(({ description, ...c }) => c), cells: b.rows?.map((r) => r.cells.map((c) => String(c).replace('$ns', 'ns'))) }) }),
  ]),
  scenario('crd-object-field-selectors', { section, about: 'definitions by field selector', namespace: false, cleanup: [crdPath()] }, [
    POST(CRDS, crd({ spec }), { compare: 'status' }),
    GET(CRDS, { query: { fieldSelector: 'metadata.name=widgets.$ns.example.com' }, pick: (b) => b.items?.map((i) => i.metadata.name) }),
    GET(CRDS, { query: { fieldSelector: 'spec.group=$ns.example.com' } }),
  ]),
];

export default [...creation, ...updates, ...conflicts, ...deletion, ...tables];
