/**
 * No namespace gets more than its quotas allow. A write is charged before it is stored; nothing is ever given back here, since only the
 * controller that counts what is there can know that something is gone.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plugin } from './admission.ts'
import type { Objects } from './objects.ts'
import { evaluatorOf } from './resource-quota/evaluators.ts'
import { Ledger } from './resource-quota/ledger.ts'

export function createResourceQuota(
  objects: Pick<Objects, 'list' | 'changeStatus'>,
  readQuotas: (namespace: string) => Promise<readonly KubeObject[]>,
): Plugin {
  const ledger = new Ledger(objects)
  return {
    name: 'ResourceQuota',
    validate: async (attributes) => {
      const { namespace, object, isDryRun } = attributes
      if (object === undefined || namespace === '') return
      const evaluator = evaluatorOf(attributes)
      if (evaluator === undefined || !evaluator.isCharged(attributes)) return
      if ((await readQuotas(namespace)).length === 0) return
      const charge = { attributes, evaluator, object }
      await (isDryRun ? ledger.check(namespace, charge) : ledger.charge(namespace, charge))
    },
  }
}
