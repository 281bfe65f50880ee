/**
 * Reads `--emulated-version`, an older Kubernetes version whose feature gates and APIs the server
 * emulates. Errors have kube-apiserver's messages.
 */
import { kindsOf } from '../api/lifecycle.ts'
import { defaultMinor, oldestMinor } from '../api/releases.ts'
import type { Values } from './values.ts'

const MAJOR = 1

export type Emulation = {
  /** The release that the server is. */
  readonly release: number
  /** The emulated minor version. If it equals `release`, no older version is emulated. */
  readonly minor: number
  /**
   * Whether a newer, more stable version of an API is also served if one of its older versions is
   * served.
   */
  readonly isForwardCompatible: boolean
  /** Whether --runtime-config can enable APIs that were introduced after the emulated version. */
  readonly isRuntimeConfigForwardCompatible: boolean
}

export const noEmulation: Emulation = {
  release: defaultMinor,
  minor: defaultMinor,
  isForwardCompatible: false,
  isRuntimeConfigForwardCompatible: false,
}

export function readEmulation(values: Values, release: number): Emulation {
  let minor = release
  for (const given of values.slice('emulated-version'))
    minor = readVersion(values, given, release) ?? minor
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
    isForwardCompatible: isSet('emulation-forward-compatible', 'EmulationForwardCompatible'),
    isRuntimeConfigForwardCompatible: isSet(
      'runtime-config-emulation-forward-compatible',
      'RuntimeConfigEmulationForwardCompatible',
    ),
  }
}

/**
 * Returns the minor version in a value of --emulated-version. If the value is invalid, reports an
 * error and returns undefined.
 */
function readVersion(values: Values, given: string, release: number): number | undefined {
  const at = given.indexOf('=')
  const [component, version] = at < 0 ? ['kube', given] : [given.slice(0, at), given.slice(at + 1)]
  const refuse = (fault: string): undefined => {
    values.fault(fault)
    return undefined
  }
  if (component !== 'kube') return refuse(`component not registered: ${component}`)
  const [, major = '', minor = '', patch] = /^v?(\d+)\.(\d+)(\.\d+)?$/.exec(version) ?? []
  if (minor === '') return refuse(`could not parse ${JSON.stringify(version)} as version`)
  if (patch !== undefined) return refuse(`patch version not allowed, got: kube=${version}`)
  const known = `[${MAJOR}.${oldestMinor}, ${MAJOR}.${release}.0]`
  const isOld = Number(major) < MAJOR || (Number(major) === MAJOR && Number(minor) < oldestMinor)
  const isNew = Number(major) > MAJOR || (Number(major) === MAJOR && Number(minor) > release)
  if (!isOld && !isNew) return Number(minor)
  values.fault(`emulation version ${version} is not between ${known}`)
  if (isNew) return undefined
  const oldest = `${MAJOR}.${oldestMinor}`
  return refuse(`minCompatibilityVersion version ${oldest} is not between [${oldest}, ${version}]`)
}

/**
 * Returns the minor version in which a resource was introduced, according to a release. For an
 * unknown resource, returns that of its group version.
 */
export function introductionOf(release: number, groupVersion: string, plural: string): number {
  for (const [kind, { introduced }] of kindsOf(release, groupVersion))
    if (pluralOf(kind) === plural) return introduced
  return versionIntroductionOf(release, groupVersion)
}

/**
 * Returns the minor version in which the first resources of a group version were introduced,
 * according to a release, or 0 if it is not known.
 */
export function versionIntroductionOf(release: number, groupVersion: string): number {
  const all = [...kindsOf(release, groupVersion).values()]
  return all.length === 0 ? 0 : Math.min(...all.map(({ introduced }) => introduced))
}

/** Returns the name of a kind's resource, derived from the kind as in Kubernetes' API machinery. */
function pluralOf(kind: string): string {
  const singular = kind.toLowerCase()
  if (singular.endsWith('s')) return `${singular}es`
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
}
