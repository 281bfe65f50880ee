/** Warnings as headers: `299 - "text"`, one header line each. The middle is the agent (RFC 7234, section 5.5); upstream's is `-`. */

/** All texts together; beyond it they are cut. As upstream. */
const TEXT_RUNES_MAX = 4096
const CUT_RUNES = 256

export function warningHeaders(texts: readonly string[], agent: '-' | 'keelson' = '-'): string[] {
  const headerOf = headerBy(agent)
  const sendable = texts.filter(isSendable)
  let runes = 0
  for (const text of sendable) runes += runesOf(text)
  if (runes <= TEXT_RUNES_MAX) return sendable.map(headerOf)
  const headers: string[] = []
  let left = TEXT_RUNES_MAX
  for (const text of sendable) {
    const cut = Array.from(text).slice(0, CUT_RUNES).join('')
    left -= runesOf(cut)
    if (left < 0) break
    headers.push(headerOf(cut))
  }
  return headers
}

const runesOf = (text: string): number => (text.length <= CUT_RUNES ? text.length : Array.from(text).length)

/** What could end the header or begin another is not sent at all. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const isSendable = (text: string): boolean => !/[\u0000-\u001f\u007f]/.test(text) && text.isWellFormed()

/** Header values are bytes: what is beyond ASCII goes as UTF-8. */
const headerBy =
  (agent: string) =>
  (text: string): string =>
    Buffer.from(`299 ${agent} "${text.replace(/["\\]/g, '\\$&')}"`, 'utf8').toString('latin1')
