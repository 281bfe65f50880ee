/**
 * The admission chain, between a decoded request and storage: first all mutating plugins, then all
 * validating ones, each in a fixed order. A plugin refuses a request by throwing an ApiError.
 */
import type { RequestContext } from '../api/context.ts'
import { type ApiError, forbidden } from '../api/errors.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { type MaybePromise, thenMaybe } from '../lib/concurrency/maybe-promise.ts'
import type { Resource } from '../registry/resource.ts'
import type { ObjectSchema } from '../objects/schema/object-schema.ts'
import { systemClock } from '../lib/time/clock.ts'
import { Metrics } from '../lib/telemetry/metrics.ts'
import type { Operation } from './handled-operations.ts'
import { MeasuredStep, Stopwatch } from './measured-step.ts'
import { AdmissionMetrics } from './metrics.ts'

/** The API group of webhook configurations and policies. */
export const admissionGroup = 'admissionregistration.k8s.io'

/** What a plugin may know of a request. The user and the warnings are in the context. */
export type Attributes = {
  readonly operation: Operation
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
  /**
   * The schema of both objects: that of the resource, or of the subresource if that has a kind of
   * its own.
   */
  readonly shape: () => ObjectSchema
  readonly context: RequestContext
  /** What a plugin of this step has read, for those after it. */
  readonly known: PreloadedObjects
}

/** `namespace`: that of the object, from the cache. */
export type PreloadedObjects = { namespace?: KubeObject }

export interface Plugin {
  readonly name: string
  /** The resources that the plugin handles, such as `pods` or `deployments.apps`. Absent: all. */
  readonly resources?: ReadonlySet<string>
  /** Returns the object, changed or not. A delete has none, but the plugin may still refuse it. */
  readonly mutate?: (attributes: Attributes, rounds: Rounds) => MaybePromise<KubeObject | undefined>
  readonly validate?: (attributes: Attributes) => MaybePromise<void>
  /**
   * Checks again what may have changed while the other plugins took long. Called right before a new
   * object is stored.
   */
  readonly confirm?: (attributes: Attributes) => MaybePromise<unknown>
}

/**
 * A webhook that changes the object makes all mutating plugins run once more, since they may have
 * to say something about the change.
 */
export class Rounds {
  /** Whether the plugins run for the second time. */
  isSecond = false
  /** Set by a plugin that changed what others have seen. */
  needsSecond = false
}

/**
 * The resource as errors name it, with the subresource: `pods`, `deployments.apps`, `pods/resize`.
 */
export function targetOf({ resource, subresource }: Attributes): string {
  const name = nameOf(resource)
  return subresource === '' ? name : `${name}/${subresource}`
}

const nameOf = ({ group, plural }: Resource): string =>
  group === '' ? plural : `${plural}.${group}`

/** The name in a refusal. One that is still to be generated is replaced by its generateName. */
export function shownName({ name, object }: Attributes): string {
  const { name: given = '', generateName = '' } = object?.metadata ?? {}
  return name || given || generateName || 'Unknown'
}

/** The 403 of a plugin: `pods "p" is forbidden: …`. */
export function refusal(attributes: Attributes, why: string): ApiError {
  return forbidden(attributes.resource, shownName(attributes), why)
}

/** The plugins that act on a resource in an operation, by step, in their order. */
type Chain = {
  readonly mutating: MeasuredStep<NonNullable<Plugin['mutate']>>
  readonly validating: MeasuredStep<NonNullable<Plugin['validate']>>
}

export type AdmissionOptions = {
  /** The names of all plugins that are on, in their order; absent: those that are given. */
  readonly running?: readonly string[]
  readonly metrics?: AdmissionMetrics
  readonly monotonicMs?: () => number
}

export class Admission {
  readonly #plugins: readonly Plugin[]
  readonly #running: readonly string[]
  readonly #metrics: AdmissionMetrics
  readonly #monotonicMs: () => number
  /** Most plugins handle one kind: writes of other kinds do not pay for them. */
  readonly #chains = new WeakMap<Resource, Partial<Record<Operation, Chain>>>()

  constructor(plugins: readonly Plugin[], options: AdmissionOptions = {}) {
    const { running, metrics, monotonicMs = systemClock.monotonicMs } = options
    this.#plugins = plugins
    this.#running = running ?? plugins.map(({ name }) => name)
    this.#metrics = metrics ?? new AdmissionMetrics(new Metrics(), monotonicMs)
    this.#monotonicMs = monotonicMs
  }

  /** Returns a promise only if a plugin has to wait. */
  mutate(attributes: Attributes): MaybePromise<KubeObject | undefined> {
    const rounds = new Rounds()
    const step = this.#chainOf(attributes).mutating
    const watch = new Stopwatch(this.#monotonicMs)
    const mutated = thenMaybe(mutateOnce(attributes, step, { rounds, watch }), (object) => {
      if (!rounds.needsSecond) return object
      rounds.isSecond = true
      // Webhooks may have taken seconds.
      return mutateOnce({ ...attributes, object, known: {} }, step, { rounds, watch })
    })
    return thenMaybe(mutated, (object) => {
      step.recordPassed(watch)
      return object
    })
  }

  /** Returns a promise only if a plugin has to wait. */
  validate(attributes: Attributes): MaybePromise<void> {
    const step = this.#chainOf(attributes).validating
    const watch = new Stopwatch(this.#monotonicMs)
    return thenMaybe(
      step.runAll(watch, ({ run }) => run(attributes)),
      () => step.recordPassed(watch),
    )
  }

  /** For a new object whose admission took long. */
  async confirm(attributes: Attributes): Promise<void> {
    for (const { confirm } of this.#plugins) await confirm?.(attributes)
  }

  #chainOf({ resource, operation }: Attributes): Chain {
    const known = this.#chains.get(resource)
    const found = known?.[operation]
    if (found !== undefined) return found
    const chain = this.#createChain(resource, operation)
    if (known === undefined) this.#chains.set(resource, { [operation]: chain })
    else known[operation] = chain
    return chain
  }

  #createChain(resource: Resource, operation: Operation): Chain {
    const target = nameOf(resource)
    const concerned = this.#plugins.filter(({ resources }) => resources?.has(target) ?? true)
    const parts = { operation, running: this.#running, metrics: this.#metrics }
    return {
      mutating: new MeasuredStep({
        ...parts,
        type: 'admit',
        acting: concerned.flatMap(({ name, mutate }) =>
          mutate === undefined ? [] : { name, run: mutate },
        ),
      }),
      validating: new MeasuredStep({
        ...parts,
        type: 'validate',
        acting: concerned.flatMap(({ name, validate }) =>
          validate === undefined ? [] : { name, run: validate },
        ),
      }),
    }
  }
}

function mutateOnce(
  attributes: Attributes,
  step: Chain['mutating'],
  { rounds, watch }: { readonly rounds: Rounds; readonly watch: Stopwatch },
): MaybePromise<KubeObject | undefined> {
  let { object } = attributes
  const replace = (mutated: KubeObject | undefined): void => {
    object = mutated
  }
  const ran = step.runAll(watch, ({ run }) => {
    const mutated = run(
      object === attributes.object ? attributes : { ...attributes, object },
      rounds,
    )
    return mutated instanceof Promise ? mutated.then(replace) : replace(mutated)
  })
  return thenMaybe(ran, () => object)
}
