/**
 * Reads the configuration of the EventRateLimit plugin. Its kind is Configuration
 * (eventratelimit.admission.k8s.io/v1alpha1). As in kube-apiserver, unknown fields are ignored.
 */
import { describeFaults } from '../../api/aggregate.ts'
import { type FieldFault, invalidShown, invalidValue, notSupported } from '../../api/field-fault.ts'
import { type Fields, itemsOf, numberOf, textOf } from '../../api/object.ts'
import { type ConfigFileType, type FileRead, readConfigFile } from './config-file.ts'
import { eventRateLimitScheme } from './schemes.ts'

const limitTypes = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const

export type EventLimit = {
  /**
   * The scope of the limit: the whole server, each namespace, each user, or each combination of
   * event source and object. Each of these has its own token bucket.
   */
  readonly type: (typeof limitTypes)[number]
  readonly perSecond: number
  readonly burst: number
  /**
   * Maximum number of token buckets. If it is exceeded, the least recently used bucket is evicted.
   */
  readonly bucketsMax: number
}

/** Default of `bucketsMax`, as in kube-apiserver. */
const BUCKETS_MAX = 4096

export const readEventLimits = (bytes: Buffer): FileRead<readonly EventLimit[]> =>
  readConfigFile(bytes, fileType)

/** The error message if the plugin has no configuration, which it requires. */
export const noEventLimits = describeFaults([emptyFault('(nil)')])

const fileType: ConfigFileType<readonly EventLimit[]> = {
  scheme: eventRateLimitScheme,
  kind: 'Configuration',
  isLenient: true,
  read: ({ limits }) => {
    const items = itemsOf(limits)
    const faults =
      items.length === 0
        ? [emptyFault(limits === undefined ? '(nil)' : '{}')]
        : items.flatMap(limitFaults)
    return faults.length > 0 ? { fault: describeFaults(faults) } : { value: items.map(limitOf) }
  },
}

function emptyFault(list: '(nil)' | '{}'): FieldFault {
  return invalidShown('limits', `[]eventratelimit.Limit${list}`, 'must not be empty')
}

function limitFaults(limit: Fields, at: number): FieldFault[] {
  const path = `limits[${at}]`
  const type = textOf(limit['type'])
  const [perSecond, burst, size] = [
    numberOf(limit['qps']),
    numberOf(limit['burst']),
    numberOf(limit['cacheSize']),
  ]
  const faults: FieldFault[] = []
  if (!limitTypes.some((one) => one === type))
    faults.push(notSupported(`${path}.type`, type, limitTypes))
  if (burst <= 0) faults.push(invalidValue(`${path}.burst`, burst, 'must be positive'))
  if (perSecond <= 0) faults.push(invalidValue(`${path}.qps`, perSecond, 'must be positive'))
  if (type !== 'Server' && size < 0)
    faults.push(invalidValue(`${path}.cacheSize`, size, 'must not be negative'))
  return faults
}

const limitOf = ({ type, qps, burst, cacheSize }: Fields): EventLimit => ({
  type: limitTypes.find((one) => one === type) ?? 'Server',
  perSecond: numberOf(qps),
  burst: numberOf(burst),
  bucketsMax: numberOf(cacheSize) || BUCKETS_MAX,
})
