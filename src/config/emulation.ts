/** `--emulated-version`: only the version that is served can be named. The others are checked with upstream's texts, and refused. */
import { tuningFlags } from './tuning-flags.ts'
import type { Values } from './values.ts'

const MAJOR = 1
const MINOR = 33
/** As upstream: servers of two versions back can be emulated. */
const OLDEST_MINOR = 31

export function checkEmulation(values: Values): void {
  for (const given of values.slice('emulated-version')) checkVersion(values, given)
  for (const [flag, field] of [
    ['emulation-forward-compatible', 'EmulationForwardCompatible'],
    ['runtime-config-emulation-forward-compatible', 'RuntimeConfigEmulationForwardCompatible'],
  ] as const) {
    if (!values.boolean(flag)) continue
    const why = 'cannot be set to true if the emulation version is the same as the binary version'
    values.fault(`ServerRunOptions.${field} ${why}`)
  }
}

function checkVersion(values: Values, given: string): void {
  const at = given.indexOf('=')
  const [component, version] = at < 0 ? ['kube', given] : [given.slice(0, at), given.slice(at + 1)]
  if (component !== 'kube') return values.fault(`component not registered: ${component}`)
  const [, major = '', minor = '', patch] = /^v?(\d+)\.(\d+)(\.\d+)?$/.exec(version) ?? []
  if (minor === '') return values.fault(`could not parse ${JSON.stringify(version)} as version`)
  if (patch !== undefined) return values.fault(`patch version not allowed, got: kube=${version}`)
  const known = `[${MAJOR}.${OLDEST_MINOR}, ${MAJOR}.${MINOR}.0]`
  const isOld = Number(major) < MAJOR || (Number(major) === MAJOR && Number(minor) < OLDEST_MINOR)
  const isNew = Number(major) > MAJOR || (Number(major) === MAJOR && Number(minor) > MINOR)
  if (isOld || isNew) values.fault(`emulation version ${version} is not between ${known}`)
  if (isOld) {
    const oldest = `${MAJOR}.${OLDEST_MINOR}`
    values.fault(`minCompatibilityVersion version ${oldest} is not between [${oldest}, ${version}]`)
  }
  if (isOld || isNew || Number(minor) === MINOR) return
  const why = tuningFlags['emulated-version'].refused
  values.fault(`--emulated-version ${version} is not supported, since ${why}: leave it out`)
}
