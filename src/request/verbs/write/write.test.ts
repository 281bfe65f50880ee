import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributes } from '../../../../test/support/harness/admission.ts'
import { storedItem } from '../../../../test/support/harness/stored-item.ts'
import { turnsDuring } from '../../../../test/support/harness/turns.ts'
import { Admission, type Plugin } from '../../../admission/admission.ts'
import { RequestContext } from '../../../api/context.ts'
import { forbidden } from '../../../api/errors.ts'
import type { KubeObject } from '../../../api/object.ts'
import { EvictionQueue } from '../../../storage/cache/eviction-queue.ts'
import { Slabs } from '../../../storage/cache/slabs.ts'
import { encodeStored } from '../../../objects/codec/object.ts'
import { Transcoder } from '../../../objects/codec/protobuf/transcode.ts'
import { holdStoredJson } from '../hold-values.ts'
import type { HoldResult } from '../../../api/request.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import { StorageError } from '../../../storage/errors.ts'
import { ResourceKeys } from '../../../storage/keys.ts'
import type { WriteAccess } from '../access.ts'
import { ResourceForms } from '../represent/forms.ts'
import { WrittenMessages } from '../represent/written-messages.ts'
import { createObject } from './create-object.ts'
import { updateObject } from './update-object.ts'

const refused = (): never => assert.fail('not asked for here')

const options = { isDryRun: false, fieldManager: 'm', fieldValidation: 'Warn' } as const

/**
 * Creates a write request for a LimitRange, with its access. The user is not allowed to create
 * objects.
 */
function worldOf(steps: string[]): {
  readonly request: ResourceRequest
  readonly access: WriteAccess
} {
  const { resource, context } = attributes({ plural: 'limitranges' })
  const request: ResourceRequest = {
    verb: 'update',
    resource,
    subresource: '',
    view: undefined,
    namespace: 'n',
    name: 'l',
    user: context.user,
    context,
    http: putWithoutBody(),
  }
  const access: WriteAccess = {
    keys: new ResourceKeys('/registry/', 'limitranges', true),
    forms: new ResourceForms(resource, {
      memos: { queue: new EvictionQueue(0), slabs: new Slabs() },
      transcoder: new Transcoder(),
      written: new WrittenMessages(),
      nowMs: () => 0,
    }),
    reader: {
      known: () => undefined,
      get: () => Promise.resolve({ item: undefined, revision: 1 }),
      list: refused,
      expect: refused,
      watch: refused,
    },
    storage: {
      store: {
        get: refused,
        create: refused,
        deleteUnreadable: refused,
        update: async (_key, _options, decide) => {
          await decide(undefined)
          return refused()
        },
      },
      decode: refused,
    },
    versions: { inVersion: () => resource },
    permissions: {
      authorizeConnect: async () => undefined,
      authorizeCreate: async () => {
        steps.push('authorize')
        throw forbidden(resource, 'l', 'no')
      },
    },
    admission: new Admission([countingPlugin(steps)]),
    validation: { answerPattern: refused, namespaceLabels: refused },
    effects: {},
    deletion: { collectsGarbage: true, deleteWorkers: 1 },
    ids: { uid: () => 'u', nameSuffix: () => 'x' },
    now: () => '2026-01-01T00:00:00Z',
    convertYaml: refused,
  }
  return { request, access }
}

const putWithoutBody = (): ResourceRequest['http'] => ({
  method: 'PUT',
  path: '/',
  query: new URLSearchParams(),
  headers: {},
  body: refused,
  hasBody: false,
  pipeBody: refused,
  signal: new AbortController().signal,
  remoteAddress: '',
  peerCertificate: () => undefined,
})

const countingPlugin = (steps: string[]): Plugin => ({
  name: 'Counting',
  mutate: ({ object }) => {
    steps.push('mutate')
    return object
  },
  validate: () => {
    steps.push('charge')
  },
})

/** Returns the steps, in order, of an update that creates an object. */
async function stepsOf(object: KubeObject): Promise<string[]> {
  const steps: string[] = []
  const { request, access } = worldOf(steps)
  request.context.recordText(JSON.stringify(object).length)
  await updateObject(request, () => object, { options, access, owners: 'recorded' }).catch(
    (error: unknown) => steps.push(String(error)),
  )
  return steps
}

const aRange = (fields: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'l', namespace: 'n' },
  ...fields,
})

test('an update that creates an object is authorized before any plugin charges a quota for it', async () => {
  const steps = await stepsOf(aRange({ spec: { limits: [] } }))
  assert.deepEqual(steps.slice(0, 2), ['mutate', 'authorize'])
  assert.match(steps[2] ?? '', /is forbidden: no/)
})

test('as in kube-apiserver, errors of a new object are reported before the permission to create it is checked', async () => {
  const steps = await stepsOf(aRange({ spec: { limits: [{ type: 'Bad type' }] } }))
  assert.deepEqual(steps[0], 'mutate')
  assert.match(steps[1] ?? '', /is invalid: spec.limits/)
})

test('each step of a write of a large object runs in separate ticks of the event loop', async () => {
  const labels = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`a${at}`, '']))
  const turns = await turnsDuring(async () => {
    const steps = await stepsOf(
      aRange({ metadata: { name: 'l', namespace: 'n', labels }, spec: { limits: [] } }),
    )
    assert.deepEqual(steps.slice(0, 2), ['mutate', 'authorize'])
  })
  assert.ok(turns >= 4, `${turns} turns`)
})

