/** The target of a request: a path and a query. */
export type Target = { readonly path: string; readonly query: string }

/** Undefined for a target that cannot be percent-decoded. */
export function readTarget(raw: string): Target | undefined {
  const mark = raw.indexOf('?')
  const path = mark === -1 ? raw : raw.slice(0, mark)
  const query = mark === -1 ? '' : raw.slice(mark + 1)
  if (!path.includes('%')) return { path, query }
  try {
    return { path: decodeURIComponent(path), query }
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/** Go's server drops a pair that has a semicolon or a bad escape in it, and keeps the others. */
export function parseQuery(query: string): URLSearchParams {
  if (!/[;%]/.test(query)) return new URLSearchParams(query)
  const pairs = query.split('&').filter((pair) => !pair.includes(';') && !/%(?![0-9a-fA-F]{2})/.test(pair))
  return new URLSearchParams(pairs.join('&'))
}
