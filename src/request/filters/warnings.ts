/**
 * Warning headers: `299 - "text"`, one header line for each. The middle is the warn-agent (RFC
 * 7234, section 5.5); upstream's is `-`.
 */

/** The limit for all texts together; if they exceed it, each is truncated. As upstream. */
const TEXT_RUNES_MAX = 4096
const CUT_RUNES = 256

export function warningHeaders(texts: readonly string[], agent: '-' | 'keelson' = '-'): string[] {
  const headerOf = headerBy(agent)
  const beyond = firstBeyond(texts)
  if (beyond === -1) return texts.filter(isSendable).map(headerOf)
  // Texts up to the one that exceeded the limit are truncated and all sent; of later ones, as many
  // as begin within the limit.
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

/**
 * The index of the first text that exceeds the limit, together with those before; -1 if none does.
 */
function firstBeyond(texts: readonly string[]): number {
  let runes = 0
  return texts.findIndex((text) => isSendable(text) && (runes += runesOf(text)) > TEXT_RUNES_MAX)
}

function runesOf(text: string): number {
  let runes = 0
  for (const _ of text) runes++
  return runes
}

/** A text with control characters, which could end the header, is not sent at all. */
const isSendable = (text: string): boolean => !/\p{Cc}/u.test(text) && text.isWellFormed()

/** Node writes header values as Latin-1: UTF-8 is passed as one character per byte. */
const headerBy =
  (agent: string) =>
  (text: string): string =>
    Buffer.from(`299 ${agent} "${text.replace(/["\\]/g, '\\$&')}"`, 'utf8').toString('latin1')
