// What the server accepts and refuses in a CustomResourceDefinition, apart from its schemas (crd-structural.mjs).
import { scenario, POST } from '../steps.ts';
import { CRDS, crd, version, object, string, integer, boolean, number, list, anything, tryCrd } from './kit/crd.mjs';

const section = '4.9';
const spec = object({ a: string(), n: integer(), b: boolean(), f: number(), l: list(string()), o: object({ s: string() }) });
const t = (id, about, definition, o) => tryCrd(`crd-validation-${id}`, { section, about }, definition, o);
const v = (name, more) => version(name, { spec, ...more });
const names = (n, more = {}) => crd({ spec, names: n, ...more });
const withSpec = (change) => { const c = crd({ spec }); change(c.spec, c); return c; };
const webhook = (w) => ({ strategy: 'Webhook', webhook: w });
const url = { url: 'https://example.com/convert' };

const naming = [
  t('name-mismatch', 'metadata.name must be plural.group', crd({ spec, metadata: { name: 'gadgets.$ns.example.com' } })),
  t('name-not-a-subdomain', 'metadata.name must be a DNS subdomain', crd({ spec, metadata: { name: 'Widgets_$ns' } })),
  t('group-missing', 'spec.group is required', withSpec((s) => { delete s.group; })),
  t('group-without-dot', 'spec.group needs a dot', crd({ spec, group: 'oracle' })),
  t('group-bad-characters', 'spec.group must be a DNS subdomain', crd({ spec, group: 'Example_.com' })),
  t('scope-missing', 'spec.scope is required', withSpec((s) => { delete s.scope; })),
  t('scope-unknown', 'spec.scope has two values', crd({ spec, scope: 'Global' })),
  t('plural-missing', 'names.plural is required', withSpec((s, c) => { delete s.names.plural; c.metadata.name = '.$ns.example.com'; })),
  t('kind-missing', 'names.kind is required, and so the names derived from it', withSpec((s) => { delete s.names.kind; })),
  t('plural-upper-case', 'names.plural is a DNS label', crd({ spec, plural: 'Widgets' })),
  t('plural-too-long', 'names.plural is at most 63 characters', crd({ spec, plural: 'w'.repeat(64) })),
  t('kind-bad-characters', 'names.kind may have mixed case only', names({ kind: 'Wid_get' })),
  t('kind-starts-with-digit', 'names.kind starts with a letter', names({ kind: '1Widget' })),
  t('list-kind-bad-characters', 'names.listKind may have mixed case only', names({ listKind: 'Widget.List' })),
  t('list-kind-same-as-kind', 'names.listKind differs from kind', names({ listKind: 'Widget' })),
  t('singular-bad', 'names.singular is a DNS label', names({ singular: 'My.Widget' })),
  t('short-name-bad', 'each short name is a DNS label', names({ shortNames: ['wi', 'W!', ''] })),
  t('category-bad', 'each category is a DNS label', names({ categories: ['all', 'All', '9'] })),
  t('short-name-repeated', 'repeated short names are not noticed', names({ shortNames: ['wi', 'wi'], categories: ['all', 'all'] })),
  t('singular-equals-plural', 'plural and singular may be equal', names({ singular: 'widgets' })),
  t('kind-lower-case', 'a lower-case kind is accepted', names({ kind: 'widget' })),
];

