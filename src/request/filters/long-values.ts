/**
 * Rejects requests with names and options that are far longer than valid ones. This happens before
 * they are authorized and compared. kube-apiserver rejects such requests later, or finds no object
 * with such a name.
 */
import type { RequestInfo } from '../../api/context.ts'
import { badRequest } from '../../api/errors.ts'
import type { ApiRequest } from '../../api/request.ts'
import type { Stage } from '../lifecycle.ts'

/**
 * Maximum length of a name, an option or an impersonation header. Valid names are shorter than 300
 * characters.
 */
const VALUE_CHARACTERS_MAX = 32 << 10

/**
 * Options whose length is limited. Other options are not limited: selectors can be long,
 * kube-apiserver ignores unknown options, and it accepts any text as a Boolean.
 */
const shortOptions = [
  'continue',
  'dryRun',
  'fieldManager',
  'fieldValidation',
  'gracePeriodSeconds',
  'limit',
  'limitBytes',
  'propagationPolicy',
  'resourceVersion',
  'resourceVersionMatch',
  'sinceSeconds',
  'sinceTime',
  'tailLines',
  'timeoutSeconds',
]

export const refuseLongValues: Stage = ({ request, context }) => {
  const { path, rawQuery = '' } = request
  if (path.length > VALUE_CHARACTERS_MAX) refuseLongNames(context.info)
  if (rawQuery.length > VALUE_CHARACTERS_MAX) refuseLongOptions(context.info, request)
}

function refuseLongNames(info: RequestInfo): void {
  if (info.kind === 'path') return
  const { group, version, namespace, plural, name, subresource } = info
  for (const segment of [group, version, namespace, plural, name, subresource])
    refuseLong('a segment of the path', segment)
}

function refuseLongOptions(info: RequestInfo, { query }: ApiRequest): void {
  // The query parameters of a proxied request are for another server.
  if (info.kind === 'path' || info.subresource === 'proxy') return
  for (const option of shortOptions)
    for (const value of query.getAll(option)) refuseLong(`the option ${option}`, value)
}

/** Fails with BadRequest if a value is too long. */
export function refuseLong(what: string, value: string): void {
  if (value.length > VALUE_CHARACTERS_MAX)
    throw badRequest(`${what} is longer than ${VALUE_CHARACTERS_MAX} characters`)
}
