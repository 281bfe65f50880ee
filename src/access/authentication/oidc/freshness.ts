/**
 * Computes how long a response may be cached (RFC 9111, section 4.2.1). This depends only on the
 * headers of the response.
 */
import type { Answer } from './issuer-client.ts'

/**
 * Returns the freshness lifetime in milliseconds; 0 means that the response must not be reused
 * without a new request. Returns 0 if the issuer sends no caching headers, as in kube-apiserver.
 */
export function freshMs(
  { 'cache-control': control, expires, date }: Answer['headers'],
  wallMs: number,
): number {
  const directives = typeof control === 'string' ? control.toLowerCase().split(/\s*,\s*/) : []
  if (directives.includes('no-store') || directives.includes('no-cache')) return 0
  const seconds = secondsOf(directives, 's-maxage') ?? secondsOf(directives, 'max-age')
  if (seconds !== undefined) return seconds * 1000
  if (typeof expires !== 'string') return 0
  const since = typeof date === 'string' ? Date.parse(date) : wallMs
  const ms = Date.parse(expires) - since
  return ms > 0 ? ms : 0
}

function secondsOf(directives: readonly string[], name: string): number | undefined {
  const text = directives
    .find((directive) => directive.startsWith(`${name}=`))
    ?.slice(name.length + 1)
  return text !== undefined && /^"?[0-9]{1,10}"?$/.test(text)
    ? Number(text.replaceAll('"', ''))
    : undefined
}
