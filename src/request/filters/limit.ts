/**
 * The stage of a request that limits concurrent requests. With API Priority and Fairness, a request
 * waits until it gets its seats. Without it, a request is rejected if too many requests are in
 * flight.
 */
import { mastersGroup } from '../../api/user.ts'
import type { FlowControl } from '../flow/flow-control.ts'
import type { RequestLifecycle, Stage } from '../lifecycle.ts'
import type { InFlight, RequestSlot } from './in-flight.ts'

export type LimitOptions = {
  /** API Priority and Fairness. Undefined if only the number of requests in flight is limited. */
  readonly flowControl: FlowControl | undefined
  readonly inFlight: InFlight
  readonly monotonicMs: () => number
}

export function limitRequests({ flowControl, inFlight, monotonicMs }: LimitOptions): Stage {
  const waitForSeat = async (life: RequestLifecycle, seat: Promise<RequestSlot>): Promise<void> => {
    const sinceMs = monotonicMs()
    try {
      life.seat = await seat
    } finally {
      life.nowMs = monotonicMs()
      life.context.spent.queueMs = life.nowMs - sinceMs
    }
  }
  const enter = (life: RequestLifecycle, control: FlowControl): Promise<void> | void => {
    const { request, context, startMs, nowMs } = life
    const { user, info } = context
    if (life.isOwn) return control.countOwn()
    // As in kube-apiserver, flow control applies to watches but not to other long-running requests.
    if (info.verb !== 'watch' && life.isLongRunning) {
      return request.heldBy?.({ name: user.name, isExempt: false })
    }
    const flow = control.classify(user, info)
    if (flow === undefined) return undefined
    life.flow = flow
    request.heldBy?.({ name: user.name, isExempt: flow.level.spec.isExempt })
    const timeoutMs = context.deadlineMs - startMs
    const seat = control.enter(flow, { user, info, timeoutMs, request, nowMs })
    if (seat instanceof Promise) return waitForSeat(life, seat)
    life.seat = seat
    return undefined
  }
  return (life) => {
    if (flowControl !== undefined) return enter(life, flowControl)
    const { request, context } = life
    const { user, info } = context
    request.heldBy?.({ name: user.name, isExempt: user.groups.includes(mastersGroup) })
    life.seat = inFlight.enter(user, info)
    return undefined
  }
}
