/**
 * The admission chain, which runs after a request is decoded and before the object is stored. All
 * mutating plugins run first, then all validating plugins, each in a fixed order. A plugin rejects
 * a request by throwing an ApiError.
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

/** API group that contains webhook configurations and admission policies. */
export const admissionGroup = 'admissionregistration.k8s.io'

/** The request that plugins process. The user and the warnings are in `context`. */
export type Attributes = {
  readonly operation: Operation
  readonly resource: Resource
  readonly subresource: string
  /** Namespace of the object. Empty for cluster-scoped resources. */
  readonly namespace: string
  /** Name of the object. Empty if the name is not generated yet, and for a deletecollection. */
  readonly name: string
  /**
   * Object that the request would store; undefined for a delete. For a CONNECT, the options of the
   * request, which are also an object.
   */
  readonly object: KubeObject | undefined
  /** The stored object; undefined for a create. */
  readonly oldObject: KubeObject | undefined
  readonly isDryRun: boolean
  /** CreateOptions, UpdateOptions or DeleteOptions; undefined for a CONNECT. */
  readonly options: () => Fields | undefined
  /**
   * Schema of `object` and `oldObject`. This is the schema of the resource, unless the subresource
   * has its own kind.
   */
  readonly shape: () => ObjectSchema
  readonly context: RequestContext
  /**
   * Objects that earlier plugins of this step (mutating or validating) have read, so that later
   * plugins need not read them again.
   */
  readonly known: PreloadedObjects
}

/**
 * Objects that one plugin reads and later plugins reuse. `namespace` is the Namespace of the object
 * in the request, as read from the cache.
 */
export type PreloadedObjects = { namespace?: KubeObject }

export interface Plugin {
  readonly name: string
  /**
   * Resources that the plugin handles, such as `pods` or `deployments.apps`. If absent, the plugin
   * handles all resources.
   */
  readonly resources?: ReadonlySet<string>
  /**
   * Returns the object, changed or unchanged. A delete has no object, but the plugin can still
   * reject the request.
   */
  readonly mutate?: (attributes: Attributes, rounds: Rounds) => MaybePromise<KubeObject | undefined>
  readonly validate?: (attributes: Attributes) => MaybePromise<void>
}

/**
 * State of the mutating step. If a webhook changes the object, all mutating plugins run a second
 * time, because they may have to react to the change.
 */
export class Rounds {
  /** Whether the mutating plugins are running for the second time. */
  isSecond = false
  /**
   * Whether the mutating plugins must run again. Set by a plugin that changed the object after
   * other plugins had processed it.
   */
  needsSecond = false
}

/**
 * Returns the resource as error messages name it, including the subresource: `pods`,
 * `deployments.apps`, `pods/resize`.
 */
export function targetOf({ resource, subresource }: Attributes): string {
  const name = nameOf(resource)
  return subresource === '' ? name : `${name}/${subresource}`
}

const nameOf = ({ group, plural }: Resource): string =>
  group === '' ? plural : `${plural}.${group}`

/**
 * Returns the object name for error messages. If the name is not generated yet, returns the
 * generateName.
 */
export function shownName({ name, object }: Attributes): string {
  const { name: given = '', generateName = '' } = object?.metadata ?? {}
  return name || given || generateName || 'Unknown'
}

/** Creates the 403 error by which a plugin rejects a request: `pods "p" is forbidden: …`. */
export function refusal(attributes: Attributes, why: string): ApiError {
  return forbidden(attributes.resource, shownName(attributes), why)
}

/**
 * The plugins that handle one operation on one resource, in the order in which they run: first the
 * mutating plugins, then the validating ones.
 */
type Chain = {
  readonly mutating: MeasuredStep<NonNullable<Plugin['mutate']>>
  readonly validating: MeasuredStep<NonNullable<Plugin['validate']>>
}

export type AdmissionOptions = {
  /** Names of all enabled plugins, in order. Defaults to the names of the given plugins. */
  readonly running?: readonly string[]
  readonly metrics?: AdmissionMetrics
  readonly monotonicMs?: () => number
}

export class Admission {
  readonly #plugins: readonly Plugin[]
  readonly #running: readonly string[]
  readonly #metrics: AdmissionMetrics
  readonly #monotonicMs: () => number
  /**
   * Chains of plugins, by resource and operation. Most plugins handle only one kind, so the chains
   * of other kinds leave them out.
   */
  readonly #chains = new WeakMap<Resource, Partial<Record<Operation, Chain>>>()

  constructor(plugins: readonly Plugin[], options: AdmissionOptions = {}) {
    const { running, metrics, monotonicMs = systemClock.monotonicMs } = options
    this.#plugins = plugins
    this.#running = running ?? plugins.map(({ name }) => name)
    this.#metrics = metrics ?? new AdmissionMetrics(new Metrics(), monotonicMs)
    this.#monotonicMs = monotonicMs
  }

  /** Runs the mutating plugins. Returns a promise only if a plugin has to wait. */
  mutate(attributes: Attributes): MaybePromise<KubeObject | undefined> {
    const rounds = new Rounds()
    const step = this.#chainOf(attributes).mutating
    const watch = new Stopwatch(this.#monotonicMs)
    const mutated = thenMaybe(mutateOnce(attributes, step, { rounds, watch }), (object) => {
      if (!rounds.needsSecond) return object
      rounds.isSecond = true
      // Do not reuse the objects that plugins read in the first round: webhooks may have taken
      // seconds, so the objects may be outdated.
      return mutateOnce({ ...attributes, object, known: {} }, step, { rounds, watch })
    })
    return thenMaybe(mutated, (object) => {
      step.recordPassed(watch)
      return object
    })
  }

  /** Runs the validating plugins. Returns a promise only if a plugin has to wait. */
  validate(attributes: Attributes): MaybePromise<void> {
    const step = this.#chainOf(attributes).validating
    const watch = new Stopwatch(this.#monotonicMs)
    return thenMaybe(
      step.runAll(watch, ({ run }) => run(attributes)),
      () => step.recordPassed(watch),
    )
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
