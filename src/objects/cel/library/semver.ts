/** Semantic versions, which are available since Kubernetes 1.33. */
import { compareSemver, parseSemver, type Semver } from '../../../api/semver.ts'
import { sizeOf, TEXT_FACTOR, traversal } from '../cost.ts'
import type { Library } from '../environment.ts'
import { type FunctionPart, global, member } from '../functions.ts'
import { scaled, unknownSize } from '../ranges.ts'
import { bool, int, opaque, string } from '../types.ts'
import { CelError, noSuchOverload, type Opaque, type Result } from '../values.ts'

function parse(text: string): Semver | CelError {
  const version = parseSemver(text)
  return 'fault' in version ? new CelError(version.fault) : version
}

/** Parses a version, and accepts a `v` at its start, leading zeros, and missing numbers. */
function parseLenient(text: string): Semver | CelError {
  const [, first = '', second, third] =
    /^([^.]*)(?:\.([^.]*)(?:\.(.*))?)?$/s.exec(text.replace(/^v/, '')) ?? []
  const given = [first, second, third].filter((part) => part !== undefined)
  const parts = given.map((part) =>
    Buffer.byteLength(part) > 1 ? part.replace(/^0+/, '').replace(/^(?![0-9])/, '0') : part,
  )
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) {
    return new CelError('short version cannot contain PreRelease/Build meta data')
  }
  while (parts.length < 3) parts.push('0')
  return parse(parts.join('.'))
}

class SemverValue implements Opaque {
  readonly typeName = 'kubernetes.Semver'
  readonly version: Semver

  constructor(version: Semver) {
    this.version = version
  }

  isSame(other: Opaque): boolean {
    return other instanceof SemverValue && compareSemver(this.version, other.version) === 0
  }
}

const type = opaque('kubernetes.Semver')
/** Estimated time per character of a version that has many identifiers of a single character. */
const CHARACTER_NANOS = 150
/** Estimated time to compare two identifiers. */
const IDENTIFIER_NANOS = 150

const parsing: Pick<FunctionPart, 'estimate' | 'cost' | 'isLong'> = {
  isLong: true,
  estimate: (operands) => ({ cost: scaled(operands[0]?.size ?? unknownSize, TEXT_FACTOR) }),
  cost: ([text = null]) => traversal(sizeOf(text)),
}

/**
 * Returns the implementation of a function that parses a version. `make` converts the parsed
 * version, or the error, to the result.
 */
const fromText =
  (make: (version: Semver | CelError) => Result): FunctionPart['run'] =>
  (text, isLenient, _, __, meter) => {
    if (typeof text !== 'string') return noSuchOverload
    meter.last(text.length * CHARACTER_NANOS)
    return make(isLenient === true ? parseLenient(text) : parse(text))
  }

const number = (name: string, at: number): FunctionPart => ({
  name,
  overloads: [member(`semver_${name}`, [type], int)],
  run: (value) =>
    value instanceof SemverValue ? (value.version.numbers[at] ?? 0n) : noSuchOverload,
})

const comparison = (name: string, run: (order: number) => Result, result = bool): FunctionPart => ({
  name,
  overloads: [member(`semver_${name}`, [type, type], result)],
  run: (one, other, _, __, meter) => {
    if (!(one instanceof SemverValue && other instanceof SemverValue)) return noSuchOverload
    meter.last(one.version.pre.length * IDENTIFIER_NANOS)
    return run(compareSemver(one.version, other.version))
  },
})

/**
 * Declares the functions. If `isLenient` is true, a second argument can request lenient parsing.
 * Kubernetes added this argument later.
 */
const semverFunctions = (isLenient: boolean): Library => ({
  functions: [
    {
      name: 'semver',
      overloads: [
        global('string_to_semver', [string], type),
        ...(isLenient ? [global('string_bool_to_semver', [string, bool], type)] : []),
      ],
      run: fromText((version) =>
        version instanceof CelError ? version : new SemverValue(version),
      ),
      ...parsing,
    },
    {
      name: 'isSemver',
      overloads: [
        global('is_semver_string', [string], bool),
        ...(isLenient ? [global('is_semver_string_bool', [string, bool], bool)] : []),
      ],
      run: fromText((version) => !(version instanceof CelError)),
      ...parsing,
    },
    number('major', 0),
    number('minor', 1),
    number('patch', 2),
    comparison('isLessThan', (order) => order < 0),
    comparison('isGreaterThan', (order) => order > 0),
    comparison('compareTo', (order) => BigInt(order), int),
  ],
})

export const semverLibrary: Library = semverFunctions(true)
/** The first version of the library, which device selectors could already use in 1.32. */
export const firstSemverLibrary: Library = semverFunctions(false)
