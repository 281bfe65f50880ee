import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributes } from '../../test/support/harness/admission.ts'
import { ApiError } from '../api/errors.ts'
import type { KubeObject } from '../api/object.ts'
import { builtInResources } from '../registry/built-in.ts'
import { Registry } from '../registry/registry.ts'
import { Admission, type Attributes } from './admission.ts'
import { createNamespaceLifecycle } from './namespace-lifecycle.ts'

const registry = new Registry(builtInResources())
const find = (plural: string) => {
  const resource = registry.find({ group: '', version: 'v1', plural })
  assert.ok(resource)
  return resource
}

const { context } = attributes({ plural: 'namespaces' })

const namespace = (phase: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {},
  status: { phase },
})

/** A cache and a database of namespaces. The fixture records the reads from both. */
class NamespaceLifecycleFixture {
  cached = new Map<string, string>()
  latest = new Map<string, string>()
  readonly asked: string[] = []
  ms = 0
  readonly admission = new Admission([
    createNamespaceLifecycle({
      readNamespace: async (name, at) => {
        this.asked.push(at)
        const phase = (at === 'any' ? this.cached : this.latest).get(name)
        return phase === undefined ? undefined : namespace(phase)
      },
      clock: { wallMs: () => 0, monotonicMs: () => this.ms },
    }),
  ])

  async outcome(
    operation: Attributes['operation'],
    where: string,
    plural = 'configmaps',
  ): Promise<string> {
    this.asked.length = 0
    const isNamespace = plural === 'namespaces'
    try {
      await this.admission.mutate({
        operation,
        resource: find(plural),
        subresource: '',
        namespace: isNamespace ? '' : where,
        name: isNamespace ? where : '',
        object: { apiVersion: 'v1', kind: 'x', metadata: { generateName: 'g-' } },
        oldObject: undefined,
        isDryRun: false,
        options: () => undefined,
        shape: () => find(plural).shape,
        context,
        known: {},
      })
      return 'fine'
    } catch (error) {
      if (error instanceof ApiError) return `${error.code} ${error.message}`
      throw error
    }
  }
}

test('an active namespace in the cache is not read from the database', async () => {
  const world = new NamespaceLifecycleFixture()
  world.cached.set('a', 'Active')
  assert.equal(await world.outcome('CREATE', 'a'), 'fine')
  assert.deepEqual(world.asked, ['any'])
})

test('a namespace missing from the cache is read from the database before a request is rejected', async () => {
  const world = new NamespaceLifecycleFixture()
  world.latest.set('a', 'Active')
  assert.equal(await world.outcome('CREATE', 'a'), 'fine')
  assert.deepEqual(world.asked, ['any', 'latest'])
  assert.equal(await world.outcome('CREATE', 'b'), '404 namespaces "b" not found')
  assert.equal(await world.outcome('UPDATE', 'b'), '404 namespaces "b" not found')
  assert.equal(await world.outcome('DELETE', 'b'), 'fine')
})

test('nothing can be created in a namespace that is being deleted', async () => {
  const world = new NamespaceLifecycleFixture()
  world.cached.set('a', 'Terminating')
  const why = 'unable to create new content in namespace a because it is being terminated'
  assert.equal(await world.outcome('CREATE', 'a'), `403 configmaps "g-" is forbidden: ${why}`)
  assert.equal(await world.outcome('UPDATE', 'a'), 'fine')
})

test('for a while after a namespace is deleted, its latest state is read from the database instead of the cache', async () => {
  const world = new NamespaceLifecycleFixture()
  world.cached.set('a', 'Active')
  world.latest.set('a', 'Terminating')
  assert.equal(await world.outcome('DELETE', 'a', 'namespaces'), 'fine')
  assert.match(await world.outcome('CREATE', 'a'), /^403 /)
  world.ms = 31_000
  assert.equal(await world.outcome('CREATE', 'a'), 'fine')
})

test('the three built-in namespaces cannot be deleted', async () => {
  const world = new NamespaceLifecycleFixture()
  for (const name of ['default', 'kube-system', 'kube-public']) {
    const why = `403 namespaces "${name}" is forbidden: this namespace may not be deleted`
    assert.equal(await world.outcome('DELETE', name, 'namespaces'), why)
    assert.equal(await world.outcome('UPDATE', name, 'namespaces'), 'fine')
  }
  assert.equal(await world.outcome('DELETE', 'kube-node-lease', 'namespaces'), 'fine')
})
