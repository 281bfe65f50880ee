/**
 * Formats Warning headers: `299 - "text"`, one header line for each warning. The second field is
 * the warn-agent (RFC 7234, section 5.5), which is `-` in kube-apiserver.
 */

/**
 * Maximum total length of all warnings, as in kube-apiserver. If it is exceeded, each warning is
 * truncated.
 */
const TEXT_RUNES_MAX = 4096
const CUT_RUNES = 256

export function warningHeaders(texts: readonly string[], agent: '-' | 'keelson' = '-'): string[] {
  const headerOf = headerBy(agent)
  const beyond = firstBeyond(texts)
  if (beyond === -1) return texts.filter(isSendable).map(headerOf)
  // Every warning is truncated. The warnings up to the one at `beyond`, with which the total length
  // exceeds the limit, are always sent. Later warnings are sent while the total length of the
  // truncated warnings is below the limit.
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
 * Returns the index of the warning with which the total length exceeds the limit, or -1 if the
 * limit is not exceeded.
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

/**
 * Whether a warning can be sent. A control character could end the header, so a warning with such a
 * character is dropped.
 */
const isSendable = (text: string): boolean => !/\p{Cc}/u.test(text) && text.isWellFormed()

/**
 * Returns a function that formats a header. Node writes header values as Latin-1, so each byte of
 * UTF-8 is passed as one character.
 */
const headerBy =
  (agent: string) =>
  (text: string): string =>
    Buffer.from(`299 ${agent} "${text.replace(/["\\]/g, '\\$&')}"`, 'utf8').toString('latin1')
