import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes } from '../../../test/support/harness/held-bytes.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import type { ObjectHead, OwnerReference } from '../object-head.ts'
import {
  FEW_DEPENDENTS_MAX,
  foregroundFinalizer,
  Graph,
  type Key,
  orphanFinalizer,
} from './graph.ts'

/** Creates an owner reference. In this test, the name of an owner is also its key. */
const reference = (name: string, uid: string, blocks = false): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Thing',
  name,
  uid,
  blocks,
  fields: {},
})

const head = (
  uid: string,
  owners: readonly OwnerReference[] = [],
  finalizers?: readonly string[],
): ObjectHead => ({
  uid,
  isMarked: finalizers !== undefined,
  finalizers: finalizers ?? [],
  owners,
})

/** Runs all steps of the work. */
function run(steps: Steps<void> | undefined): void {
  while (steps !== undefined && steps.next().done !== true);
}

class GraphFixture {
  readonly objects = new Map<Key, ObjectHead>()
  readonly suspects = new Set<Key>()
  /** Lists of possible garbage that the graph reports for owners with many dependents. */
  readonly lists: Generator<Key, void, void>[] = []
  readonly orphaning = new Set<Key>()
  readonly graph = new Graph({
    keyOf: ({ name }) => (name === '?' ? undefined : name),
    find: (key, uid) => (this.objects.get(key)?.uid === uid ? key : undefined),
    onSuspect: (key) => void this.suspects.add(key),
    onSuspects: (keys) => void this.lists.push(keys),
    onOrphaning: (key) => void this.orphaning.add(key),
  })

  set(key: Key, content: ObjectHead | undefined): void {
    this.store(key, content)
    run(this.graph.set(key, content))
  }

  store(key: Key, content: ObjectHead | undefined): void {
    if (content === undefined) this.objects.delete(key)
    else this.objects.set(key, content)
  }

  taken(): Key[] {
    const all = [...this.suspects].toSorted()
    this.suspects.clear()
    return all
  }
}

test('dependents are checked for deletion when their owner is deleted or if it never existed', () => {
  const world = new GraphFixture()
  world.set('o', head('1'))
  world.set('a', head('2', [reference('o', '1')]))
  world.set('b', head('3', [reference('o', '1')]))
  assert.deepEqual(world.taken(), [])
  world.set('c', head('4', [reference('p', '9')]))
  world.set('d', head('5', [reference('other', '1')]))
  world.set('e', head('6', [reference('?', '7')]))
  assert.deepEqual(world.taken(), ['c', 'd', 'e'])
  world.set('p', head('9'))
  assert.deepEqual([...world.graph.dependentsOf('p')], ['c'])
  world.set('o', undefined)
  assert.deepEqual(world.taken(), ['a', 'b', 'd'])
  assert.ok(world.graph.wasDeleted('1'))
  // Another object with the same name has no dependents.
  world.set('o', head('8'))
  assert.ok(world.graph.wasDeleted('1') && !world.graph.hasDependents('o'))
  for (const key of ['a', 'b', 'd']) world.set(key, undefined)
  assert.ok(!world.graph.wasDeleted('1'))
})

test('an owner that waits for its dependents is checked again when a blocking dependent is deleted or stops blocking', () => {
  const world = new GraphFixture()
  world.set('o', head('1'))
  for (const key of ['a', 'b', 'c']) world.set(key, head(key, [reference('o', '1', true)]))
  world.set('d', head('d', [reference('o', '1')]))
  world.set('o', head('1', [], [foregroundFinalizer]))
  assert.deepEqual(world.taken(), ['a', 'b', 'c', 'd', 'o'])
  assert.ok(world.graph.isWaiting('o') && world.graph.hasBlockingDependents('o'))
  world.set('a', undefined)
  assert.deepEqual(world.taken(), ['o'])
  world.set('b', head('b', [reference('o', '1', false)]))
  assert.deepEqual(world.taken(), ['o'])
  assert.ok(world.graph.hasBlockingDependents('o'))
  world.set('c', head('c'))
  assert.deepEqual(world.taken(), ['o'])
  assert.ok(!world.graph.hasBlockingDependents('o') && world.graph.hasDependents('o'))
  world.set('late', head('late', [reference('o', '1', true)]))
  assert.deepEqual(world.taken(), ['late'])
})