const lost = (): never => {
  throw new StorageError('unavailable', 'no answer', { ambiguous: true })
}

/**
 * Returns the events of the allocations of a write, in order. `failing` selects which write gets no
 * response: that of an admission plugin, or the write of the object itself.
 */
async function endOf(verb: 'create' | 'update', failing: 'admission' | 'store'): Promise<string[]> {
  const steps: string[] = []
  const { request, access } = worldOf([])
  const allocating: WriteAccess = {
    ...access,
    admission: new Admission([
      { name: 'Charging', validate: () => (failing === 'admission' ? lost() : undefined) },
    ]),
    permissions: {
      authorizeConnect: async () => undefined,
      authorizeCreate: async () => undefined,
    },
    storage: {
      decode: refused,
      store: {
        ...access.storage.store,
        create: async () => lost(),
        update: async (_key, _options, decide) => {
          await decide(undefined)
          return lost()
        },
      },
    },
    effects: {
      allocator: {
        allocate: async ({ object }) => {
          steps.push('take')
          const undo = async (): Promise<void> => void steps.push('give back')
          return { object, keep: async () => void steps.push('keep'), undo }
        },
        release: refused,
      },
    },
  }
  const object = aRange({ spec: { limits: [] } })
  const write = { options, access: allocating }
  await assert.rejects(
    verb === 'create'
      ? createObject({ ...request, verb, name: '' }, object, write)
      : updateObject(request, () => object, { ...write, owners: 'recorded' }),
  )
  return steps
}

test('allocated addresses are kept if it is unknown whether the object was stored, and released if admission failed', async () => {
  for (const verb of ['create', 'update'] as const) {
    assert.deepEqual(await endOf(verb, 'admission'), ['take', 'give back'], verb)
    assert.deepEqual(await endOf(verb, 'store'), ['take'], verb)
  }
})

test('a large object that is stored keeps its allocated addresses even if the client disconnects', async () => {
  const { request, access } = worldOf([])
  const client = new AbortController()
  const context = new RequestContext({
    auditId: '',
    info: request.context.info,
    client,
    timeoutMs: 60_000,
    monotonicMs: () => 0,
  })
  context.identify(request.user)
  let outcome = ''
  const allocation = {
    object: aRange({
      metadata: { name: 'l', namespace: 'n', labels: { a: 'b' } },
      spec: { limits: [] },
    }),
    keep: async () => void (outcome = 'kept'),
    undo: async () => void (outcome = 'released'),
  }
  const large = { ...request, verb: 'create', context } as const
  context.recordText(1 << 20)
  await createObject(large, allocation.object, {
    options,
    access: {
      ...access,
      effects: { allocator: { allocate: async () => allocation, release: refused } },
      storage: {
        decode: refused,
        store: {
          ...access.storage.store,
          create: async () => {
            client.abort()
            return 7
          },
        },
      },
      reader: { ...access.reader, expect: () => undefined },
    },
  })
  assert.equal(outcome, 'kept')
})

/**
 * Updates a large stored object while at most `roomBytes` can be reserved. Returns the sizes that
 * the update tried to reserve.
 */
async function heldByUpdate(roomBytes: number, isDryRun: boolean): Promise<number[]> {
  const { request, access } = worldOf([])
  const { shape } = request.resource
  const limits = Array.from({ length: DENSE_ITEMS }, () => ({ type: 'Pod' }))
  const stored = aRange({ spec: { limits } })
  const item = storedItem(encodeStored(stored, { ...shape, storedAs: 'protobuf' }), shape)
  const held: number[] = []
  const holdObject = (bytes: number): HoldResult => {
    held.push(bytes)
    return bytes <= roomBytes ? 'held' : 'busy'
  }
  const reader = { ...access.reader, get: async () => ({ item, revision: 7 }) }
  await assert.rejects(
    updateObject({ ...request, http: { ...request.http, holdObject } }, () => stored, {
      options: { ...options, isDryRun },
      access: { ...access, reader },
      owners: 'recorded',
    }),
    { code: 429 },
  )
  assert.equal(item.isPrinted(), held.length > 1)
  return held
}

const DENSE_ITEMS = 50_000

test('an update reserves memory for a large stored object before it decodes the object', async () => {
  for (const isDryRun of [true, false]) assert.equal((await heldByUpdate(0, isDryRun)).length, 1)
})

test('an update reserves memory for each value of a large stored object', async () => {
  for (const isDryRun of [true, false]) {
    const [first = 0, more = 0] = await heldByUpdate(5_000_000, isDryRun)
    // Each item of the list is an object with one field.
    assert.ok(first + more >= 2 * DENSE_ITEMS * 160, `${first} and ${more} bytes`)
  }
})

test('an update that needs more memory than the server can ever reserve is rejected with 413, not with 429', async () => {
  const { request } = worldOf([])
  const http = { ...request.http, holdObject: (): HoldResult => 'too-large' }
  await assert.rejects(holdStoredJson({ ...request, http }, Buffer.alloc(100_000)), { code: 413 })
})
