/**
 * Reads the flags for flow control: whether requests are queued by priority level, and how many are
 * served concurrently. Error messages are those of kube-apiserver.
 */
import { parseGoBoolean } from '../lib/text/go-literals.ts'
import type { Values } from './values.ts'

export type FlowControlConfig = {
  /**
   * Whether requests are queued by priority level. If they are not, only `inFlight` limits their
   * number.
   */
  readonly hasFairness: boolean
  /**
   * Maximum numbers of concurrent requests. 0 means unlimited. With priority and fairness, the
   * priority levels share the sum of both maximums.
   */
  readonly inFlight: { readonly readOnlyMax: number; readonly mutatingMax: number }
}

/**
 * Keys of --runtime-config that enable or disable FlowSchemas, in kube-apiserver's order of
 * precedence.
 */
const keys = ['flowcontrol.apiserver.k8s.io/v1', 'api/ga', 'api/all'] as const

export function readFlowControl(values: Values): FlowControlConfig {
  const hasFairness = values.boolean('enable-priority-and-fairness')
  const inFlight = {
    readOnlyMax: values.count('max-requests-inflight'),
    mutatingMax: values.count('max-mutating-requests-inflight'),
  }
  if (!hasFairness) return { hasFairness, inFlight }
  if (inFlight.readOnlyMax === 0 && inFlight.mutatingMax === 0) {
    values.fault(
      'invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive',
    )
  }
  const conflict = conflictingKey(values)
  if (conflict !== undefined) {
    values.fault(
      `--runtime-config=${conflict}=false conflicts with --enable-priority-and-fairness=true`,
    )
  }
  return { hasFairness, inFlight }
}

/**
 * Returns the key of --runtime-config that disables FlowSchemas, or undefined if they are enabled.
 * Only the first key in `keys` that is set counts.
 */
function conflictingKey(values: Values): string | undefined {
  const set = new Map(
    values.list('runtime-config').map((entry): [string, string] => {
      const [key = '', value = 'true'] = entry.split('=')
      return [key, value]
    }),
  )
  const first = keys.find((key) => set.has(key))
  return first !== undefined && parseGoBoolean(set.get(first) ?? '') === false ? first : undefined
}
