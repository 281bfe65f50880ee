/**
 * Reads the kind and apiVersion of an object. kube-apiserver reads them before it decodes the rest.
 */
import { JsonScanner } from '../../api/json-scanner.ts'
import { repeat } from '../../lib/scheduling/parts.ts'

/** The kind and apiVersion of an object. An absent field is an empty string. */
export type Head = { readonly kind: string; readonly apiVersion: string }

export type LocatedHead = { readonly head: Head; readonly fault: string | undefined }

export const goTypeOfHead =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/**
 * Reads the kind and apiVersion of a JSON object. As in kube-apiserver, keys are matched
 * case-insensitively, and the last value is used.
 */
export function readHead(text: string): LocatedHead {
  const scanner = new JsonScanner(text)
  scanner.peekType()
  const begin = (): HeadReading => {
    const more = scanner.beginObject()
    return { head: { kind: '', apiVersion: '' }, fault: undefined, more, at: scanner.at }
  }
  const { head, fault } = repeat('fields of a head', begin, (read) => {
    scanner.at = read.at
    if (!read.more) return false
    readHeadField(scanner, read)
    read.more = scanner.nextInObject()
    read.at = scanner.at
    return read.more
  })
  return { head, fault }
}

type HeadReading = {
  readonly head: { kind: string; apiVersion: string }
  fault: string | undefined
  more: boolean
  at: number
}

function readHeadField(scanner: JsonScanner, read: HeadReading): void {
  const key = scanner.readKey().toLowerCase()
  const name = key === 'kind' ? 'kind' : key === 'apiversion' ? 'apiVersion' : undefined
  const type = scanner.peekType()
  if (name !== undefined && type === 'string') {
    read.head[name] = scanner.readString()
    return
  }
  scanner.skipValue()
  if (name === undefined || type === 'null') return
  read.fault ??= `json: cannot unmarshal ${type} into Go struct field .${name} of type string`
}

export const parseFault = (why: string): string =>
  `couldn't get version/kind; json parse error: ${why}`

/**
 * Joins the errors of strict decoding. Duplicate YAML keys are reported in one message, as in
 * kube-apiserver's library.
 */
export function strictText(
  yamlDuplicates: readonly string[],
  strictFaults: readonly string[],
): string {
  if (yamlDuplicates.length === 0) return strictFaults.join(', ')
  const lines = ['yaml: unmarshal errors:', ...yamlDuplicates.map((line) => `  ${line}`)]
  return [lines.join('\n'), ...strictFaults].join(', ')
}
