/** Test cases for `--audit-policy-file`. */
import type { Json } from '../../../src/api/object.ts'
import { casesOf, type ConfigCase, type FileTable, formCases, yamlOf } from './case.ts'

type Fields = { readonly [field: string]: Json }

const file = (fields: Fields): string =>
  yamlOf({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', ...fields })
const rule = (fields: Fields): string => file({ rules: [{ level: 'Metadata', ...fields }] })

const table: FileTable = {
  'rules/none': file({ rules: [] }),
  'rules/null': file({ rules: null }),
  'rules/absent': file({}),
  'rules/text': file({ rules: 'all' }),
  'rules/item-empty': file({ rules: [{}, {}] }),
  'rules/item-null': file({ rules: [null] }),
  'rules/every-level': file({
    rules: ['None', 'Metadata', 'Request', 'RequestResponse'].map((level) => ({ level })),
  }),
  'rules/everything': file({
    metadata: { name: 'a', labels: { a: 'b' } },
    rules: [
      {
        level: 'Request',
        users: ['a'],
        userGroups: ['b'],
        verbs: ['get'],
        namespaces: ['', 'a'],
        omitStages: ['Panic'],
        omitManagedFields: true,
        resources: [
          { group: '', resources: ['pods', 'pods/*'], resourceNames: ['a'] },
          { group: 'batch' },
        ],
      },
      { level: 'None', nonResourceURLs: ['/a*', '/b', '*'] },
    ],
    omitStages: ['RequestReceived', 'ResponseStarted'],
    omitManagedFields: true,
  }),
  'level/blank': rule({ level: '' }),
  'level/unknown': rule({ level: 'All' }),
  'level/lower-case': rule({ level: 'none' }),
  'level/number': rule({ level: 1 }),
  'url/no-slash': rule({ nonResourceURLs: ['a'] }),
  'url/blank': rule({ nonResourceURLs: [''] }),
  'url/star-inside': rule({ nonResourceURLs: ['/a/*/b'] }),
  'url/star-first': rule({ nonResourceURLs: ['*/a'] }),
  'url/two-stars': rule({ nonResourceURLs: ['**'] }),
  'url/and-resources': rule({ nonResourceURLs: ['/a', '/b'], resources: [{ group: '' }] }),
  'url/and-namespaces': rule({ nonResourceURLs: ['/"a'], namespaces: ['x'] }),
  'url/and-empty-resources': rule({ nonResourceURLs: ['/a'], resources: [], namespaces: [] }),
  'resources/version-in-group': rule({ resources: [{ group: 'batch/v1' }] }),
  'resources/group-capital': rule({ resources: [{ group: 'apps' }, { group: 'Batch' }] }),
  'resources/group-long': rule({ resources: [{ group: `${'a'.repeat(260)}_` }] }),
  'resources/group-star': rule({ resources: [{ group: '*' }] }),
  'resources/names-alone': rule({ resources: [{ resourceNames: ['a', 'b'] }] }),
  'resources/text': rule({ resources: ['pods'] }),
  'stages/unknown': file({
    rules: [{ level: 'None', omitStages: ['Start', 'Panic', 'End'] }],
    omitStages: ['RequestReceived', 'X'],
  }),
  'stages/lower-case': file({ rules: [{ level: 'None' }], omitStages: ['panic'] }),
  'unknown/in-rule': rule({ user: 'a' }),
  'unknown/in-resources-and-wrong': rule({ level: 'x', resources: [{ groups: '' }] }),
  'unknown/metadata': file({ metadata: { nam: 'a' }, rules: [{ level: 'None' }] }),
  'unknown/case': file({ Rules: [{ level: 'None' }] }),
  'managed-fields/text': rule({ omitManagedFields: 'yes' }),
  'several/of-everything': file({
    omitStages: ['a'],
    rules: [
      {
        level: 'x',
        nonResourceURLs: ['', '/*a'],
        resources: [{ group: 'A', resourceNames: ['n'] }],
        omitStages: ['b'],
      },
      {},
    ],
  }),
  'kind/event': 'apiVersion: audit.k8s.io/v1\nkind: Event\n',
  'kind/event-without-version': 'kind: Event\n',
  'kind/unknown-without-version': 'kind: Rule\n',
  'version/v1beta1': 'apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: []\n',
}

export const auditCases: readonly ConfigCase[] = casesOf(
  'audit',
  { 'audit-policy-file': '$FILE', 'audit-log-path': '-' },
  { ...formCases('audit.k8s.io/v1', 'Policy', 'rules: [{"level":"Metadata"}]\n'), ...table },
)
