/** What an object says of itself: its kind and apiVersion, found as upstream finds them before it reads the rest. */
import { JsonScanner } from '../api/json-scanner.ts'

/** What an object says of itself. Empty where it says nothing. */
export type Head = { readonly kind: string; readonly apiVersion: string }

export type FoundHead = { readonly head: Head; readonly fault: string | undefined }

export const goTypeOfHead =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** Upstream finds the kind with a decoder that does not mind the case of letters; the last one counts. */
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

/** Repeated keys of YAML are told together, as its library does. */
export function strictText(yamlDuplicates: readonly string[], strictFaults: readonly string[]): string {
  if (yamlDuplicates.length === 0) return strictFaults.join(', ')
  const lines = ['yaml: unmarshal errors:', ...yamlDuplicates.map((line) => `  ${line}`)]
  return [lines.join('\n'), ...strictFaults].join(', ')
}
