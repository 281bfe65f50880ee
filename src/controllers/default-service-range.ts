/**
 * Keeps the default ServiceCIDR, `kubernetes`: creates it, adds the second range when the cluster
 * becomes dual-stack, and sets the Ready condition if it is missing. If the object does not match
 * the flags, it is left unchanged and a warning is logged.
 */
import { type Cidr, formatCidr } from '../api/ip.ts'
import { fieldsOf, isFields, itemsOf, type Fields, textsOf } from '../api/object.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import type { Log } from '../lib/telemetry/log.ts'

/** Interval between checks, as in kube-apiserver. */
export const RANGE_CHECK_MS = 10_000

const collection = '/apis/networking.k8s.io/v1/servicecidrs'
const name = 'kubernetes'

export type DefaultServiceRangeOptions = {
  readonly handle: Handler
  /** Whether the resource is served. --runtime-config can disable it. */
  readonly isServed: boolean
  readonly ranges: readonly Cidr[]
  /** Returns the current time in the format of metadata timestamps. */
  readonly now: () => string
  readonly log: Log
}

export class DefaultServiceRange {
  readonly #options: DefaultServiceRangeOptions
  readonly #cidrs: readonly string[]
  #hasReportedMismatch = false

  constructor(options: DefaultServiceRangeOptions) {
    this.#options = options
    this.#cidrs = options.ranges.map(formatCidr)
  }

  /**
   * Checks the object once. Rejects if it cannot be read or written. A conflict is not an error:
   * the next check reads the object that another server wrote.
   */
  readonly check = async (signal: AbortSignal): Promise<void> => {
    if (!this.#options.isServed) return
    const answer = await request(this.#options.handle, {
      method: 'GET',
      path: `${collection}/${name}`,
      signal,
    })
    if (answer.status === NOT_FOUND) return await this.#create(signal)
    const found = objectOf(answer)
    if (answer.status !== OK || !isFields(found))
      throw new Error(`reading the ServiceCIDR kubernetes failed: status ${answer.status}`)
    const cidrs = textsOf(fieldsOf(found['spec'])['cidrs'])
    if (isSecondMissing(cidrs, this.#cidrs)) return await this.#addSecond(found, signal)
    if (cidrs.join() !== this.#cidrs.join()) return this.#reportMismatch(cidrs)
    const isMarked = fieldsOf(found['metadata'])['deletionTimestamp'] !== undefined
    const hasCondition = itemsOf(fieldsOf(found['status'])['conditions']).some(
      ({ type }) => type === 'Ready',
    )
    if (!isMarked && !hasCondition) await this.#declareReady(signal)
  }

  async #create(signal: AbortSignal): Promise<void> {
    await this.#write({
      method: 'POST',
      path: collection,
      body: { ...identity, spec: { cidrs: [...this.#cidrs] } },
      signal,
    })
    await this.#declareReady(signal)
  }

  async #addSecond(found: Fields, signal: AbortSignal): Promise<void> {
    this.#options.log('info', 'adding the second cluster IP range to the default ServiceCIDR', {
      ranges: this.#cidrs,
    })
    const body = { ...found, spec: { ...fieldsOf(found['spec']), cidrs: [...this.#cidrs] } }
    await this.#write({ method: 'PUT', path: `${collection}/${name}`, body, signal })
  }

  async #declareReady(signal: AbortSignal): Promise<void> {
    const body = { ...identity, status: { conditions: [readyCondition(this.#options.now())] } }
    const manager = 'kubernetes-service-cidr-controller'
    await this.#write({
      method: 'PATCH',
      path: `${collection}/${name}/status`,
      isApply: true,
      manager,
      body,
      signal,
    })
  }

  async #write(written: Parameters<typeof request>[1]): Promise<void> {
    const { status } = await request(this.#options.handle, written)
    if (status >= FAILURE && status !== CONFLICT)
      throw new Error(`${written.method} of the ServiceCIDR kubernetes failed: status ${status}`)
  }

  #reportMismatch(cidrs: readonly string[]): void {
    if (this.#hasReportedMismatch) return
    this.#hasReportedMismatch = true
    const message =
      'the ServiceCIDR kubernetes differs from --service-cluster-ip-range, so Services get addresses outside of the ranges of the flag: set the same ranges on all servers, or delete the ServiceCIDR'
    this.#options.log('warn', message, { ranges: cidrs, flag: this.#cidrs })
  }
}

const identity = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name },
} as const

const readyCondition = (now: string): Fields => ({
  type: 'Ready',
  status: 'True',
  message: 'Kubernetes default Service CIDR is ready',
  lastTransitionTime: now,
})

const isSecondMissing = (found: readonly string[], wanted: readonly string[]): boolean =>
  found.length === 1 && wanted.length === 2 && found[0] === wanted[0]

const OK = 200
const FAILURE = 400
const NOT_FOUND = 404
const CONFLICT = 409
