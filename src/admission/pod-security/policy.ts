/** Levels, their versions, and the labels of a namespace that select them (KEP-2579). */
import { type FieldFault, invalidValue } from '../../api/field-fault.ts'
import type { ObjectMeta } from '../../api/object.ts'

/** From the least to the most strict. */
const levels = ['privileged', 'baseline', 'restricted'] as const

type Level = (typeof levels)[number]

/** The minor version; `latest` has all controls. */
export type PolicyVersion = number | 'latest'

export type LevelVersion = { readonly level: Level; readonly version: PolicyVersion }

/** The levels below which pods are refused, recorded in the audit log, and warned about. */
export type Policy = { readonly enforce: LevelVersion; readonly audit: LevelVersion; readonly warn: LevelVersion }

export const prefix = 'pod-security.kubernetes.io/'

export const printLevel = ({ level, version }: LevelVersion): string =>
  `${level}:${version === 'latest' ? version : `v1.${version}`}`

export const isStricter = (level: Level, than: Level): boolean => levels.indexOf(level) > levels.indexOf(than)

export const isSameLevel = (one: LevelVersion, other: LevelVersion): boolean =>
  one.level === other.level && one.version === other.version

export function policyOf(labels: ObjectMeta['labels'] = {}): {
  readonly policy: Policy
  readonly faults: readonly FieldFault[]
} {
  const faults: FieldFault[] = []
  const read = <T>(name: string, parse: (text: string) => T | undefined, rule: string): Label<T> => {
    const text = labels[`${prefix}${name}`]
    if (text === undefined) return { state: 'absent' }
    const value = parse(text)
    if (value !== undefined) return { state: 'given', value }
    faults.push(invalidValue(`metadata.labels[${prefix}${name}]`, text, rule))
    return { state: 'invalid' }
  }
  const mode = (name: string, whenInvalid: Level): Mode => {
    const level = read(name, parseLevel, `must be one of ${levels.join(', ')}`)
    const version = read(`${name}-version`, parseVersion, 'must be "latest" or "v1.x"')
    return {
      hasLevel: level.state !== 'absent',
      isLevelGiven: level.state === 'given',
      hasVersion: version.state === 'given',
      value: {
        level: level.state === 'given' ? level.value : level.state === 'absent' ? 'privileged' : whenInvalid,
        version: version.state === 'given' ? version.value : 'latest',
      },
    }
  }
  const [enforce, audit, warn] = [
    mode('enforce', 'restricted'),
    mode('audit', 'privileged'),
    mode('warn', 'privileged'),
  ]
  return { policy: { enforce: enforce.value, audit: audit.value, warn: warnedOf(warn, enforce) }, faults }
}

type Label<T> = { readonly state: 'absent' | 'invalid' } | { readonly state: 'given'; readonly value: T }

type Mode = {
  readonly hasLevel: boolean
  readonly isLevelGiven: boolean
  readonly hasVersion: boolean
  readonly value: LevelVersion
}

/** Without a label of its own, `warn` follows a stricter `enforce`, so that writers of workloads are warned too. */
function warnedOf(warn: Mode, enforce: Mode): LevelVersion {
  const isImplied = !warn.hasLevel && enforce.isLevelGiven && isStricter(enforce.value.level, warn.value.level)
  if (!isImplied) return warn.value
  return { level: enforce.value.level, version: enforce.hasVersion ? enforce.value.version : warn.value.version }
}

const parseLevel = (text: string): Level | undefined => levels.find((level) => level === text)

function parseVersion(text: string): PolicyVersion | undefined {
  if (text === 'latest') return text
  const [, minor] = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(text) ?? []
  return minor === undefined ? undefined : Number(minor)
}
