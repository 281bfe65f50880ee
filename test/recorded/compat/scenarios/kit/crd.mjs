// What the crd-*.mjs and cel-*.mjs scenarios share: CustomResourceDefinitions in a group of their own
// ($ns.example.com), the steps that wait until they are served, and picks for answers whose order is not fixed.
import { scenario, POST, POLL, SLEEP } from '../../steps.ts';

export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const GROUP = '$ns.example.com';

export const object = (properties, more = {}) => ({ type: 'object', ...(properties ? { properties } : {}), ...more });
export const list = (items, more = {}) => ({ type: 'array', items, ...more });
export const map = (additionalProperties, more = {}) => ({ type: 'object', additionalProperties, ...more });
export const string = (more = {}) => ({ type: 'string', ...more });
export const integer = (more = {}) => ({ type: 'integer', ...more });
export const number = (more = {}) => ({ type: 'number', ...more });
export const boolean = (more = {}) => ({ type: 'boolean', ...more });
export const anything = (more = {}) => ({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...more });
export const rules = (...rs) => ({ 'x-kubernetes-validations': rs.map((r) => (typeof r === 'string' ? { rule: r } : r)) });

/** One version of a definition. `spec`/`status` are the schemas of those fields; `root` adds to the root schema, `schema` replaces it. */
export const version = (name, { spec, status, schema, root = {}, ...more } = {}) => ({
  name, served: true, storage: true,
  schema: { openAPIV3Schema: schema ?? { type: 'object', ...root, properties: { ...(spec ? { spec } : {}), ...(status ? { status } : {}), ...root.properties } } },
  ...more,
});

/** A definition of Widgets (or of what `plural` and `kind` say). Without `versions` it has one, v1, made of the rest. */
export const crd = ({ plural = 'widgets', kind = 'Widget', scope = 'Namespaced', group = GROUP, names = {}, metadata = {}, conversion, versions, extra = {}, ...v1 } = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}`, ...metadata },
  spec: { group, scope, names: { plural, kind, ...names }, versions: versions ?? [version('v1', v1)], ...(conversion ? { conversion } : {}), ...extra },
});

export const crdPath = (plural = 'widgets') => `${CRDS}/${plural}.${GROUP}`;
/** The collection of the custom resources: in $ns, or cluster-wide. */
export const at = (name, { plural = 'widgets', v = 'v1', cluster = false } = {}) =>
  `/apis/${GROUP}/${v}${cluster ? '' : '/namespaces/$ns'}/${plural}${name ? `/${name}` : ''}`;
export const widget = (name, body = {}, { v = 'v1', kind = 'Widget', metadata = {} } = {}) => ({ apiVersion: `${GROUP}/${v}`, kind, metadata: { name, ...metadata }, ...body });

export const established = (b) => b?.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True');
const outcome = (b) => (b?.kind === 'Status' ? b : 'accepted');

/** Creates the definition and waits until its resources are served, in every version. */
export const serve = (definition) => {
  const { scope, names: { plural }, versions } = definition.spec;
  return [
    POST(CRDS, definition, { pick: outcome }),
    POLL(`${CRDS}/${definition.metadata.name}`, established, { compare: 'status' }),
    ...versions.filter((v) => v.served).map((v) => POLL(at('', { plural, v: v.name, cluster: scope === 'Cluster' }), (b, s) => s === 200, { compare: 'status' })),
  ];
};

/** A scenario that first serves a definition (or several), and removes it afterwards. */
export const withCrd = (id, about, definitions, steps) => {
  const all = [].concat(definitions);
  return scenario(id, { ...about, cleanup: [...all.map((d) => `${CRDS}/${d.metadata.name}`), ...(about.cleanup ?? [])] }, [...all.flatMap(serve), ...steps]);
};

/** A scenario with one definition that is only tried (dry run): accepted, or refused with these causes. */
export const tryCrd = (id, about, definition, o = {}) =>
  scenario(id, { namespace: false, ...about }, [POST(CRDS, definition, { query: { dryRun: 'All' }, pick: noPointers, compareHeaders: ['warning'], ...o })]);

/** Some messages print whole Go values; what they hold does not matter here, only that they stand there. Types of objects in rules have random names. */
const goValue = /(\[\])?apiextensions\.(CustomResourceDefinitionVersion|JSONSchemaProps)(\(nil\)|\{.*?\})(?=: (must have exactly one|must contain unique|only \[Description))/g;
export const noPointers = (b) => JSON.parse(JSON.stringify(b ?? null).replace(goValue, '<Go value>').replace(/0x[0-9a-f]{6,}/g, '<pointer>').replace(/selfType\d+/g, 'selfType<n>'));

const byText = (a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
/** For answers with several causes in no fixed order: sorted, and without the message that repeats them in that order. */
export const sortedCauses = (b) => {
  if (b?.kind !== 'Status' || !b.details?.causes) return b;
  const { message, ...rest } = noPointers(b);
  return { ...rest, messageStart: message.split(': ')[0], details: { ...rest.details, causes: [...rest.details.causes].sort(byText) } };
};

/** Entries of managedFields that were written within one second come in the order of their managers. */
export const sortedManagers = (b) => (b?.metadata?.managedFields ? { ...b, metadata: { ...b.metadata, managedFields: [...b.metadata.managedFields].sort(byText) } } : b);

/** Just the causes, one line each, sorted. */
export const causeLines = (b) => (b?.details?.causes ? noPointers(b).details.causes.map((c) => `${c.field}: ${c.reason}: ${c.message}`).sort() : b);

/** What the answer holds besides server-set metadata. */
export const content = (b) => { if (b?.kind === 'Status' || !b?.metadata) return b; const { managedFields, uid, resourceVersion, creationTimestamp, namespace, ...metadata } = b.metadata; return { ...b, metadata }; };

/** After a change of a definition: the server starts its storage anew, answering 429 meanwhile. */
export const settled = (o) => [SLEEP(600), POLL(at('', o), (b, s) => s === 200, { compare: 'status' })];