test('many dependents of an owner are marked for a check in several steps, and the graph can change between two steps', () => {
  const world = new GraphFixture()
  world.set('o', head('1'))
  const names = Array.from({ length: FEW_DEPENDENTS_MAX + 1 }, (_, at) => `d${at}`)
  for (const name of names) world.set(name, head(name, [reference('o', '1', true)]))
  world.set('o', head('1', [], [foregroundFinalizer]))
  assert.deepEqual(world.taken(), ['o'])
  const [waiting] = world.lists
  assert.deepEqual([...(waiting ?? [])], names)
  world.set('o', undefined)
  assert.deepEqual(world.taken(), [])
  const deleted = world.lists[1]
  assert.equal(deleted?.next().value, 'd0')
  world.set('d1', undefined)
  world.set('d2', head('d2'))
  world.set('late', head('late', [reference('o', '1')]))
  assert.deepEqual(world.taken(), ['late'])
  assert.deepEqual([...(deleted ?? [])], [...names.slice(3), 'late'])
  assert.equal(world.lists.length, 2)
})

test('an object whose dependents have to be orphaned is reported only once', () => {
  const world = new GraphFixture()
  world.set('o', head('1', [], [orphanFinalizer]))
  world.set('o', head('1', [], [orphanFinalizer]))
  assert.deepEqual([...world.orphaning], ['o'])
  world.set('o', undefined)
  assert.equal(world.graph.size, 0)
})

test('objects without owners and dependents are not in the graph', () => {
  const world = new GraphFixture()
  for (let at = 0; at < 100; at++) world.set(`k${at}`, head(`u${at}`))
  assert.equal(world.graph.size, 0)
  world.set('d', head('d', [reference('k1', 'u1')]))
  assert.equal(world.graph.size, 2)
  world.set('d', head('d'))
  assert.equal(world.graph.size, 0)
})

test('an owner that appears in the cache after its dependents is linked to these dependents', () => {
  const world = new GraphFixture()
  world.set('top', head('0'))
  world.set('o', head('1', [reference('top', '0')]))
  // The cache does not contain the owner while its dependents are added.
  world.store('o', undefined)
  world.set('a', head('2', [reference('o', '1', true)]))
  world.set('b', head('3', [reference('o', '1')]))
  assert.deepEqual(world.taken(), ['a', 'b'])
  world.set('o', head('1', [reference('top', '0')]))
  assert.deepEqual([...world.graph.dependentsOf('o')], ['a', 'b'])
  assert.ok(world.graph.hasBlockingDependents('o'))
  world.set('o', head('1', [reference('top', '0')], [orphanFinalizer]))
  assert.deepEqual([...world.graph.dependentsOf('o')], ['a', 'b'])
  world.set('o', undefined)
  assert.deepEqual(world.taken(), ['a', 'b'])
  for (const key of ['a', 'b']) world.set(key, undefined)
  assert.ok(world.graph.size === 0 && !world.graph.wasDeleted('1'))
})

test('dependents that were found before their owner are checked if the owner is being deleted in the foreground', () => {
  const world = new GraphFixture()
  world.set('o', head('1', [reference('top', '0')]))
  world.store('o', undefined)
  world.set('a', head('2', [reference('o', '1', true)]))
  world.taken()
  world.set('o', head('1', [reference('top', '0')], [foregroundFinalizer]))
  assert.deepEqual(world.taken(), ['a', 'o'])
  assert.ok(world.graph.hasBlockingDependents('o'))
})

