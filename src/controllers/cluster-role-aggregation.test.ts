import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fields, textsOf } from '../api/object.ts'
import { aggregatedRules } from './cluster-role-aggregation.ts'

const rule = (resource: string): Fields => ({
  verbs: ['get'],
  apiGroups: [''],
  resources: [resource],
})
const role = (name: string, labels: Fields, ...rules: readonly Fields[]): Fields => ({
  metadata: { name, labels },
  rules,
})
const aggregated = (
  name: string,
  labels: Fields,
  ...clusterRoleSelectors: readonly Fields[]
): Fields => ({
  metadata: { name, labels },
  aggregationRule: { clusterRoleSelectors },
  rules: null,
})

const all = [
  role('z', { to: 'view' }, rule('pods'), rule('nodes')),
  role('a', { to: 'view' }, rule('nodes'), rule('services')),
  role('b', { to: 'edit' }, rule('secrets')),
  role('c', {}, rule('leases')),
]

const resourcesOf = (rules: readonly Fields[] | undefined) =>
  rules?.map(({ resources }) => textsOf(resources).join())

test('rules are ordered by selector and then by role name, and duplicates are removed', () => {
  const view = aggregated('view', {}, { matchLabels: { to: 'view' } })
  assert.deepEqual(resourcesOf(aggregatedRules(view, [...all, view])), [
    'nodes',
    'services',
    'pods',
  ])
  const both = aggregated(
    'both',
    {},
    { matchLabels: { to: 'edit' } },
    { matchLabels: { to: 'view' } },
  )
  assert.deepEqual(resourcesOf(aggregatedRules(both, [...all, both])), [
    'secrets',
    'nodes',
    'services',
    'pods',
  ])
  const expression = { key: 'to', operator: 'NotIn', values: ['view'] }
  const others = aggregated('others', {}, { matchExpressions: [expression] })
  assert.deepEqual(resourcesOf(aggregatedRules(others, [...all, others])), ['secrets', 'leases'])
})

test('a role is not aggregated into itself, and is not written if its rules are current', () => {
  const own = {
    ...aggregated('own', { to: 'view' }, { matchLabels: { to: 'view' } }),
    rules: [rule('old')],
  }
  const made = aggregatedRules(own, [...all, own])
  assert.deepEqual(resourcesOf(made), ['nodes', 'services', 'pods'])
  assert.equal(aggregatedRules({ ...own, rules: made ?? [] }, [...all, own]), undefined)
  const nothing = aggregated('nothing', {}, { matchLabels: { to: 'nobody' } })
  assert.equal(aggregatedRules(nothing, all), undefined)
  assert.equal(aggregatedRules(role('plain', {}, rule('x')), all), undefined)
})

test('an empty selector selects all roles', () => {
  const every = aggregated('every', {}, {})
  assert.equal(aggregatedRules(every, [...all, every])?.length, 5)
})

test('a role is not written if only the order of its rules differs', () => {
  const view = {
    ...aggregated('view', {}, { matchLabels: { to: 'view' } }),
    rules: ['pods', 'nodes', 'services'].map(rule),
  }
  assert.equal(aggregatedRules(view, [...all, view]), undefined)
})
