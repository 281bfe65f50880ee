import { type ApiError, badRequest, expired, unclassified } from '../api/errors.ts'
import { type ApiResponse, firstHeader } from '../api/request.ts'
import type { At, Listed } from '../cache/reader.ts'
import { printOrdered } from '../codec/json.ts'
import { negotiateJson } from '../codec/negotiate.ts'
import { apiVersionOf, type Resource, type ResourceRequest } from '../registry/resource.ts'
import type { Key } from '../storage/engine.ts'
import { StorageError } from '../storage/errors.ts'
import { decodeContinue, encodeContinue, encodeContinueFrom } from '../storage/paging.ts'
import type { ReadAccess } from './access.ts'
import { ok } from './answer.ts'
import { type ListOptions, parseListOptions, parseVersion, validateListOptions } from './options.ts'
import { choose } from './selection.ts'
import { translated } from './storage-errors.ts'

export async function list(request: ResourceRequest, { keys, reader }: ReadAccess): Promise<ApiResponse> {
  const { resource, namespace, http } = request
  negotiateJson(firstHeader(http.headers, 'accept'))
  const options = parseListOptions(http.query)
  const { range, matches } = choose(request, options, keys)
  validateListOptions(http.query, 'list')
  const folder = keys.folder(namespace === '' ? undefined : namespace)
  const start = pageStart(options, folder)
  const from = start.from !== undefined && start.from > range.from ? start.from : range.from
  return translated({ resource, name: '', verb: 'list', askedVersion: start.askedVersion }, async () => {
    try {
      const page = await reader.list({ from, to: range.to }, start.at, { limit: start.limit, matches })
      return ok(printList(resource, page, { folder, isFiltered: matches !== undefined }))
    } catch (error) {
      if (isCode(error, 'compacted') && start.from !== undefined) throw expiredToken(folder, start.from)
      if (isCode(error, 'too-new') && isExact(start.at)) throw notYet(error)
      throw error
    }
  })
}

type PageStart = {
  readonly at: At
  readonly limit: number
  /** Where a continued list goes on. */
  readonly from: Key | undefined
  readonly askedVersion: number
}

/** What the options mean together: upstream's table of resourceVersion, match, limit and continue. */
function pageStart(options: ListOptions, folder: Key): PageStart {
  const { resourceVersion, resourceVersionMatch, limit } = options
  const askedVersion = resourceVersion === '' ? 0 : parseVersion(resourceVersion, 'list')
  if (options.continue !== '') return continued(options, folder, askedVersion)
  if (resourceVersion === '') return { at: 'latest', limit, from: undefined, askedVersion }
  // From memory everything is at hand: a limit would only cost the client more requests.
  if (askedVersion === 0) return { at: 'any', limit: 0, from: undefined, askedVersion }
  const isExact = resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && limit > 0)
  const at: At = isExact ? { exactly: askedVersion } : { atLeast: askedVersion }
  return { at, limit, from: undefined, askedVersion }
}

function continued(options: ListOptions, folder: Key, askedVersion: number): PageStart {
  const token = decodeContinue(folder, options.continue)
  if (token.fault !== undefined) throw badRequest(`invalid continue token: ${token.fault}`)
  if (askedVersion !== 0) throw badRequest('specifying resource version is not allowed when using continue')
  const at: At = token.revision === undefined ? 'latest' : { exactly: token.revision }
  return { at, limit: options.limit, from: token.from, askedVersion: token.revision ?? 0 }
}

const itemsBetween = Buffer.from(',{')
const itemsStart = Buffer.from('{')
const listEnd = Buffer.from(']}\n')

/** A head, the cached bytes of the items, a tail: nothing is printed again and nothing is copied. */
function printList(
  resource: Resource,
  page: Listed,
  { folder, isFiltered }: { readonly folder: Key; readonly isFiltered: boolean },
): Buffer[] {
  const last = page.items.at(-1)
  const hasNext = page.more && last !== undefined
  const metadata = {
    resourceVersion: `${page.revision}`,
    continue: hasNext ? encodeContinue(folder, last.key, page.revision) : undefined,
    remainingItemCount: hasNext && !isFiltered ? page.remaining : undefined,
  }
  const head = printOrdered({ kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata }).slice(0, -1)
  const parts: Buffer[] = [Buffer.from(`${head},"items":[`)]
  for (const [at, item] of page.items.entries()) parts.push(at === 0 ? itemsStart : itemsBetween, item.listTail())
  parts.push(listEnd)
  return parts
}

const isCode = (error: unknown, code: StorageError['code']): boolean =>
  error instanceof StorageError && error.code === code

const isExact = (at: At): boolean => typeof at === 'object' && 'exactly' in at

/** Of an exact version upstream asks etcd, and passes on what that says. */
const notYet = (cause: unknown): ApiError =>
  unclassified('etcdserver: mvcc: required revision is a future revision', cause)

const tooOldToContinue =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

/** The client may go on at the latest state, if it does not mind that the list is then of two times. */
function expiredToken(folder: Key, from: Key): ApiError {
  return expired(tooOldToContinue, { continue: encodeContinueFrom(folder, from, 'latest') })
}
