/**
 * Enforces the ResourceQuotas of a namespace. A write is charged before its object is stored. This
 * plugin does not release the charge if the write fails later or the object is deleted. Only the
 * quota controller releases it, because the controller counts the existing objects.
 */
import type { Gates } from '../../api/gates.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { LimitedResource } from '../../config/files/resource-quota.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { Plugin } from '../admission.ts'
import type { Objects } from '../../api/object-access.ts'
import type { Charge } from './charge.ts'
import { type Evaluator, measured } from './evaluator.ts'
import { Evaluators } from './evaluators.ts'
import { LimitedResources } from './limited.ts'
import type { OpenCharges } from './open-charges.ts'
import { Ledger } from './ledger.ts'

type QuotaOptions = {
  readonly gates: Gates
  readonly clock: Pick<Clock, 'wallMs'>
  readonly limitedResources: readonly LimitedResource[]
  /** The writes that were charged and have not finished. The quota controller waits for them. */
  readonly openCharges: OpenCharges
}

export function createResourceQuota(
  objects: Pick<Objects, 'list' | 'changeStatus'>,
  readQuotas: (namespace: string) => MaybePromise<readonly KubeObject[]>,
  { gates, clock, limitedResources, openCharges }: QuotaOptions,
): Plugin {
  const evaluators = new Evaluators(gates, clock)
  const limited = new LimitedResources(limitedResources)
  const ledger = new Ledger(objects, (quotas, charge) => limited.uncoveredOf(quotas, charge))
  const settle = async (given: Charge): Promise<void> => {
    const { namespace, isDryRun, context, oldObject } = given.attributes
    const pair = oldObject === undefined ? [given.object] : [given.object, oldObject]
    const measure = (): Evaluator => measured(given.evaluator, pair)
    const charge = context.isLarge ? { ...given, evaluator: await context.inParts(measure) } : given
    if (isDryRun) return ledger.check(namespace, charge)
    context.onWriteEnd(openCharges.begin(namespace))
    return ledger.charge(namespace, charge)
  }
  const chargeQuotas = async (
    quotas: MaybePromise<readonly KubeObject[]>,
    charge: Charge,
  ): Promise<void> => {
    if ((await quotas).length > 0) await settle(charge)
  }
  return {
    name: 'ResourceQuota',
    validate: (attributes) => {
      const { namespace, object } = attributes
      if (object === undefined || namespace === '') return undefined
      const evaluator = evaluators.of(attributes)
      if (evaluator === undefined || !evaluator.isCharged(attributes)) return undefined
      const charge = { attributes, evaluator, object }
      if (limited.concern(attributes)) return settle(charge)
      const quotas = readQuotas(namespace)
      // Most namespaces have no quota. Return without a promise for them, so that their writes do
      // not wait.
      const hasNone = !(quotas instanceof Promise) && quotas.length === 0
      return hasNone ? undefined : chargeQuotas(quotas, charge)
    },
  }
}
