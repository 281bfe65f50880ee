/** Answers that several verbs give, in the form that the client asked for. */
import type { Status } from '../api/errors.ts'
import type { ApiResponse, Headers } from '../api/request.ts'
import { indentJson } from '../codec/indent.ts'
import { parseJson, printOrdered } from '../codec/json.ts'
import { type Form, jsonType, yamlType } from '../codec/negotiate.ts'
import { jsonToYaml } from '../codec/yaml-print.ts'

export const jsonHeaders: Headers = { 'content-type': jsonType }
export const yamlHeaders: Headers = { 'content-type': yamlType }

/** `json` ends with a newline. */
export function answer(status: number, json: Buffer, form: Form): ApiResponse {
  if (form.refusal !== undefined) throw form.refusal
  if (form.type === 'yaml') {
    return { status, headers: yamlHeaders, body: Buffer.from(jsonToYaml(parseJson(json))) }
  }
  return { status, headers: jsonHeaders, body: form.isIndented ? Buffer.from(indentJson(json.toString())) : json }
}

export const ok = (json: Buffer, form: Form): ApiResponse => answer(200, json, form)

export const printStatus = (status: Status): Buffer => Buffer.from(`${printOrdered(status)}\n`)
