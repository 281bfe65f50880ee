/**
 * Conditional and range requests (RFC 9110, sections 13 and 14), for clients that already have the
 * document or a part of it.
 */
import {
  type ApiRequest,
  type ApiResponse,
  elementsOf,
  firstHeader,
  type Headers,
} from '../../../api/request.ts'

type FullResponse = {
  readonly headers: Headers
  readonly body: Buffer
  readonly modifiedMs: number
}

export function conditional(
  { headers: asked }: Pick<ApiRequest, 'headers'>,
  { headers, body, modifiedMs }: FullResponse,
): ApiResponse {
  const modified = httpDate(modifiedMs)
  if (isKnown(asked, headers['etag'], modifiedMs)) {
    const { 'content-type': _, 'content-encoding': __, ...others } = headers
    return { status: 304, headers: others, body: Buffer.alloc(0) }
  }
  const all = { ...headers, 'last-modified': modified, 'accept-ranges': 'bytes' }
  const range = firstHeader(asked, 'range')
  const part = range === undefined ? undefined : partOf(range, body.length)
  if (part === undefined || !isOfThis(asked, headers['etag'], modified)) {
    return { status: 200, headers: all, body, isEncoded: true }
  }
  const { first, last } = part
  if (first > last) {
    const headers416 = {
      ...all,
      'content-type': 'text/plain; charset=utf-8',
      'content-range': `bytes */${body.length}`,
    }
    return {
      status: 416,
      headers: headers416,
      body: Buffer.from('invalid range: failed to overlap\n'),
    }
  }
  const contentRange = { 'content-range': `bytes ${first}-${last}/${body.length}` }
  return {
    status: 206,
    headers: { ...all, ...contentRange },
    body: body.subarray(first, last + 1),
    isEncoded: true,
  }
}

/** Formats a time for HTTP headers, which have a resolution of seconds. */
export const httpDate = (ms: number): string => new Date(ms).toUTCString()

type RequestHeaders = ApiRequest['headers']

/**
 * Whether the client already has the document. If-None-Match takes precedence over
 * If-Modified-Since, because a tag is more precise than a date.
 */
function isKnown(
  asked: RequestHeaders,
  tag: Headers[string] | undefined,
  modifiedMs: number,
): boolean {
  const tags = firstHeader(asked, 'if-none-match')
  if (tags !== undefined) {
    return elementsOf(tags).some((one) => one === '*' || one.replace(/^W\//, '') === tag)
  }
  const since = Date.parse(firstHeader(asked, 'if-modified-since') ?? '')
  return !Number.isNaN(since) && Math.floor(modifiedMs / 1000) * 1000 <= since
}

/**
 * Whether the If-Range header, if present, matches this document. A part of another version would
 * be useless.
 */
function isOfThis(
  asked: RequestHeaders,
  tag: Headers[string] | undefined,
  modified: string,
): boolean {
  const wanted = firstHeader(asked, 'if-range')
  return wanted === undefined || wanted === tag || wanted === modified
}

/**
 * Returns the requested range of bytes. Returns undefined for several ranges or for other units;
 * the client then gets the whole document. If `first > last`, the range cannot be satisfied.
 */
function partOf(
  range: string,
  length: number,
): { readonly first: number; readonly last: number } | undefined {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  if (from === '') return { first: Math.max(length - Number(to), 0), last: length - 1 }
  return { first: Number(from), last: to === '' ? length - 1 : Math.min(Number(to), length - 1) }
}