/**
 * Creates a generator of numbers from 0 (inclusive) to 1 (exclusive) that depends only on the seed.
 */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/**
 * Makes random changes to objects of several resources. Events arrive late, and events of different
 * resources arrive in any order. The collector deletes every suspect whose owners are all gone.
 * Checks that in the end no garbage is left, no object with an existing owner was deleted, and the
 * edges of the graph match the objects.
 */
test('after random changes, the graph matches the objects and no garbage is left', () => {
  for (let seed = 1; seed <= 300; seed++) changeAtRandom(seed)
})

function changeAtRandom(seed: number): void {
  const changes = new RandomChanges(seed)
  for (let step = 0; step < 150; step++) changes.step()
  changes.settle()
  const { graph, objects } = changes.world
  for (const [key, object] of objects) {
    assert.ok(
      object.owners.length === 0 || changes.hasOwner(object),
      `${key} is garbage (seed ${seed})`,
    )
    const dependents = [...objects].filter(([, { owners }]) =>
      owners.some(({ uid }) => uid === object.uid),
    )
    assert.deepEqual(
      new Set(graph.dependentsOf(key)),
      new Set(dependents.map(([dependent]) => dependent)),
      `${key} (seed ${seed})`,
    )
    const isBlocked = dependents.some(
      ([, { owners }]) => owners.find(({ uid }) => uid === object.uid)?.blocks,
    )
    assert.equal(graph.hasBlockingDependents(key), isBlocked, `${key} (seed ${seed})`)
  }
}

/**
 * The events of one resource that have not been delivered. One event is processed completely before
 * the next one is delivered, while events of other resources may be delivered in between.
 */
type Feed = {
  readonly events: { readonly key: Key; readonly content: ObjectHead | undefined }[]
  steps: Steps<void> | undefined
}

class RandomChanges {
  readonly world = new GraphFixture()
  readonly #random: () => number
  readonly #keys = Array.from({ length: 12 }, (_, at) => `k${at}`)
  readonly #feeds = Array.from({ length: 3 }, (): Feed => ({ events: [], steps: undefined }))
  #uids = 0

  constructor(seed: number) {
    this.#random = randomOf(seed)
  }

  hasOwner({ owners }: ObjectHead): boolean {
    return owners.some(({ name, uid }) => this.world.objects.get(name)?.uid === uid)
  }

