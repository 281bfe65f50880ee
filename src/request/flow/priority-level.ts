/**
 * A PriorityLevelConfiguration as it is applied: its share of the seats, and how it handles
 * requests that must wait.
 */
import { fieldsOf, type KubeObject, numberOf } from '../../api/object.ts'

export type LevelSpec = {
  readonly name: string
  readonly uid: string
  /** Whether the priority level is exempt: its requests never wait for seats. */
  readonly isExempt: boolean
  /** Share of the server's seats, relative to the shares of all priority levels. */
  readonly shares: number
  /** Percentage of this priority level's seats that other levels can borrow. */
  readonly lendablePercent: number
  /**
   * Percentage of this priority level's seats that it can borrow in addition to its own seats.
   * Undefined if the level can borrow all seats that others lend.
   */
  readonly borrowingLimitPercent: number | undefined
  /**
   * Configuration of the queues. Undefined if requests are rejected instead of queued when no seat
   * is free.
   */
  readonly queuing: Queuing | undefined
}

export type Queuing = {
  readonly queues: number
  readonly handSize: number
  readonly lengthMax: number
}

const exemptName = 'exempt'

/**
 * Priority levels that exist even without their objects, as in kube-apiserver. Therefore, deleting
 * such an object does not block any client.
 */
export const mandatoryLevels: readonly LevelSpec[] = [
  {
    name: exemptName,
    uid: '',
    isExempt: true,
    shares: 0,
    lendablePercent: 0,
    borrowingLimitPercent: undefined,
    queuing: undefined,
  },
  {
    name: 'catch-all',
    uid: '',
    isExempt: false,
    shares: 5,
    lendablePercent: 0,
    borrowingLimitPercent: undefined,
    queuing: undefined,
  },
]

/**
 * Reads a PriorityLevelConfiguration. Returns undefined if it is inconsistent, so that it is
 * treated as absent. Validation rejects inconsistent objects, but another server might have stored
 * such an object.
 */
export function readLevel({ metadata, spec }: KubeObject): LevelSpec | undefined {
  const name = metadata.name ?? ''
  const uid = metadata.uid ?? ''
  const { type, exempt, limited } = fieldsOf(spec)
  const isExempt = type === 'Exempt'
  if (isExempt !== (name === exemptName)) return undefined
  if (isExempt) {
    const { nominalConcurrencyShares, lendablePercent } = fieldsOf(exempt)
    return {
      name,
      uid,
      isExempt,
      shares: numberOf(nominalConcurrencyShares),
      lendablePercent: numberOf(lendablePercent),
      borrowingLimitPercent: undefined,
      queuing: undefined,
    }
  }
  if (type !== 'Limited' || limited === undefined) return undefined
  const { nominalConcurrencyShares, lendablePercent, borrowingLimitPercent, limitResponse } =
    fieldsOf(limited)
  const queuing = readQueuing(fieldsOf(limitResponse))
  if (queuing === 'broken') return undefined
  return {
    name,
    uid,
    isExempt,
    shares: numberOf(nominalConcurrencyShares),
    lendablePercent: numberOf(lendablePercent),
    borrowingLimitPercent:
      typeof borrowingLimitPercent === 'number' ? borrowingLimitPercent : undefined,
    queuing,
  }
}

function readQueuing({
  type,
  queuing,
}: ReturnType<typeof fieldsOf>): Queuing | 'broken' | undefined {
  if (type === 'Reject') return queuing === undefined ? undefined : 'broken'
  if (type !== 'Queue' || queuing === undefined) return 'broken'
  const { queues, handSize, queueLengthLimit } = fieldsOf(queuing)
  const read = {
    queues: numberOf(queues),
    handSize: numberOf(handSize),
    lengthMax: numberOf(queueLengthLimit),
  }
  return read.queues >= 1 && read.handSize >= 1 && read.handSize <= read.queues ? read : 'broken'
}
