import { unsupportedMediaType } from '../../api/errors.ts'
import { firstHeader, parametersOf } from '../../api/request.ts'
import { type NegotiatedHeaders, type Form, jsonType, spokenTo } from './negotiate.ts'

/**
 * Returns the encoding of a request body, as specified by its Content-Type. Defaults to JSON.
 * Throws UnsupportedMediaType if the server does not support this type.
 */
export function bodyForm(asked: NegotiatedHeaders): Form['type'] {
  const contentType = firstHeader(asked.headers, 'content-type') ?? ''
  if (contentType === '' || contentType === jsonType) return 'json'
  const [type = '', ...parameters] = parametersOf(contentType)
  const isReadable = parameters.every(
    (parameter) => parameter === '' || /^[^\s=,]+\s*=\s*[^\s,][^,]*$/.test(parameter),
  )
  const { registered, routed } = spokenTo(asked)
  const found = registered.find((one) => `${one.type}/${one.subtype}` === type.toLowerCase())
  if (isReadable && found !== undefined) return found.form
  throw unsupportedMediaType(routed)
}
