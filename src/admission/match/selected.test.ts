import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { anObject, attributes, MemoryObjects } from '../../../test/support/harness/admission.ts'
import { Random } from '../../../test/chaos/simulation/random.ts'
import type { Fields } from '../../api/object.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import type { Attributes } from '../admission.ts'
import { type MatchCriteria, matchesObjectSelector, readPolicyCriteria } from './criteria.ts'
import { MatchIndex } from './match-index.ts'
import { findNamespace, matchesNamespaceSelector } from './namespaces.ts'
import { SelectorIndex } from './selected.ts'

const registry = new Registry(
  builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } }),
)

type Entry = { readonly at: number; readonly criteria: MatchCriteria }

const random = new Random(20261116)
const keys = ['a', 'b', 'c', 'constructor']
const values = ['x', 'y', '']

const someLabels = (): Record<string, string> =>
  Object.fromEntries(keys.filter(() => random.chance(0.5)).map((key) => [key, random.pick(values)]))

function someSelector(): Fields {
  const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const
  const matchExpressions = Array.from({ length: random.between(0, 3) }, () => {
    const operator = random.pick(operators)
    const needsValues = operator === 'In' || operator === 'NotIn'
    return {
      key: random.pick(keys),
      operator,
      ...(needsValues ? { values: values.slice(random.between(0, 2)) } : {}),
    }
  })
  return { matchExpressions }
}

const objects = new MemoryObjects()
for (const name of ['n0', 'n1', 'n2']) {
  objects.put('namespaces', '', anObject('Namespace', name, { metadata: { labels: someLabels() } }))
}

const some = (): MatchCriteria =>
  readPolicyCriteria({ objectSelector: someSelector(), namespaceSelector: someSelector() })

const index = new MatchIndex<Entry>(registry)
index.entries = Array.from({ length: 200 }, (_, at) => ({ at, criteria: some() }))
const get = objects.getNow

const someWrite = (): Attributes => {
  const object = anObject('ConfigMap', 'c', { metadata: { labels: someLabels() } })
  const oldObject = random.chance(0.5)
    ? anObject('ConfigMap', 'c', { metadata: { labels: someLabels() } })
    : undefined
  return attributes({
    plural: 'configmaps',
    namespace: random.pick(['n0', 'n1', 'n2']),
    object,
    oldObject,
  })
}

const matches = ({ criteria }: Entry, write: Attributes): boolean =>
  matchesObjectSelector(criteria, write) &&
  matchesNamespaceSelector(criteria, write, { get }) === true

test('the index returns only the policies and webhooks whose selectors match, in their original order', () => {
  const selected = new SelectorIndex<Entry>({ get })
  for (let round = 0; round < 500; round++) {
    const write = someWrite()
    const candidates = index.candidates(write)
    const left = selected.of(candidates, write).map(({ entry }) => entry.at)
    const expected = candidates.flatMap(({ entry }) => (matches(entry, write) ? [entry.at] : []))
    assert.deepEqual(left, expected)
  }
})

test('the labels of a namespace are checked again after they have changed', () => {
  const selected = new SelectorIndex<Entry>({ get })
  for (let round = 0; round < 20; round++) {
    const write = { ...someWrite(), namespace: 'n0' }
    objects.put(
      'namespaces',
      '',
      anObject('Namespace', 'n0', { metadata: { labels: someLabels() } }),
    )
    const candidates = index.candidates(write)
    assert.deepEqual(
      selected.of(candidates, write),
      candidates.filter(({ entry }) => matches(entry, write)),
    )
  }
})

test('a policy is excluded if the cached labels of the namespace match none of its bindings', () => {
  const everywhere = readPolicyCriteria({})
  const elsewhere = readPolicyCriteria({ namespaceSelector: { matchLabels: { nowhere: 'x' } } })
  const bound = new MatchIndex<{
    criteria: MatchCriteria
    bindings: { criteria: MatchCriteria }[]
  }>(registry)
  bound.entries = [
    { criteria: everywhere, bindings: [{ criteria: elsewhere }] },
    { criteria: everywhere, bindings: [{ criteria: elsewhere }, { criteria: everywhere }] },
  ]
  const left = (namespace: string): number => {
    const write = attributes({
      plural: 'configmaps',
      namespace,
      object: anObject('ConfigMap', 'c'),
    })
    return new SelectorIndex<(typeof bound.entries)[number]>({ get }).of(
      bound.candidates(write),
      write,
    ).length
  }
  assert.equal(left('n1'), 1)
  assert.equal(left('unknown'), 2)
})

