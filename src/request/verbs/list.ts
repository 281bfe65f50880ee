import type { ApiError } from '../../api/errors.ts'
import { badRequest, expired, unclassified } from '../../api/errors.ts'
import { isEvents } from '../../api/events.ts'
import type { Fields } from '../../api/object.ts'
import type { ApiResponse } from '../../api/request.ts'
import { inSpan } from '../../api/span.ts'
import type { Item, Matches } from '../../storage/cache/item.ts'
import type { Freshness } from '../../storage/cache/fresh-state.ts'
import type { ListResult } from '../../storage/cache/store-lists.ts'
import { negotiate } from '../../objects/codec/negotiate.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import type { Resource } from '../../registry/resource.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { Key } from '../../storage/engine.ts'
import { isCode, StorageError, type UnreadableObject } from '../../storage/errors.ts'
import { keyAfter } from '../../storage/keys.ts'
import { decodeContinue, encodeContinue, encodeContinueFrom } from '../../storage/paging.ts'
import type { ReadAccess } from './access.ts'
import { type ListOptions, parseListOptions, parseVersion, validateListOptions } from './options.ts'
import { represent } from './represent/represent.ts'
import { choose, parseSelectors, type Selectors } from './selection.ts'
import {
  checkWaiting,
  type RequestSignal,
  type StorageOperation,
  toApiError,
  translated,
  UNREAD_MAX,
} from './storage-errors.ts'

export async function list(request: ResourceRequest, access: ReadAccess): Promise<ApiResponse> {
  const { http } = request
  const { isCustom } = request.resource
  const form = negotiate(http, {
    onCollection: true,
    isCustom,
    refuseFirst: () => void readOptions(http.query, request.resource.release),
  })
  const representation = represent(form, access.forms, request)
  const { page, metadata } = await readPage(request, access)
  const { headers } = representation
  request.context.enter('answer')
  const operation = listOperation(request, access, page)
  const body = await translated(request.context, operation, async () => {
    await prepare(page.items, request.context)
    return representation.list(page.items, metadata)
  })
  const response = holding({ status: 200, headers, body }, page)
  // The tag of a response identifies its bytes. A Table has no tag, because it contains ages, which
  // change over time.
  if (page.state === undefined || form.as?.kind === 'Table') return response
  return tagged(
    response,
    () => `${http.path}?${http.query.toString()} as ${JSON.stringify(form)} at ${page.state}`,
  )
}

async function prepare(items: readonly Item[], context: RequestSignal): Promise<void> {
  const slices = new Slices()
  for (const item of items) {
    if (!item.isUnprepared) continue
    checkWaiting(context)
    await item.prepare()
    if (slices.isOver) await slices.turn()
  }
}

/**
 * Describes the list for error messages. An object can fail to be decoded while the list is being
 * serialized.
 */
const listOperation = (
  { resource }: ResourceRequest,
  { corruptKey }: ReadAccess,
  { items }: Pick<ListResult, 'items'>,
): StorageOperation => ({
  resource,
  name: '',
  verb: 'list',
  corruptKey: corruptKey && '',
  unread: () => undecodable(items),
})

/**
 * If an object of the page cannot be decoded, throws the same error that a list request would
 * return.
 */
export function refuseUndecodable(
  request: ResourceRequest,
  access: ReadAccess,
  page: Pick<ListResult, 'items'>,
): void {
  const [first] = undecodable(page.items)
  if (first !== undefined)
    throw toApiError(request.context, listOperation(request, access, page), first.error)
}

/**
 * Returns the objects that cannot be decoded. Returns at most one more than a Status can list, so
 * that the Status can state that there are more.
 */
function undecodable(items: readonly Item[]): UnreadableObject[] {
  const found: UnreadableObject[] = []
  for (const item of items) {
    try {
      item.wire()
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      found.push({ key: item.key, error })
      if (found.length > UNREAD_MAX) break
    }
  }
  return found
}

/**
 * Sets `heldBytes` of the response body, the memory that the listed objects use until they are
 * sent. Cached objects do not count, because they remain in memory anyway.
 */
function holding(response: ApiResponse, { ownBytes: heldBytes }: ListResult): ApiResponse {
  if (heldBytes === undefined || !('body' in response) || !('chunks' in response.body))
    return response
  return { ...response, body: { ...response.body, heldBytes } }
}

/**
 * Adds a tag to the response, so that clients that request the same list share its compressed
 * bytes. The state, the path, the query and the format determine these bytes.
 */
function tagged(response: ApiResponse, tag: () => string): ApiResponse {
  if (!('body' in response) || Buffer.isBuffer(response.body) || !('chunks' in response.body))
    return response
  return { ...response, body: { ...response.body, tag } }
}

/** A page of objects with the metadata of its list. */
export type ReadPage = { readonly page: ListResult; readonly metadata: Fields }

/**
 * Lists the objects that the query selects. Fails if options are invalid or contradict each other.
 * With `isPaged`, the list is treated as paginated even if the query has no limit. kube-apiserver
 * does this for a deletecollection.
 */
