// flowcontrol.apiserver.k8s.io/v1: FlowSchema and PriorityLevelConfiguration.
import { scenario, POST, PATCH, POLL } from '../steps.ts';
import { kind, tidy } from './kit/kinds-groups.mjs';

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
/** The level does not exist, so that the schema takes part in nothing. */
const schema = kind({ apiVersion, resource: 'flowschemas', kind: 'FlowSchema', cluster: true, base: { spec: { priorityLevelConfiguration: { name: '$ns-absent' } } } });
const level = kind({ apiVersion, resource: 'prioritylevelconfigurations', kind: 'PriorityLevelConfiguration', cluster: true, label: 'prioritylevel', base: { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } } } });

const user = { kind: 'User', user: { name: '$ns-u' } };
const resources = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] };
const urls = { verbs: ['get'], nonResourceURLs: ['/x'] };
const rule = (o) => ({ 'spec.rules': [{ subjects: [user], nonResourceRules: [urls], ...o }] });
const subject = (s) => rule({ subjects: [s] });
const resourceRule = (o) => rule({ nonResourceRules: undefined, resourceRules: [{ ...resources, ...o }] });
const urlRule = (o) => rule({ nonResourceRules: [{ ...urls, ...o }] });
const limited = (o) => ({ 'spec.limited': { limitResponse: { type: 'Reject' }, ...o } });
const queuing = (q) => limited({ limitResponse: { type: 'Queue', ...(q === undefined ? {} : { queuing: q }) } });
const dryRun = { query: { dryRun: 'All' }, pick: tidy };
/** The server itself notes on a new schema that its level is missing; wait for that note. */
const noted = POLL(schema.item, (b) => b.status?.conditions?.length > 0, { compare: 'status' });

