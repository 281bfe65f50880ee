/** Answers that several verbs give. */
import type { Status } from '../api/errors.ts'
import type { ApiResponse } from '../api/request.ts'
import { printOrdered } from '../codec/json.ts'
import { jsonType } from '../codec/negotiate.ts'

export const jsonHeaders = { 'content-type': jsonType } as const

/** `body` is JSON with its newline. */
export const ok = (body: Buffer | readonly Buffer[]): ApiResponse => ({ status: 200, headers: jsonHeaders, body })
export const created = (body: Buffer): ApiResponse => ({ status: 201, headers: jsonHeaders, body })

export const printStatus = (status: Status): Buffer => Buffer.from(`${printOrdered(status)}\n`)
