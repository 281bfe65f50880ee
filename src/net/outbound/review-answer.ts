/**
 * Decodes the response of a webhook to a review, as kube-apiserver's client does. The error
 * messages are those of Go's decoder.
 */
import { type Fields, isFields, type Json, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { fieldsIn } from './body.ts'

export type ReviewKind = { readonly kind: string; readonly group: string; readonly version: string }

export type ReviewRead = { readonly fields: Fields } | { readonly fault: string }

/** Reads a review. A body without kind and apiVersion is assumed to be the requested review. */
export function readReview(text: string, { kind, group, version }: ReviewKind): ReviewRead {
  const fields = fieldsIn(text)
  if (fields === undefined) {
    const found = /^\s*\[/.test(text) ? 'array' : 'string'
    return {
      fault: `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go value of ${headType}`,
    }
  }
  const givenKind = textOf(fields['kind']) || kind
  const apiVersion = textOf(fields['apiVersion']) || `${group}/${version}`
  if (givenKind === kind && apiVersion === `${group}/${version}`) return { fields }
  return { fault: otherKindFault(givenKind, apiVersion, `${version}.${kind}`) }
}

const headType =
  'type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/**
 * Returns the error for a review of another kind. kube-apiserver's client only knows the kinds of
 * Kubernetes. Their groups have no domain, or a domain that ends in k8s.io.
 */
function otherKindFault(kind: string, apiVersion: string, wanted: string): string {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  if (!group.includes('.') || group.endsWith('.k8s.io')) {
    return `converting (${version}.${kind}) to (${wanted}): unknown conversion`
  }
  const scheme = 'k8s.io/client-go/kubernetes/scheme/register.go:84'
  return `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme ${quote(scheme)}`
}

/**
 * Returns an error message if a field of a review has the wrong type, or undefined if it is correct
 * or absent. `field` is the name of a Go struct and a path, such as `Struct.path`.
 */
export function typeFault(
  value: Json | undefined,
  type: 'object' | 'bool' | 'string',
  field: string,
  goType: string = type,
): string | undefined {
  if (value === undefined || value === null) return undefined
  const found = goKindOf(value)
  return found === type
    ? undefined
    : `json: cannot unmarshal ${found} into Go struct field ${field} of type ${goType}`
}

function goKindOf(value: Json): string {
  if (isFields(value)) return 'object'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : 'number'
}
