/**
 * Semantic versions (semver.org). Parsing is as strict as in the library that kube-apiserver uses,
 * and has the same error messages.
 */
import { quote } from './quote.ts'

export type Semver = { readonly numbers: readonly bigint[]; readonly pre: readonly string[] }

/** Maximum length of a version, longer than that of any real version. */
const TEXT_CHARACTERS_MAX = 256

/**
 * Parses a version. The error messages are those of kube-apiserver's library, except for a version
 * that is too long.
 */
export function parseSemver(text: string): Semver | { readonly fault: string } {
  if (text === '') return { fault: 'Version string empty' }
  if (text.length > TEXT_CHARACTERS_MAX) return { fault: 'the version is too long' }
  const parts = /^([^.]*)\.([^.]*)\.(.*)$/s.exec(text)
  if (parts === null) return { fault: 'No Major.Minor.Patch elements found' }
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
  if (fault !== undefined) return { fault }
  return { numbers: [major, minor, patch].map(BigInt), pre: pre?.split('.') ?? [] }
}

const UINT64_MAX = 2n ** 64n - 1n

function numberFault(name: string, text: string): string | undefined {
  if (/[^0-9]/.test(text)) return `Invalid character(s) found in ${name} number ${quote(text)}`
  const title = name.slice(0, 1).toUpperCase() + name.slice(1)
  if (/^0./.test(text)) return `${title} number must not contain leading zeroes ${quote(text)}`
  if (text === '') return 'strconv.ParseUint: parsing "": invalid syntax'
  return BigInt(text) > UINT64_MAX
    ? `strconv.ParseUint: parsing ${quote(text)}: value out of range`
    : undefined
}

function preFault(part: string): string | undefined {
  if (part === '') return 'Prerelease is empty'
  if (/^\d+$/.test(part) && !part.startsWith('0') && BigInt(part) > UINT64_MAX)
    return `strconv.ParseUint: parsing ${quote(part)}: value out of range`
  if (/^0[0-9]+$/.test(part))
    return `Numeric PreRelease version must not contain leading zeroes ${quote(part)}`
  return /[^0-9A-Za-z-]/.test(part)
    ? `Invalid character(s) found in prerelease ${quote(part)}`
    : undefined
}

function buildFault(part: string): string | undefined {
  if (part === '') return 'Build meta data is empty'
  return /[^0-9A-Za-z-]/.test(part)
    ? `Invalid character(s) found in build meta data ${quote(part)}`
    : undefined
}

/**
 * Compares two versions. Returns a negative number, zero or a positive number, as sort functions
 * expect.
 */
export function compareSemver(one: Semver, other: Semver): number {
  for (const [at, number] of one.numbers.entries()) {
    const wanted = other.numbers[at] ?? 0n
    if (number !== wanted) return number < wanted ? -1 : 1
  }
  if (one.pre.length === 0 || other.pre.length === 0)
    return Math.sign(other.pre.length - one.pre.length)
  for (const [at, part] of one.pre.entries()) {
    const wanted = other.pre[at]
    if (wanted === undefined) return 1
    const order = comparePart(part, wanted)
    if (order !== 0) return order
  }
  return one.pre.length < other.pre.length ? -1 : 0
}

/**
 * Compares two identifiers of a pre-release. Numeric identifiers have lower precedence than
 * alphanumeric ones.
 */
function comparePart(one: string, other: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)]
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  if (isNumber) return Math.sign(Number(BigInt(one) - BigInt(other)))
  return one < other ? -1 : one > other ? 1 : 0
}
