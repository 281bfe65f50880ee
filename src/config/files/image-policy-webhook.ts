/**
 * Reads the configuration of the ImagePolicyWebhook plugin. It has no apiVersion or kind:
 * `imagePolicy: {kubeConfigFile: …}`.
 */
import { fieldsOf, numberOf, textOf } from '../../api/object.ts'
import { formatDuration } from '../../lib/time/duration.ts'
import type { FileRead } from './config-file.ts'
import { decodeUnversioned } from './decode-unversioned.ts'
import type { ClientConfig } from '../../net/outbound/kubeconfig.ts'
import { readKubeconfig } from './kubeconfig.ts'
import { noKubeconfig } from './kubeconfig-rules.ts'
import { imagePolicyType } from './schemes.ts'

export type ImagePolicyWebhook = {
  readonly kubeconfig: ClientConfig
  /** How long responses that allow a pod are cached. 0 disables the cache. */
  readonly allowTtlMs: number
  readonly denyTtlMs: number
  /** Delay before the first retry. 0 means no delay. */
  readonly retryBackoffMs: number
  /** Whether pods are admitted if the webhook cannot be called. */
  readonly defaultAllow: boolean
}

type Range = {
  readonly unitMs: number
  readonly minMs: number
  readonly maxMs: number
  readonly defaultMs: number
}

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS

/**
 * Ranges and default values of the durations, as in kube-apiserver. The minimum backoff is one
 * nanosecond.
 */
const backoff: Range = { unitMs: 1, minMs: 1e-6, maxMs: 5 * MINUTE_MS, defaultMs: 500 }
const ttl = { unitMs: SECOND_MS, minMs: SECOND_MS, maxMs: 30 * MINUTE_MS }

export function readImagePolicyWebhook(bytes: Buffer): FileRead<ImagePolicyWebhook> {
  const decoded = decodeUnversioned(bytes, imagePolicyType())
  if ('fault' in decoded) return decoded
  const { kubeConfigFile, allowTTL, denyTTL, retryBackoff, defaultAllow } = fieldsOf(
    decoded.fields['imagePolicy'],
  )
  const [retry, allow, deny] = [
    normalized(numberOf(retryBackoff), backoff),
    normalized(numberOf(allowTTL), { ...ttl, defaultMs: 5 * MINUTE_MS }),
    normalized(numberOf(denyTTL), { ...ttl, defaultMs: 30 * SECOND_MS }),
  ]
  if ('fault' in retry) return retry
  if ('fault' in allow) return allow
  if ('fault' in deny) return deny
  const path = textOf(kubeConfigFile)
  const kubeconfig = path === '' ? { fault: noKubeconfig } : readKubeconfig(path)
  if ('fault' in kubeconfig) return kubeconfig
  const durations = { allowTtlMs: allow.ms, denyTtlMs: deny.ms, retryBackoffMs: retry.ms }
  return { value: { kubeconfig, ...durations, defaultAllow: defaultAllow === true } }
}

/**
 * Validates a duration and converts it to milliseconds. As in kube-apiserver, 0 means the default
 * duration, and -1 means a duration of zero.
 */
function normalized(
  given: number,
  range: Range,
): { readonly ms: number } | { readonly fault: string } {
  const { unitMs, minMs, maxMs, defaultMs } = range
  if (given === -1) return { ms: 0 }
  if (given === 0) return { ms: defaultMs }
  const ms = given * unitMs
  if (ms >= minMs && ms <= maxMs) return { ms }
  const [min, max, got] = [minMs, maxMs, ms].map(formatDuration)
  return { fault: `valid value is between ${min} and ${max}, got ${got}` }
}
