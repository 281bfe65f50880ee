/**
 * Builds the path and query for a remote server. As in kube-apiserver, they are encoded again from
 * the parsed path and query. Therefore, both servers interpret them in the same way, even if they
 * treat escapes or semicolons differently.
 */
import type { ApiRequest } from '../../api/request.ts'

export function remoteTarget({ path, query }: Pick<ApiRequest, 'path' | 'query'>): string {
  const encoded = encodePath(path)
  return query.size === 0 ? encoded : `${encoded}?${encodeQuery(query)}`
}

/** Encodes a path like Go's url.URL.EscapedPath. */
export const encodePath = (path: string): string =>
  plainPath.test(path)
    ? path
    : encodeURIComponent(path.toWellFormed())
        .replaceAll(/%(?:24|26|2B|2C|2F|3A|3B|3D|40)/g, decodeURIComponent)
        .replaceAll(/[!'()*]/g, escape)

const plainPath = /^[\w.~$&+,/:;=@-]*$/

/**
 * Encodes a query like Go's url.Values.Encode: sorted by key, with the values of each key in their
 * original order.
 */
function encodeQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([key, value]): [string, string] => [
    encodeComponent(key),
    encodeComponent(value),
  ])
  const sorted =
    pairs.length < 2
      ? pairs
      : pairs.toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
  return sorted.map(([key, value]) => `${key}=${value}`).join('&')
}

/** Encodes a component like Go's url.QueryEscape. */
const encodeComponent = (text: string): string =>
  plainComponent.test(text)
    ? text
    : encodeURIComponent(text.toWellFormed())
        .replaceAll('%20', '+')
        .replaceAll(/[!'()*]/g, escape)

const plainComponent = /^[\w.~-]*$/

const escape = (letter: string): string => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`
