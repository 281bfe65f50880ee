/**
 * Named formats. For example, `format.dns1123Label().validate(text)` returns an optional list of
 * errors.
 */
import {
  checkDns1035Label,
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabelValue,
  checkQualifiedName,
  labelTextOf,
} from '../../../api/names.ts'
import { PATTERN_FACTOR, sizeOf, TEXT_FACTOR, traversal } from '../cost.ts'
import type { Library } from '../environment.ts'
import { type FunctionPart, global, member } from '../functions.ts'
import { fixed, scaled, times, unknownSize } from '../ranges.ts'
import { parseDate, parseTimestamp } from '../time.ts'
import { list, opaque, optional, string } from '../types.ts'
import { ArrayList, none, noSuchOverload, type Opaque, Optional } from '../values.ts'
import { parseUrl } from './url.ts'

/** kube-apiserver assumes this length for the regular expression of a format. */
const PATTERN_CHARACTERS_MAX = 128

class FormatValue implements Opaque {
  readonly typeName = 'kubernetes.NamedFormat'
  readonly name: string
  readonly check: (text: string) => readonly string[]

  constructor(name: string, check: (text: string) => readonly string[]) {
    this.name = name
    this.check = check
  }

  isSame(other: Opaque): boolean {
    return other instanceof FormatValue && other.name === this.name
  }
}

/**
 * Prepares the prefix of a generated name for validation as a name. A prefix may end with a dash,
 * because more characters follow in the name. As in kube-apiserver, the dash and the character
 * before it are replaced by an `a`, so that neither of them is validated.
 */
const maskDash = (text: string): string =>
  text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/

const unless = (isGood: boolean, fault: string): readonly string[] => (isGood ? [] : [fault])

function checkUri(text: string): readonly string[] {
  const url = parseUrl(text)
  return 'fault' in url ? [url.fault()] : []
}

const formatsOf = (release: number): readonly FormatValue[] => [
  new FormatValue('dns1123Label', checkDnsLabel),
  new FormatValue('dns1123Subdomain', checkDnsSubdomain),
  new FormatValue('dns1035Label', checkDns1035Label),
  new FormatValue('qualifiedName', (text) =>
    checkQualifiedName(text).map((fault) => labelTextOf(fault, release)),
  ),
  new FormatValue('dns1123LabelPrefix', (text) => checkDnsLabel(maskDash(text))),
  new FormatValue('dns1123SubdomainPrefix', (text) => checkDnsSubdomain(maskDash(text))),
  new FormatValue('dns1035LabelPrefix', (text) => checkDns1035Label(maskDash(text))),
  new FormatValue('labelValue', (text) =>
    checkLabelValue(text).map((fault) => labelTextOf(fault, release)),
  ),
  new FormatValue('uri', checkUri),
  new FormatValue('uuid', (text) => unless(uuid.test(text), 'does not match the UUID format')),
  new FormatValue('byte', (text) => unless(base64.test(text), 'invalid base64')),
  new FormatValue('date', (text) => unless(parseDate(text) !== undefined, 'invalid date')),
  new FormatValue('datetime', (text) =>
    unless(parseTimestamp(text) !== undefined, 'invalid datetime'),
  ),
]

const type = opaque('kubernetes.NamedFormat')

const validate: FunctionPart = {
  name: 'validate',
  overloads: [member('format_validate', [type, string], optional(list(string)))],
  run: (format, text) => {
    if (!(format instanceof FormatValue) || typeof text !== 'string') return noSuchOverload
    const faults = format.check(text)
    return faults.length === 0 ? none : new Optional(new ArrayList([...faults]))
  },
  estimate: (operands) => ({
    cost: times(
      scaled(operands[1]?.size ?? unknownSize, TEXT_FACTOR),
      scaled(fixed(PATTERN_CHARACTERS_MAX), PATTERN_FACTOR),
    ),
  }),
  cost: ([, text = null]) =>
    traversal(sizeOf(text)) * traversal(PATTERN_CHARACTERS_MAX, PATTERN_FACTOR),
}

/** Returns the named formats of a minor version of Kubernetes. */
export function formatLibraryOf(release: number): Library {
  const formats = formatsOf(release)
  return { functions: [...formats.map(constant), named(formats), validate] }
}

const constant = (format: FormatValue): FunctionPart => ({
  name: `format.${format.name}`,
  overloads: [global(`format_${format.name}`, [], type)],
  run: () => format,
})

const named = (formats: readonly FormatValue[]): FunctionPart => ({
  name: 'format.named',
  overloads: [global('format_named', [string], optional(type))],
  run: (name) => {
    const format = formats.find((known) => known.name === name)
    return format === undefined ? none : new Optional(format)
  },
})
