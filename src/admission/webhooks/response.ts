/**
 * Decodes the response of a webhook. Messages are the same as those of kube-apiserver's client and
 * decoder.
 */
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { type Fields, fieldsOf, isFields, textOf, textsOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { decodeStruct } from '../../objects/codec/decode.ts'
import { goTypeOfHead, parseFault, readHead } from '../../objects/codec/head.ts'
import { commonType } from '../../registry/types.ts'
import type { ReviewVersion } from './webhook.ts'

export type Response = {
  readonly isAllowed: boolean
  /** Status object, or undefined if the response has no status. */
  readonly status: Fields | undefined
  /** Text of the JSON patch. Empty if the response has no patch. */
  readonly patch: string
  readonly patchType: string
  readonly warnings: readonly string[]
  readonly annotations: Fields
}

/** Thrown if the response is not valid. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError'
}

const reviewGroup = 'admission.k8s.io'

export type Expected = {
  readonly version: ReviewVersion
  readonly uid: string
  readonly isMutating: boolean
}

/** Decodes a response. Fails with a ResponseError if the response is not valid. */
export function readResponse(text: string, expected: Expected): Response {
  const { head, response } = decode(text, expected)
  if (!isFields(response)) throw invalid('webhook response was absent')
  const { uid, allowed, status, patch, patchType, warnings, auditAnnotations } = response
  if (expected.version === 'v1')
    checkV1(expected, head, { uid: textOf(uid), patch: textOf(patch), patchType })
  return {
    isAllowed: allowed === true,
    status: isFields(status) ? status : undefined,
    patch: expected.isMutating ? Buffer.from(textOf(patch), 'base64').toString('utf8') : '',
    patchType: expected.version === 'v1' ? textOf(patchType) : 'JSONPatch',
    warnings: textsOf(warnings),
    annotations: fieldsOf(auditAnnotations),
  }
}

type Head = { readonly kind: string; readonly apiVersion: string }
type DecodedReview = { readonly head: Head; readonly response: Fields[string] }

function decode(text: string, { version }: Expected): DecodedReview {
  try {
    const type = new JsonScanner(text).peekType()
    if (type === 'null') return { head: { kind: '', apiVersion: '' }, response: undefined }
    if (type !== 'object')
      throw failed(
        parseFault(`json: cannot unmarshal ${type} into Go value of type ${goTypeOfHead}`),
      )
    const { head, fault: headFault } = readHead(text)
    if (headFault !== undefined) throw failed(parseFault(headFault))
    const otherType = typeFault(head, version)
    if (otherType !== undefined) throw failed(otherType)
    const { value, fault } = decodeStruct(text, commonType('admission/v1', 'AdmissionReview'))
    if (fault !== undefined) throw failed(fault)
    return { head, response: value['response'] }
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw failed(parseFault(error.message))
    throw error
  }
}

function typeFault({ kind, apiVersion }: Head, version: ReviewVersion): string | undefined {
  const other = (name: string): string =>
    `converting (${name}) to (${version}.AdmissionReview): unknown conversion`
  if (apiVersion === `${reviewGroup}/${version}` && kind === 'AdmissionReview') return undefined
  if (kind === '' || apiVersion === '') return undefined
  if (kind === 'Status' && apiVersion === 'v1') return other('v1.Status')
  if (kind === 'AdmissionReview' && reviewVersions.has(apiVersion))
    return other(`${apiVersion.split('/')[1]}.${kind}`)
  return `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"`
}

const reviewVersions: ReadonlySet<string> = new Set([`${reviewGroup}/v1`, `${reviewGroup}/v1beta1`])

type CheckedResponse = {
  readonly uid: string
  readonly patch: string
  readonly patchType: Fields[string]
}

/** Checks the fields that AdmissionReview v1 requires and v1beta1 does not. */
function checkV1({ version, uid, isMutating }: Expected, head: Head, given: CheckedResponse): void {
  const hasPatch = given.patch !== ''
  const hasType = given.patchType !== undefined && given.patchType !== null
  if (given.uid !== uid)
    throw invalid(`expected response.uid=${quote(uid)}, got ${quote(given.uid)}`)
  const wanted = `${reviewGroup}/${version}, Kind=AdmissionReview`
  const found = `${head.apiVersion === '' ? '/' : head.apiVersion}, Kind=${head.kind}`
  if (found !== wanted) throw invalid(`expected webhook response of ${wanted}, got ${found}`)
  if (!isMutating && hasPatch) throw invalid('validating webhook may not return response.patch')
  if (!isMutating && hasType) throw invalid('validating webhook may not return response.patchType')
  if (hasPatch && !hasType)
    throw invalid('webhook returned response.patch but not response.patchType')
  if (!hasPatch && hasType)
    throw invalid('webhook returned response.patchType but not response.patch')
  if (hasType && given.patchType === '')
    throw invalid('webhook returned invalid response.patchType of ""')
}

const invalid = (why: string): ResponseError =>
  new ResponseError(`received invalid webhook response: ${why}`)
const failed = (why: string): ResponseError => new ResponseError(`failed to call webhook: ${why}`)
