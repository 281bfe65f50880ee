import { type FieldFault, invalidValue, required } from '../../../api/field-fault.ts'
import { checkConfigKey } from '../../../api/names.ts'
import { fieldsOf, type Json, type KubeObject, textOf } from '../../../api/object.ts'
import { compareSemver, parseSemver, type Semver } from '../../../api/semver.ts'
import type { KindRules } from '../../kind-rules.ts'
import { OLDEST_EMULATION_VERSION, validateStrategy } from './strategy.ts'

/**
 * Rules for LeaseCandidate: a candidate in a leader election, with its binary and emulation
 * versions.
 */
export const leaseCandidateRules: KindRules = {
  strategy: { needsResourceVersion: true, createsOnUpdate: true },
  checkName: checkConfigKey,
  validate,
  validateUpdate: (object, current) => [...validate(object), ...validateChange(object, current)],
}

const leaseOf = (object: KubeObject): string => textOf(fieldsOf(object['spec'])['leaseName'])

function validate(object: KubeObject): FieldFault[] {
  const spec = fieldsOf(object['spec'])
  const [binaryVersion, emulationVersion] = [
    textOf(spec['binaryVersion']),
    textOf(spec['emulationVersion']),
  ]
  const faults: FieldFault[] = leaseOf(object) === '' ? [required('spec.leaseName')] : []
  const emulation =
    emulationVersion === '' ? zero : readVersion(emulationVersion, 'spec.emulationVersion', faults)
  if (binaryVersion === '') faults.push(required('spec.binaryVersion'))
  const binary =
    binaryVersion === '' ? zero : readVersion(binaryVersion, 'spec.binaryVersion', faults)
  if (binaryVersion !== '' && emulationVersion !== '' && compareSemver(binary, emulation) < 0) {
    const why = 'must be greater than or equal to `emulationVersion`'
    faults.push(invalidValue('spec.binaryVersion', binaryVersion, why))
  }
  return [...faults, ...validateChoice(spec['strategy'], emulation)]
}

function validateChoice(given: Json | undefined, emulation: Semver): FieldFault[] {
  const strategy = textOf(given)
  if (strategy === '') return [required('spec.strategy')]
  const why = "must be specified when `strategy` is 'OldestEmulationVersion'"
  const isMissing = strategy === OLDEST_EMULATION_VERSION && compareSemver(emulation, zero) === 0
  return [
    ...(isMissing ? [required('spec.emulationVersion', why)] : []),
    ...validateStrategy(strategy),
  ]
}

const zero: Semver = { numbers: [0n, 0n, 0n], pre: [] }

/** Parses a version. An invalid version is reported, and counts as zero. */
function readVersion(text: string, path: string, faults: FieldFault[]): Semver {
  const version = parseSemver(text)
  if (!('fault' in version)) return version
  faults.push(invalidValue(path, text, 'must be a valid semantic version'))
  return zero
}

const validateChange = (object: KubeObject, current: KubeObject): FieldFault[] =>
  leaseOf(object) === leaseOf(current)
    ? []
    : [invalidValue('spec.leaseName', leaseOf(object), 'field is immutable')]
