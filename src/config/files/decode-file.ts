/**
 * Decodes a YAML or JSON configuration file by its apiVersion and kind, with the same decoder as
 * request bodies. Error messages are those of kube-apiserver. Only the first YAML document is read.
 */
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { JsonNumberError } from '../../api/json-value.ts'
import type { Fields } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { type Decoding, decodeStruct } from '../../objects/codec/decode.ts'
import {
  goTypeOfHead,
  type Head,
  parseFault,
  readHead,
  strictText,
} from '../../objects/codec/head.ts'
import { convertYaml } from '../../objects/codec/yaml.ts'
import { YamlError } from '../../objects/codec/yaml-error.ts'
import type { RegisteredKind, Scheme } from '../../objects/schema/object-schema.ts'

export type DecodedFile = {
  readonly fields: Fields
  /** The kind of the file, as registered in the scheme. */
  readonly known: RegisteredKind
  /** Whether the file contains a kind and an apiVersion. */
  readonly isVersioned: boolean
  /**
   * The error message about unknown and duplicate fields. Undefined if the file has no such fields.
   */
  readonly strictFault: string | undefined
}

export type FileFault = { readonly fault: string }

export type DecodeOptions = {
  /** The kind and apiVersion that apply if the file does not contain them. */
  readonly byDefault?: Partial<Head>
  /** Whether a JSON file is parsed as YAML, like every other file. */
  readonly isYamlOnly?: boolean
  /** Whether the file contains credentials. Messages must then not contain parts of the file. */
  readonly isSecret?: boolean
}

export function decodeFile(
  bytes: Buffer,
  scheme: Scheme,
  options: DecodeOptions = {},
): DecodedFile | FileFault {
  const { byDefault = {}, isYamlOnly = false, isSecret = false } = options
  const read = readText(bytes, { isYamlOnly })
  if ('fault' in read) return read
  const named = headOf(read.json)
  if ('fault' in named) return named
  const head = {
    kind: named.kind || (byDefault.kind ?? ''),
    apiVersion: versionOf(named.apiVersion, byDefault.apiVersion ?? ''),
  }
  const missing = missingPart(head)
  if (missing !== undefined) {
    const content = isSecret ? '' : ` in '${bytes.toString('utf8')}'`
    return { fault: `Object '${missing}' is missing${content}` }
  }
  const known = scheme.find(head.apiVersion, head.kind)
  if (known === undefined) return { fault: notRegistered(head, scheme) }
  const { value, fault, strictFaults } = decodeFields(read.json, known)
  if (fault !== undefined) return { fault }
  const isStrict = read.duplicates.length === 0 && strictFaults.length === 0
  const strictFault = isStrict
    ? undefined
    : `strict decoding error: ${strictText(read.duplicates, strictFaults)}`
  return { fields: value, known, isVersioned: missingPart(named) === undefined, strictFault }
}

type ReadText = { readonly json: string; readonly duplicates: readonly string[] }

/**
 * Characters that are spaces according to Go's unicode.IsSpace, for a character class. JavaScript's
 * `\s` differs: it includes the byte order mark and excludes U+0085.
 */
export const goBlanks =
  '\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'

const jsonStart = new RegExp(`^[${goBlanks}]*\\{`)

/**
 * Converts a file to JSON. As in kube-apiserver, a file that begins with a brace is parsed only as
 * JSON.
 */
export function readText(bytes: Buffer, { isYamlOnly = false } = {}): ReadText | FileFault {
  const text = bytes.toString('utf8')
  if (!isYamlOnly && jsonStart.test(text)) return { json: text, duplicates: [] }
  try {
    const { json, duplicates } = convertYaml(bytes)
    return { json: json.toString('utf8'), duplicates }
  } catch (error) {
    if (error instanceof YamlError) return { fault: error.message }
    throw error
  }
}

/** Returns the kind and the apiVersion of a file. A missing one is an empty string. */
export function headOf(json: string): Head | FileFault {
  try {
    const scanner = new JsonScanner(json)
    const type = scanner.peekType()
    if (type === 'null') return { kind: '', apiVersion: '' }
    if (type !== 'object') {
      return {
        fault: parseFault(`json: cannot unmarshal ${type} into Go value of type ${goTypeOfHead}`),
      }
    }
    scanner.skipValue()
    scanner.end()
    const { head, fault } = readHead(json)
    if (fault !== undefined) return { fault: parseFault(fault) }
    if (head.apiVersion.split('/').length > 2)
      return { fault: `unexpected GroupVersion string: ${head.apiVersion}` }
    return head
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { fault: parseFault(error.message) }
    throw error
  }
}

/**
 * Returns the apiVersion of a file, or the default if the file has none. If the apiVersion in the
 * file has no version, and its group is that of the default, the version of the default is used.
 */
const versionOf = (given: string, byDefault: string): string =>
  given === '' || (given.endsWith('/') && byDefault.startsWith(given)) ? byDefault || given : given

function missingPart({ kind, apiVersion }: Head): 'Kind' | 'apiVersion' | undefined {
  if (kind === '') return 'Kind'
  return apiVersion === '' || apiVersion.endsWith('/') ? 'apiVersion' : undefined
}

const notRegistered = ({ kind, apiVersion }: Head, scheme: Scheme): string =>
  `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme ${quote(scheme.name)}`

/** Decodes the fields of a file. If its kind has no schema, the fields are not decoded. */
function decodeFields(json: string, { struct }: RegisteredKind): Decoding {
  const nothing = { value: {}, fault: undefined, strictFaults: [] }
  if (struct === undefined || json === 'null') return nothing
  try {
    return decodeStruct(json, struct)
  } catch (error) {
    if (error instanceof JsonNumberError) return { ...nothing, fault: error.message }
    throw error
  }
}

/**
 * Returns the names of the top-level fields except kind and apiVersion, even if the values of the
 * fields cannot be decoded.
 */
export function fieldNames(json: string): readonly string[] {
  const scanner = new JsonScanner(json)
  if (scanner.peekType() !== 'object') return []
  const names = new Set<string>()
  for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
    names.add(scanner.readKey())
    scanner.peekType()
    scanner.skipValue()
  }
  return [...names].filter((name) => name !== 'kind' && name !== 'apiVersion')
}