export async function readPage(
  request: ResourceRequest,
  access: ReadAccess,
  { isPaged = false }: { readonly isPaged?: boolean } = {},
): Promise<ReadPage> {
  const { resource, namespace, http, context } = request
  const { keys, reader } = access
  const { options, selectors } = readOptions(http.query, resource.release)
  const { range, isOneKey, matches, by, indexed, name } = choose(request, selectors, keys)
  const folder = keys.folder(namespace === '' ? undefined : namespace)
  const start = pageStart(options, folder, {
    resource,
    isPaged: (isPaged || options.limit > 0) && !isOneKey,
  })
  const from = start.from !== undefined && start.from > range.from ? start.from : range.from
  const isFirst = start.at === 'latest' && start.from === undefined
  /**
   * Whether the index contains objects after this page. As in kube-apiserver, the first page of a
   * node's Pods comes from an index. If the index contains no further objects, the list ends.
   */
  const hasNext = async ({ items, revision }: ListResult, isIndexed: Matches): Promise<boolean> => {
    const rest = { from: keyAfter(items.at(-1)?.key ?? range.from), to: range.to }
    const next = await reader.list(rest, { exactly: revision }, { limit: 1, matches: isIndexed })
    return next.items.length > 0
  }
  const corruptKey = access.corruptKey && ''
  const operation = {
    resource,
    name: '',
    verb: 'list',
    askedVersion: start.askedVersion,
    corruptKey,
  }
  return translated(context, operation, async () => {
    try {
      const selection = {
        limit: start.limit,
        matches,
        by,
        name,
        hold: (bytes: number) => http.hold?.(bytes) ?? true,
      }
      const found = await inSpan(
        context.span,
        'cacher.GetList',
        () => ({ 'audit-id': context.auditId, type: resource.plural }),
        () => reader.list({ from, to: range.to }, start.at, selection),
      )
      const isEnd =
        found.more && isFirst && indexed !== undefined && !(await hasNext(found, indexed()))
      const page = isEnd ? { ...found, more: false } : found
      return { page, metadata: listMetadata(page, folder, matches !== undefined) }
    } catch (error) {
      if (isCode(error, 'compacted') && start.from !== undefined)
        throw expiredToken(folder, start.from)
      if (isCode(error, 'too-new') && isExact(start.at) && resource.release < SNAPSHOTS_SINCE)
        throw notYet(error)
      throw error
    }
  })
}

type RequestedOptions = { readonly options: ListOptions; readonly selectors: Selectors }

function readOptions(query: URLSearchParams, release: number): RequestedOptions {
  const options = parseListOptions(query)
  const selectors = parseSelectors(options, release)
  validateListOptions(query, 'list')
  return { options, selectors }
}

/**
 * Builds the metadata of a list. If there is a selector, the number of remaining items is unknown.
 * Keys in continue tokens are relative to `folder`, the prefix of all listed keys.
 */
function listMetadata(page: ListResult, folder: Key, isFiltered: boolean): Fields {
  const last = page.items.at(-1)
  const hasNext = page.more && last !== undefined
  return {
    // The revision is 0 for objects that are not stored.
    resourceVersion: page.revision === 0 ? undefined : `${page.revision}`,
    continue: hasNext ? encodeContinue(folder, last.key, page.revision) : undefined,
    remainingItemCount: hasNext && !isFiltered ? page.remaining : undefined,
  }
}

type PageStart = {
  readonly at: Freshness
  readonly limit: number
  /** The key from which the list continues. */
  readonly from: Key | undefined
  readonly askedVersion: number
}

type Paging = {
  readonly resource: Resource
  /**
   * Whether the list is paginated. All pages must have the same version, so resourceVersionMatch
   * defaults to Exact. A lookup by name is never paginated.
   */
  readonly isPaged: boolean
}

/**
 * Combines resourceVersion, resourceVersionMatch, limit and continue according to kube-apiserver's
 * rules.
 */
function pageStart(options: ListOptions, folder: Key, { resource, isPaged }: Paging): PageStart {
  const { resourceVersion, resourceVersionMatch, limit } = options
  if (options.continue !== '') return continued(options, folder, resource)
  const askedVersion = resourceVersion === '' ? 0 : parseVersion(resourceVersion, 'list')
  if (resourceVersion === '') return { at: 'latest', limit, from: undefined, askedVersion }
  // kube-apiserver serves resourceVersion=0 from its watch cache, which ignores the limit. Events
  // have no watch cache.
  if (askedVersion === 0) {
    const isLimited = isEvents(resource) || resourceVersion !== '0'
    return { at: 'any', limit: isLimited ? limit : 0, from: undefined, askedVersion }
  }
  const isExactly = resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && isPaged)
  const at: Freshness = isExactly ? { exactly: askedVersion } : { atLeast: askedVersion }
  return { at, limit, from: undefined, askedVersion }
}

function continued(options: ListOptions, folder: Key, resource: Resource): PageStart {
  const token = decodeContinue(folder, options.continue)
  if (token.fault !== undefined) throw badRequest(`invalid continue token: ${token.fault}`)
  if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue')
  }
  const at: Freshness = token.revision === undefined ? 'latest' : { exactly: token.revision }
  const isFromCache = resource.release >= SNAPSHOTS_SINCE && !isEvents(resource)
  const limit = isFromCache && options.resourceVersion === '0' ? 0 : options.limit
  return { at, limit, from: token.from, askedVersion: token.revision ?? 0 }
}

const isExact = (at: Freshness): boolean => typeof at === 'object' && 'exactly' in at

/**
 * The first release that reads exact versions from the watch cache (ListFromCacheSnapshot). A
 * version in the future then has the same error as for other reads, and resourceVersion=0 ignores
 * the limit for all pages.
 */
const SNAPSHOTS_SINCE = 34

/**
 * Returns the error for an exact version in the future. Before 1.34, kube-apiserver reads exact
 * versions from etcd, and returns etcd's error.
 */
const notYet = (cause: unknown): ApiError =>
  unclassified('etcdserver: mvcc: required revision is a future revision', cause)

const tooOldToContinue =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

/**
 * Returns the error for an expired continue token. The error contains a new token. With it, the
 * client can continue from the latest state, if an inconsistent list is acceptable.
 */
function expiredToken(folder: Key, from: Key): ApiError {
  return expired(tooOldToContinue, { continue: encodeContinueFrom(folder, from, 'latest') })
}
