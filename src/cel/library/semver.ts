/** Semantic versions, which 1.33 adds. */
import { quote } from '../../api/quote.ts'
import { sizeOf, TEXT_FACTOR, traversal } from '../cost.ts'
import type { Library } from '../environment.ts'
import { type FunctionPart, global, member } from '../functions.ts'
import { scaled, unknownSize } from '../ranges.ts'
import { bool, int, opaque, string } from '../types.ts'
import { CelError, noSuchOverload, type Opaque, type Result, type Value } from '../values.ts'

type Version = { readonly numbers: readonly bigint[]; readonly pre: readonly string[] }

/** No number of a version is longer. */
const TEXT_CHARACTERS_MAX = 256

/** The faults are those of the library that upstream uses. */
function parse(text: string): Version | CelError {
  if (text === '') return new CelError('Version string empty')
  if (text.length > TEXT_CHARACTERS_MAX) return new CelError('the version is too long')
  const parts = /^([^.]*)\.([^.]*)\.(.*)$/s.exec(text)
  if (parts === null) return new CelError('No Major.Minor.Patch elements found')
  const [, major = '', minor = '', rest = ''] = parts
  const [, patch = '', , pre, , build] = /^([^+-]*)(-([^+]*))?(\+(.*))?$/s.exec(rest) ?? []
  const faults = [
    numberFault('major', major),
    numberFault('minor', minor),
    numberFault('patch', patch),
    ...(pre?.split('.').map(preFault) ?? []),
    ...(build?.split('.').map(buildFault) ?? []),
  ]
  const fault = faults.find((found) => found !== undefined)
  if (fault !== undefined) return new CelError(fault)
  return { numbers: [major, minor, patch].map(BigInt), pre: pre?.split('.') ?? [] }
}

const UINT64_MAX = 2n ** 64n - 1n

function numberFault(name: string, text: string): string | undefined {
  if (/[^0-9]/.test(text)) return `Invalid character(s) found in ${name} number ${quote(text)}`
  const title = name.slice(0, 1).toUpperCase() + name.slice(1)
  if (/^0./.test(text)) return `${title} number must not contain leading zeroes ${quote(text)}`
  if (text === '') return 'strconv.ParseUint: parsing "": invalid syntax'
  return BigInt(text) > UINT64_MAX ? `strconv.ParseUint: parsing ${quote(text)}: value out of range` : undefined
}

function preFault(part: string): string | undefined {
  if (part === '') return 'Prerelease is empty'
  if (/^0[0-9]+$/.test(part)) return `Numeric PreRelease version must not contain leading zeroes ${quote(part)}`
  return /[^0-9A-Za-z-]/.test(part) ? `Invalid character(s) found in prerelease ${quote(part)}` : undefined
}

function buildFault(part: string): string | undefined {
  if (part === '') return 'Build meta data is empty'
  return /[^0-9A-Za-z-]/.test(part) ? `Invalid character(s) found in build meta data ${quote(part)}` : undefined
}

/** A leading `v`, leading zeros and numbers left out are forgiven. */
function parseLenient(text: string): Version | CelError {
  const [, first = '', second, third] = /^([^.]*)(?:\.([^.]*)(?:\.(.*))?)?$/s.exec(text.replace(/^v/, '')) ?? []
  const given = [first, second, third].filter((part) => part !== undefined)
  const parts = given.map((part) => (part.length > 1 ? part.replace(/^0+/, '').replace(/^(?![0-9])/, '0') : part))
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) {
    return new CelError('short version cannot contain PreRelease/Build meta data')
  }
  while (parts.length < 3) parts.push('0')
  return parse(parts.join('.'))
}

class SemverValue implements Opaque {
  readonly typeName = 'kubernetes.Semver'
  readonly version: Version

  constructor(version: Version) {
    this.version = version
  }

  isSame(other: Opaque): boolean {
    return other instanceof SemverValue && compare(this.version, other.version) === 0
  }
}

function compare(one: Version, other: Version): number {
  for (const [at, number] of one.numbers.entries()) {
    const wanted = other.numbers[at] ?? 0n
    if (number !== wanted) return number < wanted ? -1 : 1
  }
  if (one.pre.length === 0 || other.pre.length === 0) return Math.sign(other.pre.length - one.pre.length)
  for (const [at, part] of one.pre.entries()) {
    const wanted = other.pre[at]
    if (wanted === undefined) return 1
    const order = comparePart(part, wanted)
    if (order !== 0) return order
  }
  return one.pre.length < other.pre.length ? -1 : 0
}

/** Numbers come before words. */
function comparePart(one: string, other: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)]
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  if (isNumber) return Math.sign(Number(BigInt(one) - BigInt(other)))
  return one < other ? -1 : one > other ? 1 : 0
}

const type = opaque('kubernetes.Semver')
const parsing: Pick<FunctionPart, 'estimate' | 'cost'> = {
  estimate: (operands) => ({ cost: scaled(operands[0]?.size ?? unknownSize, TEXT_FACTOR) }),
  cost: ([text = null]) => traversal(sizeOf(text)),
}

const versionOf = (text: string, isLenient: Value): Version | CelError =>
  isLenient === true ? parseLenient(text) : parse(text)

function read(text: Value, isLenient: Value): Result {
  if (typeof text !== 'string') return noSuchOverload
  const version = versionOf(text, isLenient)
  return version instanceof CelError ? version : new SemverValue(version)
}

const number = (name: string, at: number): FunctionPart => ({
  name,
  overloads: [member(`semver_${name}`, [type], int)],
  run: (value) => (value instanceof SemverValue ? (value.version.numbers[at] ?? 0n) : noSuchOverload),
})

const comparison = (name: string, run: (order: number) => Result, result = bool): FunctionPart => ({
  name,
  overloads: [member(`semver_${name}`, [type, type], result)],
  run: (one, other) =>
    one instanceof SemverValue && other instanceof SemverValue
      ? run(compare(one.version, other.version))
      : noSuchOverload,
})

export const semverLibrary: Library = {
  functions: [
    {
      name: 'semver',
      overloads: [global('string_to_semver', [string], type), global('string_bool_to_semver', [string, bool], type)],
      run: read,
      ...parsing,
    },
    {
      name: 'isSemver',
      overloads: [global('is_semver_string', [string], bool), global('is_semver_string_bool', [string, bool], bool)],
      run: (text, isLenient) =>
        typeof text === 'string' ? !(versionOf(text, isLenient) instanceof CelError) : noSuchOverload,
      ...parsing,
    },
    number('major', 0),
    number('minor', 1),
    number('patch', 2),
    comparison('isLessThan', (order) => order < 0),
    comparison('isGreaterThan', (order) => order > 0),
    comparison('compareTo', (order) => BigInt(order), int),
  ],
}
