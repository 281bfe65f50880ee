/** Which form of an answer the client takes, and which form a body has. JSON is the one form there is so far. */
import { notAcceptable, unsupportedMediaType } from '../api/errors.ts'

export const jsonType = 'application/json'

/** Fails unless plain JSON is among what the Accept header lets through. */
export function negotiateJson(accept: string | undefined, { isStream = false } = {}): void {
  if (accept === undefined || accept.trim() === '') return
  if (accept.split(',').some((clause) => takesJson(clause, isStream))) return
  throw notAcceptable(isStream ? [`${jsonType};stream=watch`] : [jsonType])
}

/** A clause that asks for a conversion (`as=Table`) is passed over: clients name the plain form after it. */
function takesJson(clause: string, isStream: boolean): boolean {
  const [type = '', ...parameters] = clause.split(';').map((part) => part.trim())
  if (type !== jsonType && type !== 'application/*' && type !== '*/*') return false
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=')
    if (name === 'stream') return isStream && value === 'watch'
    return name !== 'as' && name !== 'g' && name !== 'v'
  })
}

/** A body without a Content-Type is JSON. */
export function requireJsonBody(contentType: string | undefined): void {
  if (contentType === undefined) return
  const [type = ''] = contentType.split(';')
  if (type.trim() !== jsonType) throw unsupportedMediaType([jsonType])
}
