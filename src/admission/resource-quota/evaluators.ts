/** Which kinds cost what: each that a quota can limit by more than its number has a file of its own. */
import { isEvents } from '../../api/events.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { claimEvaluator } from './claims.ts'
import { count, type Evaluator } from './evaluator.ts'
import { podEvaluator } from './pods.ts'
import { serviceEvaluator } from './services.ts'

/** These depend on nothing but the resource. */
const known = new WeakMap<Resource, Evaluator | 'uncounted'>()

/** Undefined: objects of this kind are not counted. */
export function evaluatorOf({ resource }: Attributes): Evaluator | undefined {
  const found = known.get(resource) ?? createEvaluator(resource) ?? 'uncounted'
  known.set(resource, found)
  return found === 'uncounted' ? undefined : found
}

function createEvaluator({ group, plural }: Resource): Evaluator | undefined {
  if (isEvents({ group, plural })) return undefined
  if (group !== '') return countEvaluator(`count/${plural}.${group}`)
  return (
    { pods: podEvaluator, services: serviceEvaluator, persistentvolumeclaims: claimEvaluator }[plural] ??
    countEvaluator(`count/${plural}`, plural)
  )
}

/** Of most kinds only the number of objects counts; some kinds of the core group also do under their old names. */
function countEvaluator(...names: readonly string[]): Evaluator {
  return {
    isCharged: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    usageOf: () => new Map(names.map((name) => [name, count(1)])),
    measures: (name) => names.includes(name),
    isInScope: () => false,
    missing: () => undefined,
  }
}
