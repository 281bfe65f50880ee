/** Determines the kind of a patch from its Content-Type. */
import {
  notAcceptableHere,
  unsupportedMediaType,
  unsupportedMediaTypeHere,
} from '../../api/errors.ts'
import { type ApiRequest, elementsOf, firstHeader } from '../../api/request.ts'

export type PatchForm = 'json' | 'merge' | 'strategic' | 'apply' | 'apply-cbor'

const formsWithoutCbor: ReadonlyMap<string, PatchForm> = new Map<string, PatchForm>([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
])
const formsWithCbor: ReadonlyMap<string, PatchForm> = new Map<string, PatchForm>([
  ...formsWithoutCbor,
  ['application/apply-patch+cbor', 'apply-cbor'],
])

/** The first release whose router has the same error for requests with and without a body. */
const ONE_ERROR_SINCE = 34

/**
 * Returns the kind of a patch. Throws UnsupportedMediaType if the Content-Type is not supported.
 * Before 1.34, a request that also lacks a body gets NotAcceptable from kube-apiserver's router.
 */
export function patchForm(
  { headers, takesCbor }: Pick<ApiRequest, 'headers' | 'takesCbor'>,
  { isCustom, release }: { readonly isCustom: boolean; readonly release: number },
): PatchForm {
  const forms = takesCbor === true ? formsWithCbor : formsWithoutCbor
  const contentType = firstHeader(headers, 'content-type') ?? ''
  const form = forms.get(withoutParameters(contentType))
  // Strategic merge patches are not supported for custom kinds, because their schemas do not define
  // how to merge lists.
  if (isCustom && (form === undefined || form === 'strategic')) {
    throw unsupportedMediaType([...forms.keys()].filter((type) => forms.get(type) !== 'strategic'))
  }
  if (form !== undefined) return form
  // Some headers with extra whitespace or several types pass the router. The handler then rejects
  // them, with another message.
  const isRouted = elementsOf(contentType).some((part) => forms.has(withoutParameters(part).trim()))
  if (isRouted) throw unsupportedMediaType([...forms.keys()])
  const hasBody = Number(headers['content-length'] ?? 0) > 0
  throw hasBody || release >= ONE_ERROR_SINCE ? unsupportedMediaTypeHere() : notAcceptableHere([])
}

const withoutParameters = (type: string): string => type.split(';', 1)[0] ?? ''
