/** Connects the controller of CustomResourceDefinitions to the parts of a control plane. */
import { type Fields, fieldsOf, type KubeObject, textOf } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import type { ApiResponse } from '../../api/request.ts'
import { CrdController } from '../../controllers/crds.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import type { ResourceKeys } from '../../storage/keys.ts'
import type { WriteAccess } from '../../request/verbs/access.ts'
import { deleteInstances } from '../../request/verbs/delete-instances.ts'
import { createSystemObjects } from '../../request/verbs/system-objects.ts'

const crdsId = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
} as const
const apiServicesId = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  plural: 'apiservices',
} as const

type CrdsOptions = {
  readonly registry: Registry
  readonly accessOf: (resource: Resource) => WriteAccess
  /**
   * Returns the keys of a resource. In contrast to `accessOf`, it does not create any state for the
   * resource.
   */
  readonly keysOf: (resource: Resource) => ResourceKeys
  /** Returns access to objects in the versions in which they are stored. */
  readonly storedAccessOf: (resource: Resource) => WriteAccess
  /** Drops cached data of a custom resource whose CustomResourceDefinition has changed. */
  readonly retire: (resource: Resource) => void
  /** Removes the metrics of a custom resource that was deleted. */
  readonly uncount: (resource: Resource) => void
  readonly handle: Handler
  /**
   * Returns a number that changes when the database is replaced, or restored from an older backup.
   */
  readonly life: () => number
  readonly log: Log
}

/** Creates the controller. Returns undefined if CustomResourceDefinitions are not served. */
export function createCrds(options: CrdsOptions): CrdController | undefined {
  const { registry, accessOf, storedAccessOf, keysOf, retire, uncount, handle, life, log } = options
  const resource = registry.find(crdsId)
  if (resource === undefined) return undefined
  const { keys, reader, now } = accessOf(resource)
  const objects = createSystemObjects(registry, accessOf)
  const { signal } = new AbortController()
  const isBuiltInPlace = (custom: Resource): boolean => {
    const { prefix } = keysOf(custom)
    return registry
      .inGroup(custom.group)
      .some((other) => !other.isCustom && keysOf(other).prefix === prefix)
  }
  return new CrdController({
    registry,
    reader,
    range: keys.range(),
    life,
    now,
    log,
    changeStatus: (name, decide) => objects.changeStatus(crdsId, { namespace: '', name }, decide),
    release: async (name, decide) => {
      const path = `${collectionOf(crdsId)}/${name}/status`
      for (;;) {
        const current = await objects.get(crdsId, { namespace: '', name }, 'latest')
        const next = current && decide(current)
        if (next === undefined) return
        const sent = { method: 'PATCH', path, body: statusPatch(next), isMergePatch: true, signal }
        const answered = await request(handle, sent)
        // Retry, because another replica has written the status first.
        if (answered.status === CONFLICT) continue
        expectStatus(answered, [200, 404])
        return
      }
    },
    deleteObjects: (custom, isDoomed) =>
      deleteInstances(custom, storedAccessOf(custom), { isDoomed }),
    isBuiltInPlace,
    forget: (custom, isGone) => {
      if (isBuiltInPlace(custom)) return
      retire(custom)
      if (isGone) uncount(custom)
    },
    listAnnounced: async () => {
      const found = await objects.list(apiServicesId, '', 'latest')
      const own = found.filter(({ metadata }) => metadata.labels?.[managedLabel] === managedValue)
      return own.map(
        ({ spec }) => `${textOf(fieldsOf(spec)['group'])}/${textOf(fieldsOf(spec)['version'])}`,
      )
    },
    announce: async (place, isServed) => {
      const name = `${place.version}.${place.group}`
      const found = await objects.get(apiServicesId, { namespace: '', name }, 'latest')
      const path = collectionOf(apiServicesId)
      if (isServed && found === undefined) {
        const body = apiService(name, place)
        expectStatus(await request(handle, { method: 'POST', path, body, signal }), [201, 409])
      } else if (!isServed && found?.metadata.labels?.[managedLabel] !== undefined) {
        expectStatus(
          await request(handle, { method: 'DELETE', path: `${path}/${name}`, signal }),
          [200, 404],
        )
      }
    },
  })
}

/**
 * The label of APIServices that the server creates. APIServices that clients create do not have it.
 */
const managedLabel = 'kube-aggregator.kubernetes.io/automanaged'
/**
 * Value of the label for groups of CustomResourceDefinitions. The value for built-in groups is
 * `onstart`.
 */
const managedValue = 'true'

const CONFLICT = 409

function expectStatus({ status }: ApiResponse, expected: readonly number[]): void {
  if (!expected.includes(status)) throw new Error(`unexpected status ${status}`)
}

const collectionOf = ({ group, version, plural }: typeof crdsId | typeof apiServicesId): string =>
  `/apis/${group}/${version}/${plural}`

function statusPatch({ metadata, status }: KubeObject): Fields {
  const { resourceVersion, finalizers } = metadata
  return { metadata: { resourceVersion, finalizers }, status: { conditions: conditionsOf(status) } }
}

const conditionsOf = (status: KubeObject[string]): Fields[string] =>
  typeof status === 'object' && status !== null && 'conditions' in status
    ? status['conditions']
    : undefined

function apiService(
  name: string,
  { group, version }: { readonly group: string; readonly version: string },
): Fields {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name, labels: { [managedLabel]: managedValue } },
    spec: { group, version, groupPriorityMinimum: 1000, versionPriority: 100 },
  }
}
