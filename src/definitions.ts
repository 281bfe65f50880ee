/** How the parts of a control plane serve what CustomResourceDefinitions define. */
import type { Fields, KubeObject } from './api/object.ts'
import { type Handle, request } from './api/own-request.ts'
import type { Cache } from './cache/cache.ts'
import { Definitions } from './controllers/definitions.ts'
import type { Log } from './lib/log.ts'
import type { Registry } from './registry/registry.ts'
import type { Resource } from './registry/resource.ts'
import type { ResourceKeys } from './storage/keys.ts'
import type { WriteAccess } from './verbs/access.ts'
import { createOwnObjects } from './verbs/own-objects.ts'

const definitionsId = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' } as const
const apiServicesId = { group: 'apiregistration.k8s.io', version: 'v1', plural: 'apiservices' } as const

type Parts = {
  readonly registry: Registry
  readonly cache: Cache
  readonly accessOf: (resource: Resource) => WriteAccess
  /** Without making anything that would have to be kept. */
  readonly keysOf: (resource: Resource) => ResourceKeys
  /** The resource is gone for good, and what was counted of it. */
  readonly uncount: (resource: Resource) => void
  readonly handle: Handle
  readonly log: Log
}

/** Undefined: definitions are not served. */
export function createDefinitions(parts: Parts): Definitions | undefined {
  const { registry, cache, accessOf, keysOf, uncount, handle, log } = parts
  const resource = registry.find(definitionsId)
  if (resource === undefined) return undefined
  const { keys, reader, now } = accessOf(resource)
  const objects = createOwnObjects(registry, accessOf)
  const { signal } = new AbortController()
  return new Definitions({
    registry,
    reader,
    range: keys.range(),
    now,
    log,
    changeStatus: (name, decide) => objects.changeStatus(definitionsId, { namespace: '', name }, decide),
    release: async (name, decide) => {
      for (;;) {
        const current = await objects.get(definitionsId, { namespace: '', name }, 'latest')
        const next = current && decide(current)
        if (next === undefined) return
        const path = `${collectionOf(definitionsId)}/${name}/status`
        const { status } = await request(handle, {
          method: 'PATCH',
          path,
          body: statusPatch(next),
          isMergePatch: true,
          signal,
        })
        if (status !== CONFLICT) return
      }
    },
    deleteObjects: (custom) =>
      registry.find(custom) === undefined
        ? removeObjects(accessOf(custom))
        : deleteObjects(custom, accessOf(custom), handle),
    forget: (custom, isGone) => {
      cache.remove(keysOf(custom).prefix)
      if (isGone) uncount(custom)
    },
    announce: async (place, isServed) => {
      const name = `${place.version}.${place.group}`
      const found = await objects.get(apiServicesId, { namespace: '', name }, 'any')
      if ((found !== undefined) === isServed) return
      const path = collectionOf(apiServicesId)
      await (isServed
        ? request(handle, { method: 'POST', path, body: apiService(name, place), signal })
        : request(handle, { method: 'DELETE', path: `${path}/${name}`, signal }))
    },
  })
}

const CONFLICT = 409

const collectionOf = ({ group, version, plural }: typeof definitionsId | typeof apiServicesId): string =>
  `/apis/${group}/${version}/${plural}`

function statusPatch({ metadata, status }: KubeObject): Fields {
  const { resourceVersion, finalizers } = metadata
  return { metadata: { resourceVersion, finalizers }, status: { conditions: conditionsOf(status) } }
}

const conditionsOf = (status: KubeObject[string]): Fields[string] =>
  typeof status === 'object' && status !== null && 'conditions' in status ? status['conditions'] : undefined

async function deleteObjects(resource: Resource, access: WriteAccess, handle: Handle): Promise<number> {
  const { keys, reader } = access
  const { items } = await reader.list(keys.range(), 'latest')
  const namespaces = new Set(items.map(({ key }) => keys.parse(key)?.namespace))
  const { group, version, plural } = resource
  const { signal } = new AbortController()
  for (const namespace of namespaces) {
    const folder = namespace === undefined ? '' : `/namespaces/${namespace}`
    await request(handle, { method: 'DELETE', path: `/apis/${group}/${version}${folder}/${plural}`, signal })
  }
  return items.length === 0 ? 0 : (await reader.list(keys.range(), 'latest')).items.length
}

/** Of a kind that is served in no version: nobody can hold them, since nobody could let go. */
async function removeObjects({ keys, reader, store, decode }: WriteAccess): Promise<number> {
  const { items } = await reader.list(keys.range(), 'latest')
  for (const { key } of items) {
    await store.update(key, { decode }, async (current) => (current === undefined ? 'unchanged' : 'delete'))
  }
  return 0
}

function apiService(name: string, { group, version }: { readonly group: string; readonly version: string }): Fields {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name, labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' } },
    spec: { group, version, groupPriorityMinimum: 1000, versionPriority: 100 },
  }
}