  /** Changes an object, delivers an event, or collects garbage, at random. */
  step(): void {
    const key = this.#pick(this.#keys) ?? ''
    const now = this.world.objects.get(key)
    const dice = this.#random()
    if (dice < 0.3)
      this.#change(
        key,
        now === undefined
          ? head(`u${this.#uids++}`, this.#randomOwners())
          : { ...now, owners: this.#randomOwners() },
      )
    else if (dice < 0.45 && now !== undefined) this.#change(key, undefined)
    else if (dice < 0.5 && now !== undefined)
      this.#change(key, { ...now, isMarked: true, finalizers: [foregroundFinalizer] })
    else if (dice < 0.9) this.#deliver()
    else this.#collect()
  }

  /** Delivers all events and deletes all garbage. */
  settle(): void {
    do while (this.#deliver());
    while ((this.#collect(), this.#deliver()))
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#random() * list.length)]
  }

  #change(key: Key, content: ObjectHead | undefined): void {
    this.world.store(key, content)
    this.#feeds[Number(key.slice(1)) % this.#feeds.length]?.events.push({ key, content })
  }

  #randomOwners(): OwnerReference[] {
    const length = Math.floor(this.#random() * (this.#random() < 0.2 ? 60 : 3))
    return Array.from({ length }, () => {
      const name = this.#pick(this.#keys) ?? ''
      const present = this.#random() < 0.8 ? this.world.objects.get(name)?.uid : undefined
      return reference(name, present ?? `absent${this.#uids++}`, this.#random() < 0.5)
    })
  }

  #collect(): void {
    for (const key of this.world.taken()) {
      const object = this.world.objects.get(key)
      if (object !== undefined && object.owners.length > 0 && !this.hasOwner(object))
        this.#change(key, undefined)
    }
  }

  /**
   * Delivers the next event of a random resource, or continues to process its last event. Returns
   * false if all events of all resources are processed.
   */
  #deliver(): boolean {
    const feed = this.#pick(
      this.#feeds.filter(({ events, steps }) => events.length > 0 || steps !== undefined),
    )
    if (feed === undefined) return false
    if (feed.steps !== undefined) {
      let count = 1 + Math.floor(this.#random() * 40)
      for (; count > 0 && feed.steps !== undefined; count--)
        if (feed.steps.next().done === true) feed.steps = undefined
      return true
    }
    const event = feed.events.shift()
    feed.steps = event && this.world.graph.set(event.key, event.content)
    return true
  }
}

const manyOwners = Array.from({ length: 20_000 }, (_, at) =>
  reference(`o${at}`, `u${at}`, at % 2 === 0),
)

test('a long list of owner references is added in steps and in linear time, and an unchanged list is not parsed again', () => {
  const world = new GraphFixture()
  const startCpu = process.threadCpuUsage()
  const steps = world.graph.set('a', { ...head('1', manyOwners), ownersDigest: 'x' })
  assert.ok(steps !== undefined)
  run(steps)
  run(world.graph.set('a', { ...head('1', manyOwners.slice(1)), ownersDigest: 'y' }))
  const { user: userMicros } = process.threadCpuUsage(startCpu)
  assert.ok(userMicros < 400_000, `${userMicros} µs`)
  const unread: ObjectHead = {
    ...head('1'),
    ownersDigest: 'y',
    get owners(): never {
      throw new Error('the owners are parsed')
    },
  }
  assert.equal(world.graph.set('a', unread), undefined)
  world.set('o1', head('u1'))
  assert.deepEqual([...world.graph.dependentsOf('o1')], ['a'])
})

test('blockOwnerDeletion takes effect for all owners of an object, even if the object has more than FEW_OWNERS_MAX owners', () => {
  const world = new GraphFixture()
  for (const at of [40, 41]) world.set(`o${at}`, head(`u${at}`, [], [foregroundFinalizer]))
  world.set('a', head('1', manyOwners.slice(0, 50)))
  assert.ok(world.graph.hasBlockingDependents('o40') && !world.graph.hasBlockingDependents('o41'))
  world.taken()
  world.set('a', head('1', manyOwners.slice(39, 42)))
  assert.ok(world.graph.hasBlockingDependents('o40'))
  assert.deepEqual(world.taken(), ['a'])
  world.set('a', head('1', manyOwners.slice(100, 150)))
  assert.ok(world.taken().includes('o40'))
  world.set('a', undefined)
  assert.equal(world.graph.size, 2)
})

test('setting the owners of an object ends early if the object is deleted in the meantime', () => {
  const world = new GraphFixture()
  const steps = world.graph.set('a', head('1', manyOwners))
  assert.ok(steps !== undefined)
  for (let count = 0; count < 100; count++) steps.next()
  world.set('a', undefined)
  run(steps)
  assert.equal(world.graph.size, 0)
  world.set('o0', head('u0'))
  assert.ok(!world.graph.hasDependents('o0'))
})

test('the uid of an owner does not retain the text of the dependent in memory', async () => {
  const world = new GraphFixture()
  const held = await heldBytes(() => {
    for (let at = 0; at < 20; at++) {
      const text = `uid-of-owner-${at}/${Buffer.alloc(1 << 20, 'a').toString('latin1')}`
      const [uid = ''] = Buffer.from(text).toString('latin1').split('/')
      world.graph.set(`dependent-${at}`, head(`${at}`, [reference('?', uid)]))
    }
  })
  assert.ok(world.graph.hasUnseenOwners('dependent-19'))
  assert.ok(held < 5 << 20, `${held} bytes are held`)
})
