/**
 * What stands between a decoded request and the database: first all plugins that may change the object, then all that may
 * only refuse it, each in its fixed order. A plugin refuses by throwing an ApiError.
 */
import type { RequestContext } from '../api/context.ts'
import { type ApiError, forbidden } from '../api/errors.ts'
import type { KubeObject } from '../api/object.ts'
import type { Resource, ResourceRequest } from '../registry/resource.ts'

/** What a plugin may know of a write. The user and the warnings are in the context. */
export type Attributes = {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly resource: Resource
  readonly subresource: string
  /** Empty for resources without namespaces. */
  readonly namespace: string
  /** Empty where it is still to be generated. */
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

/** The one place where attributes are made. Where the path has no name, as that of a create, the object says it. */
export function attributesOf(request: ResourceRequest, { operation, options, object, oldObject }: Asked): Attributes {
  const { resource, subresource, namespace, context } = request
  const name = request.name === '' ? (object?.metadata.name ?? '') : request.name
  const { isDryRun } = options
  return { operation, resource, subresource, namespace, name, object, oldObject, isDryRun, context }
}

export interface Plugin {
  readonly name: string
  /** The resources that it has anything to say about, such as `pods` or `deployments.apps`. Absent: all of them. */
  readonly resources?: ReadonlySet<string>
  /** The object, changed or not. Of a delete there is none, but the plugin may still refuse it. */
  readonly mutate?: (attributes: Attributes) => Maybe<KubeObject | undefined>
  readonly validate?: (attributes: Attributes) => Maybe<void>
}

type Maybe<T> = T | Promise<T>

/** The resource as errors name it, with the part that is written: `pods`, `deployments.apps`, `pods/resize`. */
export function targetOf({ resource, subresource }: Attributes): string {
  const name = nameOf(resource)
  return subresource === '' ? name : `${name}/${subresource}`
}

const nameOf = ({ group, plural }: Resource): string => (group === '' ? plural : `${plural}.${group}`)

/** How a plugin refuses: `pods "p" is forbidden: …`. A name that is still to be generated is shown by its beginning. */
export function refusal({ resource, name, object }: Attributes, why: string): ApiError {
  const { name: given = '', generateName = '' } = object?.metadata ?? {}
  return forbidden(resource, name || given || generateName || 'Unknown', why)
}

/** The plugins that have a step and something to say about a resource, in their order. */
type Chain = {
  readonly mutators: readonly NonNullable<Plugin['mutate']>[]
  readonly validators: readonly NonNullable<Plugin['validate']>[]
}

export class Admission {
  readonly #plugins: readonly Plugin[]
  /** Most plugins are about one kind: no other pays for them. */
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
