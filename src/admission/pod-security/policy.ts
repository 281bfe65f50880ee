/**
 * Reads the labels of a namespace that select Pod Security levels and their versions (KEP-2579).
 */
import { type FieldFault, invalidValue } from '../../api/field-fault.ts'
import type { ObjectMeta } from '../../api/object.ts'
import {
  isStricter,
  levelRule,
  type LevelVersion,
  parseLevel,
  parseVersion,
  type PodSecurityLevel,
  type PodSecurityPolicy,
  privilegedPolicy,
  versionRule,
} from '../../api/pod-security-level.ts'

export const prefix = 'pod-security.kubernetes.io/'

/** Returns the policy of a namespace. `defaults` apply if a label is missing. */
export function policyOf(
  labels: ObjectMeta['labels'] = {},
  defaults: PodSecurityPolicy = privilegedPolicy,
): {
  readonly policy: PodSecurityPolicy
  readonly faults: readonly FieldFault[]
} {
  const faults: FieldFault[] = []
  const read = <T>(
    name: string,
    parse: (text: string) => T | undefined,
    rule: string,
  ): Label<T> => {
    const text = labels[`${prefix}${name}`]
    if (text === undefined) return { state: 'absent' }
    const value = parse(text)
    if (value !== undefined) return { state: 'given', value }
    faults.push(invalidValue(`metadata.labels[${prefix}${name}]`, text, rule))
    return { state: 'invalid' }
  }
  const mode = (name: keyof PodSecurityPolicy, whenInvalid: PodSecurityLevel): Mode => {
    const byDefault = defaults[name]
    const level = read(name, parseLevel, levelRule)
    const version = read(`${name}-version`, parseVersion, versionRule)
    return {
      hasLevel: level.state !== 'absent',
      isLevelGiven: level.state === 'given',
      hasVersion: version.state !== 'absent',
      value: {
        level:
          level.state === 'given'
            ? level.value
            : level.state === 'absent'
              ? byDefault.level
              : whenInvalid,
        version:
          version.state === 'given'
            ? version.value
            : version.state === 'absent'
              ? byDefault.version
              : 'latest',
      },
    }
  }
  const [enforce, audit, warn] = [
    mode('enforce', 'restricted'),
    mode('audit', 'privileged'),
    mode('warn', 'privileged'),
  ]
  return {
    policy: { enforce: enforce.value, audit: audit.value, warn: warnedOf(warn, enforce) },
    faults,
  }
}

type Label<T> =
  | { readonly state: 'absent' | 'invalid' }
  | { readonly state: 'given'; readonly value: T }

type Mode = {
  readonly hasLevel: boolean
  readonly isLevelGiven: boolean
  readonly hasVersion: boolean
  readonly value: LevelVersion
}

/**
 * Returns the level that causes warnings. If the `warn` label is missing and `enforce` is stricter
 * than the default, returns the level of `enforce`, so that clients that write workloads are also
 * warned.
 */
function warnedOf(warn: Mode, enforce: Mode): LevelVersion {
  const isImplied =
    !warn.hasLevel && enforce.isLevelGiven && isStricter(enforce.value.level, warn.value.level)
  if (!isImplied) return warn.value
  return {
    level: enforce.value.level,
    version: warn.hasVersion ? warn.value.version : enforce.value.version,
  }
}
