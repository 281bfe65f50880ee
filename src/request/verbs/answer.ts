/** Builds the responses of several verbs, in the format that the client accepts. */
import type { Status } from '../../api/errors.ts'
import type { RequestContext } from '../../api/context.ts'
import type { ApiResponse, LazyBody } from '../../api/request.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { encodeCbor } from '../../objects/codec/cbor/encode.ts'
import { indentJson } from '../../objects/codec/indent.ts'
import { printOrdered } from '../../objects/codec/json.ts'
import type { Form } from '../../objects/codec/negotiate.ts'
import { encodeObject } from '../../objects/codec/protobuf/envelope.ts'
import { jsonToYaml } from '../../objects/codec/yaml-print.ts'
import { inParts } from '../../lib/scheduling/parts.ts'
import type { Slices } from '../../lib/scheduling/slices.ts'
import { statusStruct } from '../../registry/meta-types.ts'
import type { Item } from '../../storage/cache/item.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { contentHeaders } from './represent/headers.ts'
import type { Body, Representation } from './represent/representation.ts'
import type { UpdateOutcome } from './write/write.ts'

/**
 * Builds a response with an object. If the object is large, the body is a promise, because
 * serializing it takes some time.
 */
export function answer(
  status: number,
  { headers }: Representation,
  body: Body,
): MaybePromise<ApiResponse> {
  return Buffer.isBuffer(body)
    ? { status, headers, body }
    : body.then((long) => ({ status, headers, body: long }))
}

/**
 * Serializes the object of a response. A large object is serialized in slices. This does not fail
 * if the client disconnects, because the object might already be stored.
 */
export function printed(context: RequestContext, print: () => Body): Body {
  return context.isLarge ? printedInParts(print, context.slices) : print()
}

const printedInParts = async (print: () => Body, slices: Slices): Promise<Buffer | LazyBody> =>
  inParts(print, slices)

/** Builds the response with an object that was read. */
export const answerItem = (
  { context }: ResourceRequest,
  item: Item,
  show: Representation,
): MaybePromise<ApiResponse> =>
  answer(
    200,
    show,
    printed(context, () => show.item(item)),
  )

/** Builds the response to a write. Its status is 201 if the object was created. */
export function answerWrite(
  request: ResourceRequest,
  written: UpdateOutcome,
  show: Representation,
): MaybePromise<ApiResponse> {
  const { shape } = request.view ?? request.resource
  request.context.enter('answer')
  const body = printed(request.context, () => show.written(written, shape))
  return answer(written.isNew ? 201 : 200, show, body)
}

/** Builds the response to an action on an object, such as a binding or an eviction. */
export const answerDone = (form: Form): ApiResponse => ({
  ...answerStatus(done, form),
  status: 201,
})

const done: Status = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  code: 201,
}

/**
 * Builds a response with a Status. A Status is never converted to another kind, such as a Table.
 */
export function answerStatus(status: Status, form: Form): ApiResponse {
  return {
    status: 200,
    headers: contentHeaders[form.type],
    body: statusBody(status, form),
    shownStatus: status,
  }
}

function statusBody(status: Status, form: Form): Buffer {
  if (form.type === 'protobuf') return encodeObject(status, statusStruct())
  if (form.type === 'cbor') return encodeCbor(status)
  if (form.type === 'yaml') return Buffer.from(jsonToYaml(status))
  const json = `${printOrdered(status)}\n`
  return Buffer.from(form.isIndented ? indentJson(json) : json)
}
