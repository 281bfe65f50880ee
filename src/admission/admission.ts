/**
 * The admission chain, between a decoded request and storage: first all mutating plugins, then all validating ones, each in a fixed order.
 * A plugin refuses a request by throwing an ApiError.
 */
import type { RequestContext } from '../api/context.ts'
import { type ApiError, forbidden } from '../api/errors.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { type Resource, type ResourceRequest, viewOf } from '../registry/resource.ts'
import type { ObjectSchema } from '../schema/object-schema.ts'
import { deleteOptions, type GivenOptions, writeOptions } from './operation-options.ts'

/** The API group of webhook configurations and policies. */
export const admissionGroup = 'admissionregistration.k8s.io'

/** What a plugin may know of a request. The user and the warnings are in the context. */
export type Attributes = {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly resource: Resource
  readonly subresource: string
  /** Empty for cluster-scoped resources. */
  readonly namespace: string
  /** Empty if it is still to be generated, and in a deletecollection. */
  readonly name: string
  /** As it is to be stored; undefined for a delete. */
  readonly object: KubeObject | undefined
  /** As it is stored; undefined for a create. */
  readonly oldObject: KubeObject | undefined
  readonly isDryRun: boolean
  /** CreateOptions, UpdateOptions or DeleteOptions. Undefined: a CONNECT has none. */
  readonly options: () => Fields | undefined
  /** The schema of both objects: that of the resource, or of the subresource if that has a kind of its own. */
  readonly shape: () => ObjectSchema
  readonly context: RequestContext
}

type Asked = {
  readonly operation: Attributes['operation']
  readonly options: GivenOptions
  readonly object?: KubeObject | undefined
  readonly oldObject?: KubeObject | undefined
  /** The schema of the object, if it is neither that of the resource nor of a view of it. */
  readonly shape?: ObjectSchema | undefined
}

/**
 * The only place where attributes are created. If the path has no name, as that of a create, it is taken from the object. The objects of a
 * deletecollection have none.
 */
export function attributesOf(request: ResourceRequest, asked: Asked): Attributes {
  const { operation, options, object, oldObject, shape } = asked
  const { resource, subresource, namespace, context } = request
  return {
    operation,
    resource,
    subresource,
    namespace,
    name: request.verb === 'deletecollection' ? '' : request.name || (object?.metadata.name ?? ''),
    object,
    oldObject,
    isDryRun: options.isDryRun,
    options: () => optionsOf(request, asked),
    shape: () => shape ?? viewOf(request)?.shape ?? resource.shape,
    context,
  }
}

function optionsOf({ http }: ResourceRequest, { operation, options }: Asked): Fields | undefined {
  switch (operation) {
    case 'CREATE':
      return writeOptions('CreateOptions', http.query)
    case 'UPDATE':
      return writeOptions('UpdateOptions', http.query)
    case 'DELETE':
      return deleteOptions(options)
    case 'CONNECT':
      return undefined
  }
}

export interface Plugin {
  readonly name: string
  /** The resources that the plugin handles, such as `pods` or `deployments.apps`. Absent: all. */
  readonly resources?: ReadonlySet<string>
  /** Returns the object, changed or not. A delete has none, but the plugin may still refuse it. */
  readonly mutate?: (attributes: Attributes, rounds: Rounds) => Maybe<KubeObject | undefined>
  readonly validate?: (attributes: Attributes) => Maybe<void>
}

/** A webhook that changes the object makes all mutating plugins run once more, since they may have to say something about the change. */
export class Rounds {
  /** Whether the plugins run for the second time. */
  isSecond = false
  /** Set by a plugin that changed what others have seen. */
  needsSecond = false
}

type Maybe<T> = T | Promise<T>

/** The resource as errors name it, with the subresource: `pods`, `deployments.apps`, `pods/resize`. */
export function targetOf({ resource, subresource }: Attributes): string {
  const name = nameOf(resource)
  return subresource === '' ? name : `${name}/${subresource}`
}

const nameOf = ({ group, plural }: Resource): string => (group === '' ? plural : `${plural}.${group}`)

/** The 403 of a plugin: `pods "p" is forbidden: …`. A name that is still to be generated is replaced by its generateName. */
export function refusal({ resource, name, object }: Attributes, why: string): ApiError {
  const { name: given = '', generateName = '' } = object?.metadata ?? {}
  return forbidden(resource, name || given || generateName || 'Unknown', why)
}

/** The plugins that handle a resource, by step, in their order. */
type Chain = {
  readonly mutators: readonly NonNullable<Plugin['mutate']>[]
  readonly validators: readonly NonNullable<Plugin['validate']>[]
}

export class Admission {
  readonly #plugins: readonly Plugin[]
  /** Most plugins handle one kind: writes of other kinds do not pay for them. */
  readonly #chains = new WeakMap<Resource, Chain>()

  constructor(plugins: readonly Plugin[]) {
    this.#plugins = plugins
  }

  async mutate(attributes: Attributes): Promise<KubeObject | undefined> {
    const rounds = new Rounds()
    const object = await this.#mutateOnce(attributes, rounds)
    if (!rounds.needsSecond) return object
    rounds.isSecond = true
    return this.#mutateOnce({ ...attributes, object }, rounds)
  }

  async #mutateOnce(attributes: Attributes, rounds: Rounds): Promise<KubeObject | undefined> {
    let { object } = attributes
    for (const mutate of this.#chainOf(attributes.resource).mutators) {
      const mutated = mutate(object === attributes.object ? attributes : { ...attributes, object }, rounds)
      object = mutated instanceof Promise ? await mutated : mutated
    }
    return object
  }

  async validate(attributes: Attributes): Promise<void> {
    for (const validate of this.#chainOf(attributes.resource).validators) {
      const validated = validate(attributes)
      if (validated instanceof Promise) await validated
    }
  }

  #chainOf(resource: Resource): Chain {
    const known = this.#chains.get(resource)
    if (known !== undefined) return known
    const name = nameOf(resource)
    const concerned = this.#plugins.filter(({ resources }) => resources?.has(name) ?? true)
    const chain = {
      mutators: concerned.flatMap(({ mutate }) => mutate ?? []),
      validators: concerned.flatMap(({ validate }) => validate ?? []),
    }
    this.#chains.set(resource, chain)
    return chain
  }
}
