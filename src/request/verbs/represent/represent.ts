/** Selects the representation that a client accepts. */
import type { ApiRequest } from '../../../api/request.ts'
import type { TableKind } from '../../../api/table.ts'
import { holdObject } from '../hold-values.ts'
import type { Form } from '../../../objects/codec/negotiate.ts'
import { apiVersionOf, type Resource, type View } from '../../../registry/resource.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import { audited } from './audited.ts'
import { cborObjects } from './cbor.ts'
import type { ResourceForms } from './forms.ts'
import { jsonObjects } from './json.ts'
import { partialObjects } from './partial.ts'
import { protobufObjects } from './protobuf.ts'
import type { Representation } from './representation.ts'
import { isPlain, type Styling } from './styled.ts'
import { includedObject, table, type TableOptions } from './table.ts'
import { traced } from './traced.ts'

/**
 * Returns the representation for a read or a write. A conversion can be valid only for lists or
 * only for single objects, which is checked during serialization. `view` is a subresource with its
 * own kind.
 */
export function represent(
  form: Form,
  forms: ResourceForms,
  request: ResourceRequest,
  view?: View,
): Representation {
  const { query } = request.http
  const { context } = request
  const { audited: audit, span } = context
  const made = representIn({ form, hold: holdFor(form, request.http), context }, forms, query, view)
  const shown = span === undefined ? made : traced(made, span, request)
  if (audit === undefined || !audit.wantsResponse) return shown
  const compact = { form: { ...form, ...compactJson } }
  const json = isPlain(form) ? shown : representIn(compact, forms, query, view)
  return audited(shown, json, { audit, hold: holdRecorded(request.http) })
}

/** Maximum size of objects that are recorded without reserving memory. Most objects are smaller. */
const RECORDED_BYTES_MIN = 64 << 10

/**
 * Returns a function that reserves memory for the audit record. A write has already reserved enough
 * memory to record its object, because a write must not be rejected after it was executed.
 */
function holdRecorded(http: ApiRequest): (bytes: number) => void {
  const isRead = http.method === 'GET' || http.method === 'HEAD'
  return (bytes) => {
    if (isRead && bytes > RECORDED_BYTES_MIN) holdObject(http, bytes)
  }
}

/**
 * Returns a function that reserves memory for converting compact JSON to indented JSON, YAML or
 * CBOR. If not enough memory is available, compact JSON is sent instead of indented JSON or YAML.
 * For CBOR, this is not possible. Therefore, a write with a CBOR response reserves no memory,
 * because it must not be rejected after it was executed.
 */
function holdFor({ type }: Form, http: ApiRequest): Styling['hold'] {
  const isRefused = type === 'cbor' && http.method !== 'GET' && http.method !== 'HEAD'
  return isRefused ? undefined : (bytes) => http.hold?.(bytes) ?? true
}

const compactJson = { type: 'json', isIndented: false } as const

function representIn(
  styling: Styling,
  forms: ResourceForms,
  query: URLSearchParams,
  view?: View,
): Representation {
  const { form } = styling
  const { resource } = forms
  const { as } = form
  if (as === undefined) {
    if (form.type === 'cbor') return cborObjects(resource, styling)
    return form.type === 'protobuf' ? protobufObjects(forms) : jsonObjects(resource, styling)
  }
  if (as.kind !== 'Table')
    return partialObjects({ ...styling, as }, forms.partials(as.version), {
      goName: goNameOf(resource),
      release: resource.release,
    })
  return table({ ...tableParts(forms, { ...form, as }, query, view?.table), ...styling })
}

export function tableParts(
  forms: ResourceForms,
  form: Form & Required<Pick<Form, 'as'>>,
  query: URLSearchParams,
  kind: TableKind = forms.resource.table,
): TableOptions {
  const { as } = form
  return {
    kind,
    as,
    form,
    rowsOfItems: () => forms.rows(as.version, includedObject(query)),
    rowOfObject: (object, json) =>
      forms.row({ object, json }, as.version, includedObject(query), kind),
    nowMs: forms.nowMs,
  }
}

/** Returns the Go type of the objects, which kube-apiserver's errors contain. */
function goNameOf(resource: Resource): string {
  if (resource.isCustom) return 'unstructured.Unstructured'
  const known = resource.shape.scheme.find(apiVersionOf(resource), resource.kind)
  return known?.hubName ?? resource.kind
}