const ofNames = (...names: string[]): MatchCriteria =>
  readPolicyCriteria({ resourceRules: [rule(names)] })

const rule = (names: readonly string[]): Fields => ({
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['*'],
  scope: '*',
  ...(names.length === 0 ? {} : { resourceNames: names }),
})

test('rules with resourceNames match only the objects that they list, even after the results are cached', () => {
  const named = new MatchIndex<Entry>(registry)
  named.entries = [ofNames('a'), ofNames('a', 'b', ''), ofNames()].map((criteria, at) => ({
    at,
    criteria,
  }))
  const left = (name: string): string =>
    named
      .candidates(attributes({ plural: 'configmaps', name }))
      .map(({ entry }) => entry.at)
      .join()
  const expected = { a: '0,1,2', b: '1,2', '': '1,2', c: '2' }
  for (let round = 0; round < 3; round++) {
    for (const [name, positions] of Object.entries(expected))
      assert.equal(left(name), positions, name)
  }
})

test('the labels of a namespace are checked again if a restore of the database changed them but not the resourceVersion', () => {
  const criteria = readPolicyCriteria({ namespaceSelector: { matchLabels: { guarded: 'x' } } })
  const guarding = new MatchIndex<Entry>(registry)
  guarding.entries = [{ at: 0, criteria }]
  let labels: Record<string, string> = {}
  const selected = new SelectorIndex<Entry>({
    get: () => anObject('Namespace', 'n', { metadata: { resourceVersion: '5', labels } }),
  })
  const left = (): number => {
    const write = attributes({ plural: 'configmaps', object: anObject('ConfigMap', 'c') })
    return selected.of(guarding.candidates(write), write).length
  }
  assert.equal(left(), 0)
  labels = { guarded: 'x' }
  assert.equal(left(), 1)
})

test('cached match results for many namespaces take little memory', () => {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  assert.ok(typeof collect === 'function')
  const usedBytes = (): number => {
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const everything = readPolicyCriteria({ resourceRules: [rule([])] })
  const many = new MatchIndex<Entry>(registry)
  many.entries = Array.from({ length: 1_000 }, (_, at) => ({ at, criteria: everything }))
  const selected = new SelectorIndex<Entry>({
    get: (_, { name }) =>
      anObject('Namespace', name, { metadata: { resourceVersion: '5', labels: { name } } }),
  })
  const plurals = ['configmaps', 'secrets', 'pods', 'services']
  const before = usedBytes()
  const lists = plurals.map((plural) => {
    const write = attributes({ plural })
    const candidates = many.candidates(write)
    for (let at = 0; at < 1_000; at++)
      selected.of(candidates, { ...write, namespace: `n${at}`, known: {} })
    return candidates
  })
  const perPlace = (usedBytes() - before) / (lists.length * 1_000)
  assert.ok(perPlace < 1_000, `${perPlace} bytes for each namespace of a list`)
})

test('if a namespace cannot be read, only the current request fails', async () => {
  let asked = 0
  const rejecting = async (): Promise<never> => {
    asked++
    throw new Error('the store is unavailable')
  }
  const write = attributes({
    plural: 'configmaps',
    namespace: 'n0',
    object: anObject('ConfigMap', 'c'),
  })
  assert.equal(
    new SelectorIndex<Entry>({ get: rejecting }).of(index.candidates(write), write).length > 0,
    true,
  )
  await assert.rejects(async () => findNamespace({ get: rejecting }, 'n0'), /unavailable/)
  // Node reports an unhandled rejection in the next tick of the event loop. Such a rejection makes
  // this test fail; in a server, it would end the process.
  await setImmediate()
  assert.equal(asked, 2)
})

test('all admission plugins that handle a write share one read of its namespace', () => {
  let reads = 0
  const counting = (...asked: Parameters<typeof get>): ReturnType<typeof get> => {
    reads++
    return get(...asked)
  }
  const write = attributes({
    plural: 'configmaps',
    namespace: 'n0',
    object: anObject('ConfigMap', 'c'),
  })
  for (let plugin = 0; plugin < 3; plugin++) {
    new SelectorIndex<Entry>({ get: counting }).of(index.candidates(write), write)
  }
  assert.equal(reads, 1)
})
