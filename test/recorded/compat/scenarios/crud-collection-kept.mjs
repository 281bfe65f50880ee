// Deletions of a collection, of kinds that have rules of their own for the deletion of one object.
import { scenario, GET, POST, DELETE, POLL } from '../steps.ts';

const PRIORITY = '/apis/scheduling.k8s.io/v1/priorityclasses';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const outcome = (body) => (body.kind === 'Status' ? body : { kind: body.kind, items: body.items.map(({ metadata }) => metadata.name) });
const name = 'things.$ns.example.com';
const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name, labels: { of: '$ns' } }, spec: { group: '$ns.example.com', scope: 'Namespaced', names: { kind: 'Thing', plural: 'things' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] } };
const established = (body, status) => status === 200 && (body.status?.conditions ?? []).some(({ type, status: value }) => type === 'Established' && value === 'True');

export default [
  scenario('crud-collection-kept-priority-class', { section: '4.9', about: 'a class of the system cannot be deleted by name, but as one of a collection' }, [
    DELETE(`${PRIORITY}/system-node-critical`, undefined, { query: { dryRun: 'All' } }),
    DELETE(PRIORITY, undefined, { query: { dryRun: 'All', fieldSelector: 'metadata.name=system-node-critical' }, pick: outcome }),
    GET(`${PRIORITY}/system-node-critical`, { pick: (body) => body.value }),
  ]),
  scenario('crud-collection-kept-definition', { section: '4.9', about: 'definitions deleted as a collection, with objects', cleanup: [`${DEFINITIONS}/${name}`] }, [
    POST(DEFINITIONS, definition, { compare: 'status' }), POLL(`${DEFINITIONS}/${name}`, established, { compare: 'status' }),
    DELETE(DEFINITIONS, undefined, { query: { dryRun: 'All', labelSelector: 'of=$ns' }, pick: outcome }), GET(`${DEFINITIONS}/${name}`, { pick: (body) => body.metadata.finalizers ?? null }),
    DELETE(DEFINITIONS, undefined, { query: { labelSelector: 'of=$ns' }, pick: outcome }), POLL(`${DEFINITIONS}/${name}`, (_, status) => status === 404, { compare: 'status' }),
  ]),
];
