import { checkDnsLabel } from '../../api/names.ts'
import type { KubeObject } from '../../api/object.ts'

/** Pods get the name of their owner as the start of theirs, and hosts are named after Pods. */
export function nameWarnings({ metadata: { name = '' } }: KubeObject, current: KubeObject | undefined): string[] {
  const faults = current === undefined ? checkDnsLabel(name) : []
  if (faults.length === 0) return []
  const why = 'this is used in Pod names and hostnames, which can result in surprising behavior'
  return [`metadata.name: ${why}; a DNS label is recommended: [${faults.join(' ')}]`]
}