export default [
  // FlowSchema: the server writes its status soon after, so creates are dry runs.
  ...schema.accepts({
    minimal: {},
    maximal: { spec: { priorityLevelConfiguration: { name: '$ns-absent' }, matchingPrecedence: 10000, distinguisherMethod: { type: 'ByNamespace' }, rules: [
      { subjects: [user, { kind: 'Group', group: { name: 'g' } }, { kind: 'ServiceAccount', serviceAccount: { name: 's', namespace: 'n' } }, { kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'n' } }], resourceRules: [resources, { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true }], nonResourceRules: [urls, { verbs: ['*'], nonResourceURLs: ['*'] }] }] } },
    'matching-precedence': [{ 'spec.matchingPrecedence': 0 }, { 'spec.matchingPrecedence': 2 }],
    distinguisher: { 'spec.distinguisherMethod': { type: 'ByUser' } },
    'status-and-generation': { 'metadata.generation': 7, status: { conditions: [{ type: 'Dangling', status: 'True' }] } },
    urls: ['/', '/a/*', '/a/b', '*'].map((u) => urlRule({ nonResourceURLs: [u] })),
    'cluster-scope-with-namespaces': resourceRule({ clusterScope: true, namespaces: ['a'] }),
    'any-user-name': subject({ kind: 'User', user: { name: '*' } }),
  }),
  ...schema.refuses({
    name: { 'metadata.name': 'A' },
    'matching-precedence': [{ 'spec.matchingPrecedence': -1 }, { 'spec.matchingPrecedence': 10001 }, { 'spec.matchingPrecedence': 1 }],
    'priority-level': [{ spec: undefined }, { 'spec.priorityLevelConfiguration': {} }, { 'spec.priorityLevelConfiguration': { name: 'A' } }],
    distinguisher: [{ 'spec.distinguisherMethod': { type: 'ByMood' } }, { 'spec.distinguisherMethod': {} }],
    rules: [rule({ subjects: [] }), rule({ subjects: undefined }), rule({ nonResourceRules: undefined })],
    'subject-kind': [subject({}), subject({ kind: 'Robot' })],
    'subject-of-another-kind': [subject({ kind: 'User', user: { name: 'u' }, group: { name: 'g' }, serviceAccount: { name: 's', namespace: 'n' } }), subject({ kind: 'Group', group: { name: 'g' }, user: { name: 'u' } }), subject({ kind: 'ServiceAccount', serviceAccount: { name: 's', namespace: 'n' }, group: { name: 'g' } })],
    'subject-missing': [subject({ kind: 'User' }), subject({ kind: 'Group' }), subject({ kind: 'ServiceAccount' }), subject({ kind: 'User', user: {} }), subject({ kind: 'Group', group: {} }), subject({ kind: 'ServiceAccount', serviceAccount: {} })],
    'subject-names': subject({ kind: 'ServiceAccount', serviceAccount: { name: 'Bad_Name', namespace: '*' } }),
    'resource-rule-verbs': [resourceRule({ verbs: undefined }), resourceRule({ verbs: ['*', 'get'] }), resourceRule({ verbs: ['get', 'eat'] })],
    'resource-rule-groups': [resourceRule({ apiGroups: undefined }), resourceRule({ apiGroups: ['*', ''] }), resourceRule({ resources: undefined }), resourceRule({ resources: ['*', 'pods'] })],
    'resource-rule-namespaces': [resourceRule({ namespaces: undefined }), resourceRule({ namespaces: ['*', 'a'] }), resourceRule({ namespaces: ['Bad'] }), resourceRule({ namespaces: [''] })],
    'url-rule-verbs': [urlRule({ verbs: undefined }), urlRule({ verbs: ['*', 'get'] }), urlRule({ verbs: ['eat'] })],
    'url-rule-urls': [urlRule({ nonResourceURLs: undefined }), urlRule({ nonResourceURLs: ['*', '/a'] }), ...['', 'a', '/a b', '//a', '/a/*/b', '/a*', '/**'].map((u) => urlRule({ nonResourceURLs: [u] }))],
  }),
  scenario('flowschema-strategy', { section: '4.7', about: 'FlowSchema: generation, and the status that the server writes', namespace: false, cleanup: [schema.item] }, [
    POST(schema.list, schema.object({ 'metadata.generation': 7 }), { pick: tidy }),
    POLL(schema.item, (b) => b.status?.conditions?.length > 0, {}),
    PATCH(schema.item, 'merge', { metadata: { labels: { a: 'b' } } }, { pick: (b) => b.metadata.generation }),
    PATCH(schema.item, 'merge', { spec: { matchingPrecedence: 500 }, status: null }, { pick: (b) => [b.metadata.generation, b.spec, b.status] }),
    PATCH(`${schema.item}/status`, 'merge', { metadata: { labels: { a: 'c' } }, spec: { matchingPrecedence: 9 }, status: { conditions: [{ type: 'Other', status: 'True' }] } }, { ...dryRun, pick: (b) => [b.metadata.labels, b.metadata.generation, b.spec, b.status.conditions?.map((c) => c.type)] }),
    PATCH(`${schema.item}/status`, 'merge', { status: { conditions: [{ status: 'True' }, { type: 'A' }, { type: 'A' }] } }, dryRun),
  ]),
  scenario('flowschema-updates', { section: '4.7', about: 'FlowSchema: which update is allowed', namespace: false, cleanup: [schema.item] }, [
    POST(schema.list, schema.object(), { compare: 'status' }), noted,
    ...[{ spec: { matchingPrecedence: null } }, { spec: { matchingPrecedence: 1 } }, { spec: { rules: [{}] } }].map((p) => PATCH(schema.item, 'merge', p, { ...dryRun, pick: (b) => (b.kind === 'FlowSchema' ? b.spec : b) })),
  ]),
  scenario('flowschema-mandatory', { section: '4.7', about: 'FlowSchema: the mandatory ones keep their spec', namespace: false }, ['exempt', 'catch-all'].map((n) =>
    PATCH(`${schema.list}/${n}`, 'merge', { spec: { matchingPrecedence: 77 } }, { ...dryRun, pick: (b) => ({ ...b, message: cutSpec(b.message), details: { ...b.details, causes: b.details?.causes?.map((c) => ({ ...c, message: cutSpec(c.message) })) } }) }))),

  // PriorityLevelConfiguration
  ...level.creates({
    minimal: {},
    maximal: { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 2, lendablePercent: 100, borrowingLimitPercent: 50, limitResponse: { type: 'Queue', queuing: { queues: 16, handSize: 4, queueLengthLimit: 5 } } } } },
    'queuing-defaults': { 'spec.limited.limitResponse': { type: 'Queue', queuing: {} } },
    'zero-shares': { 'spec.limited.nominalConcurrencyShares': 0 },
  }),
  ...level.accepts({ 'shares-default': limited({}), 'status-and-generation': { 'metadata.generation': 7, status: { conditions: [{ type: 'A' }] } } }),
  ...level.refuses({
    name: { 'metadata.name': 'A' },
    type: [{ spec: undefined }, { 'spec.type': 'Unlimited' }, { 'spec.type': 'Exempt', 'spec.limited': undefined }, { 'spec.type': 'Exempt' }, { 'spec.type': 'Exempt', 'spec.exempt': { nominalConcurrencyShares: -1, lendablePercent: 101 } }],
    limited: [{ 'spec.limited': undefined }, { 'spec.exempt': {} }, limited({ nominalConcurrencyShares: -1 })],
    percents: [limited({ lendablePercent: -1 }), limited({ lendablePercent: 101 }), limited({ borrowingLimitPercent: -1 })],
    'limit-response': [{ 'spec.limited.limitResponse': undefined }, { 'spec.limited.limitResponse': { type: 'Wait' } }, { 'spec.limited.limitResponse': { type: 'Reject', queuing: {} } }, queuing(undefined)],
    queuing: [queuing({ queues: -1 }), queuing({ handSize: -1 }), queuing({ queueLengthLimit: -1 }), queuing({ queues: 10000001 }), queuing({ queues: 4 }), queuing({ queues: 1000, handSize: 10 })],
    annotation: { 'metadata.annotations': { 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares': '' } },
  }),
  ...level.updates({ any: [{ spec: { limited: { nominalConcurrencyShares: null } } }, { spec: { limited: null } }, { spec: { type: 'Exempt', limited: null } }, { spec: { limited: { limitResponse: { type: 'Queue' } } } }] }),
  ...level.statuses({ conditions: [{ conditions: [{ type: 'A', status: 'True', reason: 'r', message: 'm', lastTransitionTime: '2020-01-01T00:00:00Z' }, { type: 'A' }, {}] }, { conditions: [{ type: 'A', status: 'True', reason: 'r', message: 'm', lastTransitionTime: '2020-01-01T00:00:00Z' }, { type: 'B', status: 'Maybe' }] }] }),
  ...level.strategy({ status: { conditions: [{ type: 'A', status: 'True' }] }, spec: { spec: { limited: { lendablePercent: 1 } } } }),
  ...level.puts(),
  scenario('prioritylevel-mandatory', { section: '4.7', about: 'PriorityLevelConfiguration: the mandatory ones keep their spec, save the exempt part', namespace: false }, [
    PATCH(`${level.list}/catch-all`, 'merge', { spec: { limited: { nominalConcurrencyShares: 9 } } }, dryRun),
    PATCH(`${level.list}/exempt`, 'merge', { spec: { exempt: { lendablePercent: 1 } } }, { ...dryRun, pick: (b) => b.spec }),
    PATCH(`${level.list}/exempt`, 'merge', { spec: { exempt: { lendablePercent: 101 } } }, dryRun),
    PATCH(`${level.list}/exempt`, 'merge', { spec: { type: 'Limited' } }, dryRun),
  ]),
];

function cutSpec(m) { return tidy(m)?.replace(/flowcontrol\.FlowSchemaSpec\{[^]*\}: spec of/g, 'flowcontrol.FlowSchemaSpec{...}: spec of'); }
