/** The kind and apiVersion of an object, which upstream reads before it decodes the rest. */
import { JsonScanner } from '../api/json-scanner.ts'

/** Empty strings if the fields are absent. */
export type Head = { readonly kind: string; readonly apiVersion: string }

export type FoundHead = { readonly head: Head; readonly fault: string | undefined }

export const goTypeOfHead =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** Upstream reads these two fields with a case-insensitive decoder; the last value counts. */
export function readHead(text: string): FoundHead {
  const scanner = new JsonScanner(text)
  const head = { kind: '', apiVersion: '' }
  let fault: string | undefined
  scanner.peekType()
  for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
    const key = scanner.readKey().toLowerCase()
    const name = key === 'kind' ? 'kind' : key === 'apiversion' ? 'apiVersion' : undefined
    const type = scanner.peekType()
    if (name === undefined || type === 'null') scanner.skipValue()
    else if (type === 'string') head[name] = scanner.readString()
    else {
      scanner.skipValue()
      fault ??= `json: cannot unmarshal ${type} into Go struct field .${name} of type string`
    }
  }
  return { head, fault }
}

export const parseFault = (why: string): string => `couldn't get version/kind; json parse error: ${why}`

/** Duplicate keys of YAML are reported in one message, as upstream's library does. */
export function strictText(yamlDuplicates: readonly string[], strictFaults: readonly string[]): string {
  if (yamlDuplicates.length === 0) return strictFaults.join(', ')
  const lines = ['yaml: unmarshal errors:', ...yamlDuplicates.map((line) => `  ${line}`)]
  return [lines.join('\n'), ...strictFaults].join(', ')
}
