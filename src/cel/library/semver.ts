/** Semantic versions, which 1.33 adds. */
import { sizeOf, TEXT_FACTOR, traversal } from '../cost.ts'
import type { Library } from '../environment.ts'
import { type FunctionPart, global, member } from '../functions.ts'
import { scaled, unknownSize } from '../ranges.ts'
import { bool, int, opaque, string } from '../types.ts'
import { CelError, noSuchOverload, type Opaque, type Result, type Value } from '../values.ts'

type Version = { readonly numbers: readonly bigint[]; readonly pre: readonly string[] }

/** No number of a version is longer. */
const TEXT_CHARACTERS_MAX = 256

const form = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/

function parse(text: string): Version | undefined {
  if (text.length > TEXT_CHARACTERS_MAX) return undefined
  const match = form.exec(text)
  if (match === null) return undefined
  const pre = match[4]?.split('.') ?? []
  if (pre.some((part) => /^0\d+$/.test(part))) return undefined
  return { numbers: match.slice(1, 4).map(BigInt), pre }
}

/** A leading `v`, leading zeros and numbers left out are forgiven. */
function normalized(text: string): string {
  const [, numbers = '', rest = ''] = /^v?([0-9.]*)(.*)$/s.exec(text.trim()) ?? []
  const parts = numbers.split('.').map((part) => part.replace(/^0+(?=\d)/, ''))
  while (parts.length < 3) parts.push('0')
  return `${parts.join('.')}${rest}`
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

const versionOf = (text: string, isLenient: Value): Version | undefined =>
  parse(isLenient === true ? normalized(text) : text)

function read(text: Value, isLenient: Value): Result {
  if (typeof text !== 'string') return noSuchOverload
  const version = versionOf(text, isLenient)
  return version === undefined
    ? new CelError(`semver parse error on string ${JSON.stringify(text)}`)
    : new SemverValue(version)
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
      run: (text, isLenient) => (typeof text === 'string' ? versionOf(text, isLenient) !== undefined : noSuchOverload),
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
