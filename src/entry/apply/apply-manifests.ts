/**
 * Applies manifests with server-side apply, stage by stage (`stages.ts`). Errors of single objects
 * do not prevent the others from being applied.
 */
import { fieldsOf, type Json, type KubeObject, itemsOf, textOf } from '../../api/object.ts'
import { messageOf } from '../../lib/errors.ts'
import { Semaphore } from '../../lib/concurrency/semaphore.ts'
import {
  type ApiClient,
  type ApiClientResponse,
  CONFLICT,
  CREATED,
  FORBIDDEN,
  NOT_FOUND,
  OK,
  reasonOf,
} from './api-client.ts'
import { partOfLabel } from './labels.ts'
import type { Manifest } from './parse-manifests.ts'
import { describeObject, groupKindOf } from './object-names.ts'
import { namespaceOf, pathOf, ResourceTypes } from './resource-types.ts'
import { isDefinition, stagesOf } from './stages.ts'
import { waitUntil } from './wait-until.ts'

export const FIELD_MANAGER = 'keelson-apply'

/** Number of objects of a stage that are applied at the same time. */
const CONCURRENT_OBJECTS = 8
/** Maximum wait until a new CustomResourceDefinition is served. */
const SERVED_MS_MAX = 30_000
/** Maximum wait until an object that is being deleted no longer exists. */
const GONE_MS_MAX = 30_000
/** How long to wait until the server has processed a change that an object depends on. */
const NOTICED_MS_MAX = 5000

export type ApplyOptions = {
  readonly client: ApiClient
  readonly signal?: AbortSignal
  /**
   * Returns the ID of the ApplySet that the object is added to, or undefined if it is added to
   * none. `existing` is the object that is already on the server.
   */
  readonly applySetOf?: (manifest: Manifest, existing: KubeObject | undefined) => string | undefined
}

export type AppliedObject = {
  /** The object as the server returned it. */
  readonly object: KubeObject
  readonly outcome: 'created' | 'configured' | 'unchanged'
}

export type ApplyResult = {
  /** The applied objects, in the order in which they were applied. */
  readonly applied: ReadonlyMap<Manifest, AppliedObject>
  /** Error messages, each of which names the manifest and the object. */
  readonly faults: readonly string[]
}

export async function applyManifests(
  manifests: readonly Manifest[],
  options: ApplyOptions,
): Promise<ApplyResult> {
  const applier = new Applier(options)
  const applied = new Map<Manifest, AppliedObject>()
  const faults: string[] = []
  const permits = new Semaphore(CONCURRENT_OBJECTS)
  const applyOne = (manifest: Manifest): Promise<AppliedObject | string> =>
    permits.run(async () => {
      try {
        options.signal?.throwIfAborted()
        return await applier.apply(manifest)
      } catch (error) {
        options.signal?.throwIfAborted()
        return `${manifest.source}: ${describeObject(manifest.object)}: ${messageOf(error)}`
      }
    })
  for (const stage of stagesOf(manifests)) {
    const results = await Promise.all(stage.map(applyOne))
    for (const [at, manifest] of stage.entries()) {
      const result = results[at]
      if (typeof result === 'object') applied.set(manifest, result)
      else if (result !== undefined) faults.push(result)
    }
  }
  return { applied, faults }
}

class Applier {
  readonly #options: ApplyOptions
  readonly #types: ResourceTypes
  /** The kinds whose CustomResourceDefinitions have changed, as `groupKindOf` returns them. */
  readonly #changedKinds = new Set<string>()

  constructor(options: ApplyOptions) {
    this.#options = options
    this.#types = new ResourceTypes(options.client)
  }

  async apply(manifest: Manifest): Promise<AppliedObject> {
    const { object } = manifest
    const type = await this.#types.find(object.apiVersion, object.kind)
    if (type === undefined) {
      throw new Error(
        `the server has no kind ${object.kind} in ${object.apiVersion}: correct them, or apply the CustomResourceDefinition as well`,
      )
    }
    const namespace = namespaceOf(type, object)
    const path = pathOf(type, { name: textOf(object.metadata.name), namespace })
    const existing = await this.#existing(path)
    const applySet = this.#options.applySetOf?.(manifest, existing)
    const response = await this.#patch(path, bodyOf(object, namespace, applySet))
    // If another client has created the object since it was looked up, remove it from the ApplySet
    // again.
    const isForeign = existing === undefined && response.status === OK && applySet !== undefined
    const applied = appliedOf(
      isForeign ? await this.#patch(path, bodyOf(object, namespace, undefined)) : response,
      existing,
    )
    if (isDefinition(manifest)) await this.#untilServed(applied)
    return applied
  }

