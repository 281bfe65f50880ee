/** Sets conditions in the status of an object. */
import { type Fields, itemsOf } from '../../../api/object.ts'

type Condition = {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly observedGeneration?: number
}

/** Replaces the condition of the same type, or adds the condition. */
export function withCondition(status: Fields, condition: Condition, now: string): Fields {
  const conditions = itemsOf(status['conditions'])
  const before = conditions.find(({ type }) => type === condition.type)
  const lastTransitionTime =
    before?.['status'] === condition.status ? (before['lastTransitionTime'] ?? now) : now
  const changed = { ...condition, lastTransitionTime }
  return {
    ...status,
    conditions:
      before !== undefined
        ? conditions.map((one) => (one['type'] === condition.type ? changed : one))
        : [...conditions, changed],
  }
}
