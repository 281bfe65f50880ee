/** Responses of several verbs, in the format that the client accepts. */
import type { Status } from '../api/errors.ts'
import type { ApiResponse } from '../api/request.ts'
import { encodeCbor } from '../codec/cbor/encode.ts'
import { printOrdered } from '../codec/json.ts'
import type { Form } from '../codec/negotiate.ts'
import { encodeObject } from '../codec/protobuf/envelope.ts'
import { statusStruct } from '../registry/meta-types.ts'
import { type ResourceRequest, viewOf } from '../registry/resource.ts'
import { contentHeaders } from './represent/headers.ts'
import { styled } from './represent/json.ts'
import type { Representation } from './represent/representation.ts'
import type { Updated } from './write/write.ts'

export const ok = ({ headers }: Representation, body: Buffer): ApiResponse => ({ status: 200, headers, body })

/** 201 if an update, a patch or an apply created the object. */
export function answerUpdate(request: ResourceRequest, updated: Updated, show: Representation): ApiResponse {
  const { shape } = viewOf(request) ?? request.resource
  return { status: updated.isNew ? 201 : 200, headers: show.headers, body: show.written(updated, shape) }
}

/** The response to an action on an object, such as a binding or an eviction. */
export const answerDone = (form: Form): ApiResponse => ({ ...answerStatus(done, form), status: 201 })

const done: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

/** A Status is never converted, to a Table for example. */
export function answerStatus(status: Status, form: Form): ApiResponse {
  return { status: 200, headers: contentHeaders[form.type], body: statusBody(status, form), shownStatus: status }
}

function statusBody(status: Status, form: Form): Buffer {
  if (form.type === 'protobuf') return encodeObject(status, statusStruct())
  if (form.type === 'cbor') return encodeCbor(status)
  return styled(Buffer.from(`${printOrdered(status)}\n`), form)
}
