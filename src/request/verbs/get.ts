import { badRequest, internalError, notFound, unclassified } from '../../api/errors.ts'
import { isEvents } from '../../api/events.ts'
import type { ApiResponse } from '../../api/request.ts'
import { inSpan } from '../../api/span.ts'
import type { Freshness } from '../../storage/cache/fresh-state.ts'
import { negotiate } from '../../objects/codec/negotiate.ts'
import { type Resource } from '../../registry/resource.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { ReadAccess } from './access.ts'
import { answer, answerItem } from './answer.ts'
import { parseBoolean, parseVersion } from './options.ts'
import { holdLargeItem } from './hold-values.ts'
import { represent } from './represent/represent.ts'
import { keyAttributes } from './span-attributes.ts'
import { toApiError } from './storage-errors.ts'
import { checkSubresource } from './unsupported.ts'

/** Reads an object, or its `status` or `scale` subresource. */
export async function get(request: ResourceRequest, access: ReadAccess): Promise<ApiResponse> {
  const { resource, namespace, name, http } = request
  const { keys, reader, forms } = access
  const view = request.view
  const form = negotiate(http, resource)
  const show = represent(form, forms, request, view)
  const { at, askedVersion } = wanted(http.query, resource)
  try {
    const { item } = await inSpan(
      request.context.span,
      'cacher.Get',
      () => ({
        ...keyAttributes(request),
        'resource-version': http.query.get('resourceVersion') ?? '',
      }),
      () => reader.get(keys.key(namespace, name), at),
    )
    if (item === undefined) throw notFound(resource, name)
    request.context.storedBytes = item.length
    request.context.enter('answer')
    if (item.isUnprepared) await item.prepare()
    if (item.isLarge && (view !== undefined || form.as?.kind === 'Table')) {
      await holdLargeItem(request, item)
      await item.objectInParts()
    }
    const whyHidden = view?.whyHidden?.(item.object())
    if (whyHidden !== undefined)
      throw 'internal' in whyHidden
        ? internalError(whyHidden.internal)
        : unclassified(whyHidden.unclassified)
    if (view !== undefined)
      return answer(200, show, show.object(view.show(item.object()), view.shape))
    checkSubresource(request)
    return answerItem(request, item, show)
  } catch (error) {
    const corruptKey = access.corruptKey?.(keys.key(namespace, name))
    throw toApiError(
      request.context,
      { resource, name, verb: 'get', askedVersion, corruptKey },
      error,
    )
  }
}

/**
 * Returns how recent the state must be. Without a resourceVersion, the latest state is required.
 * With resourceVersion `0`, any cached state is sufficient. With another resourceVersion, the state
 * must be at least as recent.
 */
function wanted(
  query: URLSearchParams,
  resource: Resource,
): { readonly at: Freshness; readonly askedVersion: number } {
  if (query.size === 0) return { at: 'latest', askedVersion: 0 }
  if (parseBoolean(query.get('export'))) {
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
  }
  const text = query.get('resourceVersion') ?? ''
  if (text === '') return { at: 'latest', askedVersion: 0 }
  const askedVersion = parseVersion(text, isEvents(resource) ? 'list' : 'get')
  return { at: askedVersion === 0 ? 'any' : { atLeast: askedVersion }, askedVersion }
}
