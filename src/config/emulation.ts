/**
 * Reads `--emulated-version`, an older Kubernetes version whose feature gates and APIs the server
 * emulates, and `--min-compatibility-version`. Errors have kube-apiserver's messages.
 */
import { kindsOf } from '../api/lifecycle.ts'
import { defaultMinor, minCompatibilityOf, oldestOf } from '../api/releases.ts'
import type { Values } from './values.ts'

const MAJOR = 1

export type Emulation = {
  /** The minor version of the Kubernetes release that this server implements. */
  readonly release: number
  /** The emulated minor version. If it equals `release`, no older version is emulated. */
  readonly minor: number
  /** The lowest minor version that another server with the same database can have. */
  readonly minCompatibility: number
  /**
   * Whether the server also serves newer, more stable versions of the APIs that the emulated
   * version serves.
   */
  readonly isForwardCompatible: boolean
  /** Whether --runtime-config can enable APIs that were introduced after the emulated version. */
  readonly isRuntimeConfigForwardCompatible: boolean
}

export const noEmulation: Emulation = {
  release: defaultMinor,
  minor: defaultMinor,
  minCompatibility: minCompatibilityOf(defaultMinor),
  isForwardCompatible: false,
  isRuntimeConfigForwardCompatible: false,
}

export function readEmulation(values: Values, release: number): Emulation {
  let minor = release
  for (const given of values.slice('emulated-version')) {
    const version = parseVersion(values, given)
    if (version !== undefined && isEmulable(values, version, release)) ({ minor } = version)
  }
  let minCompatibility = minCompatibilityOf(release, minor)
  for (const given of values.slice('min-compatibility-version')) {
    const version = parseVersion(values, given)
    if (version === undefined) continue
    if (isBetween(version, oldestOf(release), minor)) minCompatibility = version.minor
    else values.fault(incompatible(version.text, release, `${MAJOR}.${minor}`))
  }
  const isSet = (
    flag: 'emulation-forward-compatible' | 'runtime-config-emulation-forward-compatible',
    field: string,
  ): boolean => {
    const isOn = values.boolean(flag)
    if (isOn && minor === release) {
      const why = 'cannot be set to true if the emulation version is the same as the binary version'
      values.fault(`ServerRunOptions.${field} ${why}`)
    }
    return isOn
  }
  return {
    release,
    minor,
    minCompatibility,
    isForwardCompatible: isSet('emulation-forward-compatible', 'EmulationForwardCompatible'),
    isRuntimeConfigForwardCompatible: isSet(
      'runtime-config-emulation-forward-compatible',
      'RuntimeConfigEmulationForwardCompatible',
    ),
  }
}

type GivenVersion = { readonly text: string; readonly major: number; readonly minor: number }

/** Parses a value such as `1.32` or `kube=1.32`. If it is invalid, reports an error. */
function parseVersion(values: Values, given: string): GivenVersion | undefined {
  const at = given.indexOf('=')
  const [component, text] = at < 0 ? ['kube', given] : [given.slice(0, at), given.slice(at + 1)]
  const [, major = '', minor = '', patch] = /^v?(\d+)\.(\d+)(\.\d+)?$/.exec(text) ?? []
  const fault =
    component !== 'kube'
      ? `component not registered: ${component}`
      : minor === ''
        ? `could not parse ${JSON.stringify(text)} as version`
        : patch === undefined
          ? undefined
          : `patch version not allowed, got: kube=${text}`
  if (fault === undefined) return { text, major: Number(major), minor: Number(minor) }
  values.fault(fault)
  return undefined
}

const isBetween = ({ major, minor }: GivenVersion, oldest: number, newest: number): boolean =>
  major === MAJOR && minor >= oldest && minor <= newest

/** Whether a release can emulate a version. If it cannot, reports an error. */
function isEmulable(values: Values, version: GivenVersion, release: number): boolean {
  const oldest = oldestOf(release)
  if (isBetween(version, oldest, release)) return true
  const { text, major, minor } = version
  const known = `[${MAJOR}.${oldest}, ${MAJOR}.${release}.0]`
  values.fault(`emulation version ${text} is not between ${known}`)
  const isOld = major < MAJOR || (major === MAJOR && minor < oldest)
  if (isOld) values.fault(incompatible(`${MAJOR}.${oldest}`, release, text))
  return false
}

const incompatible = (version: string, release: number, emulated: string): string =>
  `minCompatibilityVersion version ${version} is not between [${MAJOR}.${oldestOf(release)}, ${emulated}]`

/**
 * Returns the minor version in which a resource was introduced, as stated in the source code of a
 * release. If that code does not mention the resource, returns the version in which its group
 * version was introduced.
 */
export function introductionOf(release: number, groupVersion: string, plural: string): number {
  for (const [kind, { introduced }] of kindsOf(release, groupVersion))
    if (pluralOf(kind) === plural) return introduced
  return versionIntroductionOf(release, groupVersion)
}

/**
 * Returns the minor version in which a group version was introduced with its first resources, as
 * stated in the source code of a release. Returns 0 if it is not known.
 */
export function versionIntroductionOf(release: number, groupVersion: string): number {
  const all = [...kindsOf(release, groupVersion).values()]
  return all.length === 0 ? 0 : Math.min(...all.map(({ introduced }) => introduced))
}

/**
 * Returns the resource name for a kind, such as `ingresses` for `Ingress`. Follows the rules of
 * Kubernetes' API machinery.
 */
function pluralOf(kind: string): string {
  const singular = kind.toLowerCase()
  if (singular.endsWith('s')) return `${singular}es`
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
}