  /** Resolves when the server serves the resources of a CustomResourceDefinition. */
  async #untilServed({ object, outcome }: AppliedObject): Promise<void> {
    const { group, names, versions } = fieldsOf(object['spec'])
    const kind = textOf(fieldsOf(names)['kind'])
    const path = `/apis/${object.apiVersion}/customresourcedefinitions/${object.metadata.name}`
    if (outcome === 'configured') this.#changedKinds.add(`${kind}.${textOf(group)}`)
    const isServed = async (): Promise<boolean> => {
      const { body } = await this.#options.client({ method: 'GET', path })
      const conditions = itemsOf(fieldsOf(fieldsOf(body)['status'])['conditions'])
      const conditionOf = (name: string) => conditions.find(({ type }) => type === name)
      const accepted = conditionOf('NamesAccepted')
      if (accepted?.['status'] === 'False') throw new Error(textOf(accepted['message']))
      if (conditionOf('Established')?.['status'] !== 'True') return false
      for (const { name, served } of itemsOf(versions)) {
        const version = `${textOf(group)}/${textOf(name)}`
        if (served === true && (await this.#types.find(version, kind)) === undefined) return false
      }
      return true
    }
    if (!(await waitUntil(isServed, this.#limit(SERVED_MS_MAX))))
      throw new Error(`is not served after ${SERVED_MS_MAX / 1000} s: see its status`)
  }

  /**
   * Returns the object on the server, or undefined if there is none. If the object is being
   * deleted, first waits until it no longer exists.
   */
  async #existing(path: string): Promise<KubeObject | undefined> {
    let existing: KubeObject | undefined
    const isSettled = async (): Promise<boolean> => {
      const response = await this.#options.client({ method: 'GET', path })
      if (response.status !== OK && response.status !== NOT_FOUND)
        throw new Error(reasonOf(response))
      existing = response.status === OK ? toObject(response.body) : undefined
      return existing?.metadata.deletionTimestamp === undefined
    }
    if (await waitUntil(isSettled, this.#limit(GONE_MS_MAX))) return existing
    const finalizers = existing?.metadata.finalizers ?? []
    throw new Error(
      `is being deleted since ${GONE_MS_MAX / 1000} s${finalizers.length === 0 ? '' : ` and waits for its finalizers (${finalizers.join(', ')})`}: wait until it is gone, then apply again`,
    )
  }

  async #patch(path: string, body: KubeObject): Promise<ApiClientResponse> {
    const query = `fieldManager=${FIELD_MANAGER}&fieldValidation=Strict`
    const request = {
      method: 'PATCH',
      path: `${path}?${query}`,
      body,
      contentType: 'application/apply-patch+yaml',
    } as const
    let response = await this.#options.client(request)
    if (!this.#isPremature(response, body)) return response
    const isFinal = async (): Promise<boolean> => {
      response = await this.#options.client(request)
      return !this.#isPremature(response, body)
    }
    await waitUntil(isFinal, this.#limit(NOTICED_MS_MAX))
    return response
  }

  /**
   * Whether a rejection may only mean that the server has not processed an earlier change yet. For
   * example, a new namespace may have no ServiceAccount yet, and new fields of a
   * CustomResourceDefinition may be unknown.
   */
  #isPremature(response: ApiClientResponse, object: KubeObject): boolean {
    if (response.status < 400) return false
    const lacksAccount =
      response.status === FORBIDDEN &&
      reasonOf(response).includes('error looking up service account')
    return lacksAccount || this.#changedKinds.has(groupKindOf(object))
  }

  #limit(timeoutMs: number) {
    return { timeoutMs, signal: this.#options.signal }
  }
}

function appliedOf(response: ApiClientResponse, existing: KubeObject | undefined): AppliedObject {
  if (response.status === CONFLICT) throw new Error(describeConflict(response))
  if (response.status !== OK && response.status !== CREATED) throw new Error(reasonOf(response))
  const object = toObject(response.body)
  if (response.status === CREATED) return { object, outcome: 'created' }
  const isSame = existing?.metadata.resourceVersion === object.metadata.resourceVersion
  return { object, outcome: isSame ? 'unchanged' : 'configured' }
}

function bodyOf(
  object: KubeObject,
  namespace: string | undefined,
  applySet: string | undefined,
): KubeObject {
  const { namespace: _, ...metadata } = object.metadata
  const labels =
    applySet === undefined ? {} : { labels: { ...metadata.labels, [partOfLabel]: applySet } }
  return {
    ...object,
    metadata: { ...metadata, ...(namespace === undefined ? {} : { namespace }), ...labels },
  }
}

/** Converts a response of the server, which is an object. */
function toObject(body: Json): KubeObject {
  const fields = fieldsOf(body)
  const { apiVersion, kind, metadata } = fields
  return {
    ...fields,
    apiVersion: textOf(apiVersion),
    kind: textOf(kind),
    metadata: fieldsOf(metadata),
  }
}

/** Describes a conflict: which manager owns which fields, and what the user can do. */
function describeConflict(response: ApiClientResponse): string {
  const causes = itemsOf(fieldsOf(fieldsOf(response.body)['details'])['causes'])
  const conflicts = causes.filter(({ reason }) => reason === 'FieldManagerConflict')
  if (conflicts.length === 0) return reasonOf(response)
  const fields = conflicts.map(({ field, message }) => {
    const [, manager = 'another manager'] = /^conflict with ("[^"]*")/.exec(textOf(message)) ?? []
    return `${manager} manages ${textOf(field)}`
  })
  return `conflict: ${fields.join(', ')}. Remove these fields from the manifest, or take them over with kubectl apply --server-side --force-conflicts --field-manager=${FIELD_MANAGER}`
}