const versions = [
  t('versions-missing', 'spec.versions is required', withSpec((s) => { delete s.versions; })),
  t('versions-empty', 'spec.versions must not be empty', crd({ versions: [] })),
  t('version-name-bad', 'a version name is a DNS label', crd({ versions: [v('V1')] })),
  t('version-name-dotted', 'a version name has no dots', crd({ versions: [v('v1.2')] })),
  t('version-name-empty', 'a version name is required', crd({ versions: [v('')] })),
  t('version-name-unusual', 'a version name need not look like v1', crd({ versions: [v('foo1')] })),
  t('versions-repeated', 'version names are unique', crd({ versions: [v('v1'), v('v1', { storage: false })] })),
  t('no-storage-version', 'one version is the storage version', crd({ versions: [v('v1', { storage: false })] })),
  t('two-storage-versions', 'only one version is the storage version', crd({ versions: [v('v1'), version('v2', { spec: object() })] })),
  t('nothing-served', 'a definition may serve no version', crd({ versions: [v('v1', { served: false })] })),
  t('schema-missing', 'each version needs a schema', crd({ versions: [{ name: 'v1', served: true, storage: true }] })),
  t('schema-empty', 'an empty schema has no type', crd({ versions: [{ name: 'v1', served: true, storage: true, schema: {} }] })),
  t('schema-missing-in-unserved', 'also a version that is not served needs a schema', crd({ versions: [v('v1'), { name: 'v2', served: false, storage: false }] })),
  t('served-storage-missing', 'served and storage default to false', crd({ versions: [{ name: 'v1', schema: { openAPIV3Schema: object() } }] })),
  t('identical-schemas', 'two versions may have the same schema', crd({ versions: [v('v1'), v('v2', { storage: false })] })),
  t('deprecation-warning-without-deprecated', 'deprecationWarning needs deprecated', crd({ versions: [v('v1', { deprecationWarning: 'old' })] })),
  t('deprecation-warning-empty', 'deprecationWarning is not empty', crd({ versions: [v('v1', { deprecated: true, deprecationWarning: '' })] })),
  t('deprecation-warning-too-long', 'deprecationWarning is at most 256 bytes', crd({ versions: [v('v1', { deprecated: true, deprecationWarning: 'x'.repeat(257) })] })),
  t('deprecation-warning-unprintable', 'deprecationWarning is printable', crd({ versions: [v('v1', { deprecated: true, deprecationWarning: 'ab\ncd' })] })),
  t('deprecation-warning-256', 'a deprecationWarning of 256 bytes is accepted', crd({ versions: [v('v1', { deprecated: true, deprecationWarning: 'x'.repeat(256) })] })),
];

