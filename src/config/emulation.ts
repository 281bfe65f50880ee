/**
 * Reads `--emulated-version`, an older Kubernetes version whose feature gates and APIs the server
 * emulates. Errors have kube-apiserver's messages.
 */
import { defaultMinor, oldestMinor } from '../api/releases.ts'
import type { Values } from './values.ts'

const MAJOR = 1

export type Emulation = {
  /** The emulated minor version. If it equals `defaultMinor`, no older version is emulated. */
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
  minor: defaultMinor,
  isForwardCompatible: false,
  isRuntimeConfigForwardCompatible: false,
}

export function readEmulation(values: Values): Emulation {
  let minor = defaultMinor
  for (const given of values.slice('emulated-version')) minor = readVersion(values, given) ?? minor
  const isSet = (
    flag: 'emulation-forward-compatible' | 'runtime-config-emulation-forward-compatible',
    field: string,
  ): boolean => {
    const isOn = values.boolean(flag)
    if (isOn && minor === defaultMinor) {
      const why = 'cannot be set to true if the emulation version is the same as the binary version'
      values.fault(`ServerRunOptions.${field} ${why}`)
    }
    return isOn
  }
  return {
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
function readVersion(values: Values, given: string): number | undefined {
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
  const known = `[${MAJOR}.${oldestMinor}, ${MAJOR}.${defaultMinor}.0]`
  const isOld = Number(major) < MAJOR || (Number(major) === MAJOR && Number(minor) < oldestMinor)
  const isNew = Number(major) > MAJOR || (Number(major) === MAJOR && Number(minor) > defaultMinor)
  if (!isOld && !isNew) return Number(minor)
  values.fault(`emulation version ${version} is not between ${known}`)
  if (isNew) return undefined
  const oldest = `${MAJOR}.${oldestMinor}`
  return refuse(`minCompatibilityVersion version ${oldest} is not between [${oldest}, ${version}]`)
}

/**
 * The minor versions in which APIs were introduced. APIs that existed in all versions that can be
 * emulated are not listed. `*` stands for all resources of a group version.
 */
const introducedIn: { readonly [groupVersion: string]: { readonly [plural: string]: number } } = {
  'admissionregistration.k8s.io/v1alpha1': {
    mutatingadmissionpolicies: 32,
    mutatingadmissionpolicybindings: 32,
  },
  'certificates.k8s.io/v1beta1': { '*': 33 },
  'coordination.k8s.io/v1alpha2': { '*': 32 },
  'coordination.k8s.io/v1beta1': { '*': 33 },
  'networking.k8s.io/v1': { ipaddresses: 33, servicecidrs: 33 },
  'resource.k8s.io/v1alpha3': { devicetaintrules: 33 },
  'resource.k8s.io/v1beta1': { '*': 32 },
  'resource.k8s.io/v1beta2': { '*': 33 },
}

/**
 * Returns the minor version in which a resource was introduced. Returns 0 if the resource existed
 * in all versions that can be emulated.
 */
export function introductionOf(groupVersion: string, plural: string): number {
  const row = Object.hasOwn(introducedIn, groupVersion) ? introducedIn[groupVersion] : undefined
  return row?.[plural] ?? row?.['*'] ?? 0
}

/**
 * Returns the minor version in which all resources of a group version were introduced. Returns 0 if
 * one of them existed in all versions that can be emulated.
 */
export const versionIntroductionOf = (groupVersion: string): number =>
  introductionOf(groupVersion, '*')
