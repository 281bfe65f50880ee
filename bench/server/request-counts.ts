/** Counts the requests that a server has served, from its own metrics. */
import type { Client } from '../../test/recorded/compat/client.ts'

/** Number of requests by verb and resource, such as `PATCH pods/status`. */
export type RequestCounts = ReadonlyMap<string, number>

export async function requestCounts(client: Client): Promise<RequestCounts> {
  const { raw } = await client.request({ method: 'GET', path: '/metrics' })
  const counts = new Map<string, number>()
  for (const [, labels = '', count] of raw
    .toString('utf8')
    .matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const label = (name: string): string =>
      new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
    const what = [label('resource'), label('subresource')].filter((part) => part !== '').join('/')
    const key = `${label('verb')} ${what}`
    counts.set(key, (counts.get(key) ?? 0) + Number(count))
  }
  return counts
}

/** Describes the requests that were served between two counts, the most frequent first. */
export function describeMore(before: RequestCounts, after: RequestCounts, shown = 6): string {
  const more = [...after].map(([key, count]) => ({ key, count: count - (before.get(key) ?? 0) }))
  return more
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .slice(0, shown)
    .map(({ key, count }) => `${count} ${key}`)
    .join(', ')
}