const misc = [
  t('preserve-unknown-fields-true', 'spec.preserveUnknownFields cannot be true', crd({ spec, extra: { preserveUnknownFields: true } })),
  t('preserve-unknown-fields-false', 'spec.preserveUnknownFields false is the default and not shown', crd({ spec, extra: { preserveUnknownFields: false } })),
  t('protected-group', 'groups under k8s.io need an approval annotation', crd({ spec, group: '$ns.k8s.io' })),
  t('protected-group-kubernetes-io', 'groups under kubernetes.io need an approval annotation', crd({ spec, group: '$ns.kubernetes.io' })),
  t('protected-group-bad-annotation', 'the approval annotation is a URL', crd({ spec, group: '$ns.k8s.io', metadata: { annotations: { 'api-approved.kubernetes.io': 'yes' } } })),
  t('protected-group-unapproved', 'an approval that starts with unapproved is accepted', crd({ spec, group: '$ns.k8s.io', metadata: { annotations: { 'api-approved.kubernetes.io': 'unapproved, experimental' } } })),
  t('protected-group-approved', 'an approval that is a URL is accepted', crd({ spec, group: '$ns.k8s.io', metadata: { annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/kubernetes/pull/1' } } })),
  t('unknown-format-warns', 'a format that the server does not know is accepted with a warning', crd({ spec: object({ a: string({ format: 'color' }), b: integer({ format: 'int32' }), c: string({ format: 'date-time' }) }) })),
  t('status-in-request', 'status is not taken from a create', { ...crd({ spec }), status: { acceptedNames: { plural: 'x', kind: 'X' }, storedVersions: ['v7'], conditions: [{ type: 'Established', status: 'True' }] } }),
  t('old-v1beta1-fields', 'fields of the former v1beta1 are unknown', crd({ spec, extra: { version: 'v1', validation: {}, subresources: {}, additionalPrinterColumns: [] } }), { query: { dryRun: 'All', fieldValidation: 'Strict' } }),
  t('wrong-types', 'a definition that does not decode is refused with 400', withSpec((s) => { s.versions[0].served = 'yes'; })),
  t('many-things-wrong', 'all errors are reported together', crd({ plural: 'Widgets', scope: 'x', names: { kind: 'a_b', shortNames: ['X'] }, versions: [v('V1', { storage: false })] }), { ignore: [] }),
];

const column = (c) => crd({ spec, additionalPrinterColumns: [].concat(c) });
const columns = [
  t('column-name-missing', 'a printer column needs a name', column({ type: 'string', jsonPath: '.spec.a' })),
  t('column-type-missing', 'a printer column needs a type', column({ name: 'A', jsonPath: '.spec.a' })),
  t('column-path-missing', 'a printer column needs a JSON path', column({ name: 'A', type: 'string' })),
  t('column-type-unknown', 'a printer column has one of five types', column({ name: 'A', type: 'object', jsonPath: '.spec.a' })),
  t('column-format-unknown', 'a printer column has one of eight formats', column({ name: 'A', type: 'string', format: 'uri', jsonPath: '.spec.a' })),
  t('column-path-without-dot', 'a JSON path starts with a dot', column({ name: 'A', type: 'string', jsonPath: 'spec.a' })),
  t('column-path-braces', 'a JSON path has no braces', column({ name: 'A', type: 'string', jsonPath: '{.spec.a}' })),
  t('column-path-filter', 'any text after the dot is accepted', column({ name: 'A', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' })),
  t('column-path-broken', 'a path that does not parse is accepted', column({ name: 'A', type: 'string', jsonPath: '.spec[' })),
  t('column-names-repeated', 'column names need not be unique', column([{ name: 'A', type: 'string', jsonPath: '.spec.a' }, { name: 'A', type: 'string', jsonPath: '.spec.a' }])),
  t('column-several-errors', 'errors of several columns', column([{ name: '', type: 'x', jsonPath: '' }, { name: 'B', type: '', format: 'x', jsonPath: 'b' }])),
];

const fields = (...paths) => crd({ spec, selectableFields: paths.map((jsonPath) => ({ jsonPath })) });
const selectable = [
  t('selectable-path-empty', 'a selectable field needs a path', fields('')),
  t('selectable-string-integer-boolean', 'strings, integers and booleans can be selected', fields('.spec.a', '.spec.n', '.spec.b', '.spec.o.s')),
  t('selectable-number', 'numbers cannot be selected', fields('.spec.f')),
  t('selectable-object', 'objects cannot be selected', fields('.spec.o')),
  t('selectable-list', 'lists cannot be selected', fields('.spec.l')),
  t('selectable-list-item', 'items of lists cannot be selected', fields('.spec.l[0]')),
  t('selectable-unknown', 'a selectable field must be in the schema', fields('.spec.zz')),
  t('selectable-metadata', 'metadata cannot be selected', fields('.metadata.name')),
  t('selectable-metadata-labels', 'labels cannot be selected', fields('.metadata.labels')),
  t('selectable-no-dot', 'a path starts with a dot', fields('spec.a')),
  t('selectable-repeated', 'selectable fields are unique', fields('.spec.a', '.spec.a')),
  t('selectable-bracket', 'bracket notation is not allowed', fields(".spec['a']")),
  t('selectable-too-many', 'at most 8 fields can be selected', crd({ spec: object(Object.fromEntries([...'abcdefghi'].map((k) => [k, string()]))), selectableFields: [...'abcdefghi'].map((k) => ({ jsonPath: `.spec.${k}` })) })),
  t('selectable-two-versions', 'selectable fields of one of two versions with different schemas', crd({ versions: [v('v1', { selectableFields: [{ jsonPath: '.spec.a' }] }), version('v2', { spec: object(), storage: false })] })),
  t('selectable-two-versions-same-schema', 'but with equal schemas they must be equal too', crd({ versions: [v('v1', { selectableFields: [{ jsonPath: '.spec.a' }] }), v('v2', { storage: false })] })),
  t('selectable-two-versions-all-same', 'equal schemas and equal selectable fields', crd({ versions: [v('v1', { selectableFields: [{ jsonPath: '.spec.a' }] }), v('v2', { storage: false, selectableFields: [{ jsonPath: '.spec.a' }] })] })),
  t('selectable-api-version', 'kind and apiVersion in the schema', crd({ spec, root: { properties: { apiVersion: string(), kind: string() } }, selectableFields: [{ jsonPath: '.kind' }] })),
];

const scale = (s, sub = {}) => crd({ spec, subresources: { ...sub, scale: s } });
const ok = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.replicas' };
const scales = [
  t('scale-empty', 'scale needs both paths', scale({})),
  t('scale-good', 'scale with the two paths', scale(ok)),
  t('scale-spec-path-elsewhere', 'specReplicasPath is under .spec', scale({ ...ok, specReplicasPath: '.status.n' })),
  t('scale-status-path-elsewhere', 'statusReplicasPath is under .status', scale({ ...ok, statusReplicasPath: '.spec.n' })),
  t('scale-selector-path-elsewhere', 'labelSelectorPath is under .spec or .status', scale({ ...ok, labelSelectorPath: '.metadata.labels' }), {}),
  t('scale-path-no-dot', 'paths start with a dot', scale({ specReplicasPath: 'spec.n', statusReplicasPath: 'status.n', labelSelectorPath: 'status.s' })),
  t('scale-path-whole-spec', 'a path must go below .spec', scale({ ...ok, specReplicasPath: '.spec' })),
  t('scale-selector-path-empty', 'an empty labelSelectorPath is accepted', scale({ ...ok, labelSelectorPath: '' })),
  t('status-root-restricted', 'with a status subresource the root schema may hold only some keywords', crd({ spec, subresources: { status: {} }, root: { oneOf: [{ required: ['spec'] }] } })),
  t('status-root-min-properties', 'minProperties at the root is not among them', crd({ spec, subresources: { status: {} }, root: { minProperties: 1 } })),
  ...Object.entries({ enum: [], anyOf: [], patternProperties: {}, 'x-kubernetes-list-map-keys': [], nullable: false, $ref: '', 'x-kubernetes-list-type': '' }).map(([keyword, empty]) =>
    t(`status-root-empty-${keyword.toLowerCase().replaceAll(/[^a-z]+/g, '')}`, `an empty ${keyword} at the root`, crd({ spec, subresources: { status: {} }, root: { [keyword]: empty } }))),
  ...['default', 'additionalProperties', 'additionalItems', 'example', 'exclusiveMaximum', 'x-kubernetes-embedded-resource', 'x-kubernetes-int-or-string'].map((keyword) =>
    t(`status-root-false-${keyword.toLowerCase().replaceAll(/[^a-z]+/g, '')}`, `${keyword} of false at the root`, crd({ spec, subresources: { status: {} }, root: { [keyword]: false } }))),
  t('status-root-required', 'required at the root is among them', crd({ spec, subresources: { status: {} }, root: { required: ['spec'] } })),
];

const conv = (conversion, more = {}) => crd({ spec, conversion, ...more });
const conversions = [
  t('conversion-strategy-unknown', 'conversion strategies are None and Webhook', conv({ strategy: 'Magic' })),
  t('conversion-strategy-empty', 'an empty strategy is refused', conv({ strategy: '' })),
  t('conversion-none-with-webhook', 'webhook is for strategy Webhook only', conv({ strategy: 'None', webhook: { clientConfig: url, conversionReviewVersions: ['v1'] } })),
  t('conversion-webhook-missing', 'strategy Webhook needs webhook', conv({ strategy: 'Webhook' })),
  t('conversion-client-config-missing', 'webhook needs clientConfig', conv(webhook({ conversionReviewVersions: ['v1'] }))),
  t('conversion-client-config-empty', 'clientConfig needs url or service', conv(webhook({ clientConfig: {}, conversionReviewVersions: ['v1'] }))),
  t('conversion-url-and-service', 'clientConfig has url or service, not both', conv(webhook({ clientConfig: { ...url, service: { namespace: 'a', name: 'b' } }, conversionReviewVersions: ['v1'] }))),
  t('conversion-url-http', 'the url is https', conv(webhook({ clientConfig: { url: 'http://example.com/' }, conversionReviewVersions: ['v1'] }))),
  t('conversion-url-user-query-fragment', 'the url has no user, query or fragment', conv(webhook({ clientConfig: { url: 'https://me@example.com/x?a=b#c' }, conversionReviewVersions: ['v1'] }))),
  t('conversion-url-relative', 'the url is absolute', conv(webhook({ clientConfig: { url: 'convert' }, conversionReviewVersions: ['v1'] }))),
  t('conversion-url-broken', 'the url parses', conv(webhook({ clientConfig: { url: 'https://exa mple.com:x/' }, conversionReviewVersions: ['v1'] }))),
  t('conversion-service-names', 'a service has a name and a namespace', conv(webhook({ clientConfig: { service: { namespace: '', name: '' } }, conversionReviewVersions: ['v1'] }))),
  t('conversion-service-path', 'a service path is absolute and plain', conv(webhook({ clientConfig: { service: { namespace: 'a', name: 'b', path: 'x//y' } }, conversionReviewVersions: ['v1'] }))),
  t('conversion-service-path-characters', 'each segment of a service path is a DNS subdomain', conv(webhook({ clientConfig: { service: { namespace: 'a', name: 'b', path: '/x/Y_z//' } }, conversionReviewVersions: ['v1'] }))),
  t('conversion-service-port', 'a service port is in range', conv(webhook({ clientConfig: { service: { namespace: 'a', name: 'b', port: 65536 } }, conversionReviewVersions: ['v1'] }))),
  t('conversion-service-default-port', 'the service port defaults to 443', conv(webhook({ clientConfig: { service: { namespace: 'a', name: 'b' } }, conversionReviewVersions: ['v1'] }))),
  t('conversion-review-versions-missing', 'conversionReviewVersions is required', conv(webhook({ clientConfig: url }))),
  t('conversion-review-versions-unknown', 'one known review version is required', conv(webhook({ clientConfig: url, conversionReviewVersions: ['v2'] }))),
  t('conversion-review-versions-repeated', 'review versions are unique', conv(webhook({ clientConfig: url, conversionReviewVersions: ['v1', 'v1'] }))),
  t('conversion-review-versions-bad', 'review versions are labels', conv(webhook({ clientConfig: url, conversionReviewVersions: ['v1', 'V.2'] }))),
  t('conversion-review-versions-v1beta1', 'v1beta1 alone is accepted', conv(webhook({ clientConfig: url, conversionReviewVersions: ['v1beta1', 'v9'] }))),
  t('conversion-ca-bundle-not-pem', 'a CA bundle that is not PEM is accepted on create', conv(webhook({ clientConfig: { ...url, caBundle: 'bm90IGEgY2VydA==' }, conversionReviewVersions: ['v1'] }))),
  t('conversion-ca-bundle-not-base64', 'a CA bundle that is not base64 does not decode', conv(webhook({ clientConfig: { ...url, caBundle: '%%%' }, conversionReviewVersions: ['v1'] }))),
];

const requests = [
  scenario('crd-validation-strict-unknown-fields', { section, namespace: false, about: 'unknown fields in a definition with Strict' }, [
    POST(CRDS, { ...crd({ spec: { ...spec, xyz: 1, nullable: false } , extra: { color: 'red' } }), mood: 'good' }, { query: { dryRun: 'All', fieldValidation: 'Strict' } }),
  ]),
  scenario('crd-validation-warn-unknown-fields', { section, namespace: false, about: 'unknown fields in a definition are dropped with warnings' }, [
    POST(CRDS, { ...crd({ spec: { ...spec, xyz: 1 } , extra: { color: 'red' } }), mood: 'good' }, { query: { dryRun: 'All' }, compareHeaders: ['warning'] }),
  ]),
  scenario('crd-validation-generate-name', { section, namespace: false, about: 'a definition cannot be named by the server' }, [
    POST(CRDS, { ...crd({ spec }), metadata: { generateName: 'widgets-' } }, { query: { dryRun: 'All' }, pick: (b) => JSON.parse(JSON.stringify(b).replace(/widgets-[a-z0-9]{5}\b/g, 'widgets-<suffix>')) }),
  ]),
  scenario('crd-validation-v1beta1-gone', { section, namespace: false, about: 'definitions exist only in v1' }, [
    POST('/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions', crd({ spec })),
    POST(CRDS, { ...crd({ spec }), apiVersion: 'apiextensions.k8s.io/v1beta1' }),
  ]),
];

export default [...naming, ...versions, ...misc, ...columns, ...selectable, ...scales, ...conversions, ...requests];
