/** The levels of the Pod Security Standards and their versions (KEP-2579). */

/** Levels, from least to most restrictive. */
const podSecurityLevels = ['privileged', 'baseline', 'restricted'] as const

export type PodSecurityLevel = (typeof podSecurityLevels)[number]

/** Minor version of the Pod Security Standards. `latest` includes all controls. */
export type PodSecurityVersion = number | 'latest'

export type LevelVersion = {
  readonly level: PodSecurityLevel
  readonly version: PodSecurityVersion
}

/**
 * Three levels that pods are compared with. A pod below `enforce` is rejected, a pod below `audit`
 * is recorded in the audit log, and a pod below `warn` causes a warning.
 */
export type PodSecurityPolicy = {
  readonly enforce: LevelVersion
  readonly audit: LevelVersion
  readonly warn: LevelVersion
}

const privileged: LevelVersion = { level: 'privileged', version: 'latest' }

export const privilegedPolicy: PodSecurityPolicy = {
  enforce: privileged,
  audit: privileged,
  warn: privileged,
}

export const isPrivileged = ({ enforce, audit, warn }: PodSecurityPolicy): boolean =>
  [enforce, audit, warn].every(({ level }) => level === 'privileged')

export const levelRule = `must be one of ${podSecurityLevels.join(', ')}`
export const versionRule = 'must be "latest" or "v1.x"'

export const parseLevel = (text: string): PodSecurityLevel | undefined =>
  podSecurityLevels.find((level) => level === text)

export function parseVersion(text: string): PodSecurityVersion | undefined {
  if (text === 'latest') return text
  const [, minor] = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(text) ?? []
  return minor === undefined ? undefined : Number(minor)
}

export const printLevel = ({ level, version }: LevelVersion): string =>
  `${level}:${version === 'latest' ? version : `v1.${version}`}`

export const isStricter = (level: PodSecurityLevel, than: PodSecurityLevel): boolean =>
  podSecurityLevels.indexOf(level) > podSecurityLevels.indexOf(than)

export const isSameLevel = (one: LevelVersion, other: LevelVersion): boolean =>
  one.level === other.level && one.version === other.version
