/**
 * The admission chain, between a decoded request and storage: first all mutating plugins, then all validating ones, each in a fixed order.
 * A plugin refuses a request by throwing an ApiError.
 */
import type { RequestContext } from '../api/context.ts'
import { type ApiError, forbidden } from '../api/errors.ts'
import type { KubeObject } from '../api/object.ts'
import type { Resource, ResourceRequest } from '../registry/resource.ts'

/** What a plugin may know of a request. The user and the warnings are in the context. */
export type Attributes = {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly resource: Resource
  readonly subresource: string
  /** Empty for cluster-scoped resources. */
  readonly namespace: string
  /** Empty if it is still to be generated. */
  readonly name: string
  /** As it is to be stored; undefined for a delete. */
  readonly object: KubeObject | undefined
  /** As it is stored; undefined for a create. */
  readonly oldObject: KubeObject | undefined
  readonly isDryRun: boolean
  readonly context: RequestContext
}

type Asked = {
  readonly operation: Attributes['operation']
  readonly options: { readonly isDryRun: boolean }
  readonly object?: KubeObject | undefined
  readonly oldObject?: KubeObject | undefined
}

/** The only place where attributes are created. If the path has no name, as that of a create, it is taken from the object. */
export function attributesOf(request: ResourceRequest, { operation, options, object, oldObject }: Asked): Attributes {
  const { resource, subresource, namespace, context } = request
  const name = request.name === '' ? (object?.metadata.name ?? '') : request.name
  const { isDryRun } = options
  return { operation, resource, subresource, namespace, name, object, oldObject, isDryRun, context }
}

export interface Plugin {
  readonly name: string
  /** The resources that the plugin handles, such as `pods` or `deployments.apps`. Absent: all. */
  readonly resources?: ReadonlySet<string>
  /** Returns the object, changed or not. A delete has none, but the plugin may still refuse it. */
  readonly mutate?: (attributes: Attributes) => Maybe<KubeObject | undefined>
  readonly validate?: (attributes: Attributes) => Maybe<void>
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
    let { object } = attributes
    for (const mutate of this.#chainOf(attributes.resource).mutators) {
      const mutated = mutate(object === attributes.object ? attributes : { ...attributes, object })
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
