/** Warnings as headers: `299 - "text"`, one header line each. The middle is the agent (RFC 7234, section 5.5); upstream's is `-`. */

/** All texts together; beyond it each is cut. As upstream. */
const TEXT_RUNES_MAX = 4096
const CUT_RUNES = 256

export function warningHeaders(texts: readonly string[], agent: '-' | 'keelson' = '-'): string[] {
  const headerOf = headerBy(agent)
  const beyond = firstBeyond(texts)
  if (beyond === -1) return texts.filter(isSendable).map(headerOf)
  // All up to the one that was too much are cut and sent; of the others so many that the last may still be beyond.
  const headers: string[] = []
  let runes = 0
  for (const [at, text] of texts.entries()) {
    if (at > beyond && runes >= TEXT_RUNES_MAX) break
    const cut = Array.from(text.slice(0, 2 * CUT_RUNES))
      .slice(0, CUT_RUNES)
      .join('')
    if (!isSendable(cut)) continue
    runes += runesOf(cut)
    headers.push(headerOf(cut))
  }
  return headers
}

/** Where the text stands that has no room with all before it; -1: all have room. */
function firstBeyond(texts: readonly string[]): number {
  let runes = 0
  return texts.findIndex((text) => isSendable(text) && (runes += runesOf(text)) > TEXT_RUNES_MAX)
}

function runesOf(text: string): number {
  let runes = 0
  for (const _ of text) runes++
  return runes
}

/** What could end the header or begin another is not sent at all. */
const isSendable = (text: string): boolean => !/\p{Cc}/u.test(text) && text.isWellFormed()

/** Header values are bytes: what is beyond ASCII goes as UTF-8. */
const headerBy =
  (agent: string) =>
  (text: string): string =>
    Buffer.from(`299 ${agent} "${text.replace(/["\\]/g, '\\$&')}"`, 'utf8').toString('latin1')
