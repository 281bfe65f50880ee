/**
 * The order of keys in printed YAML: as people would sort them, digits by the number they form, letters behind all that is no
 * letter.
 */
const letter = /^\p{L}$/u
const digit = /^\p{Nd}$/u

export function compareNatural(a: string, b: string): number {
  const one = Array.from(a)
  const other = Array.from(b)
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const left = one[at] ?? ''
    const right = other[at] ?? ''
    if (left === right) continue
    const isLeftLetter = letter.test(left)
    const isRightLetter = letter.test(right)
    if (isLeftLetter && isRightLetter) return compareCodes(left, right)
    if (isLeftLetter || isRightLetter) return isLeftLetter ? 1 : -1
    return compareNumbers(one, other, at)
  }
  return one.length - other.length
}

/** From where both differ: the numbers that begin there, then their lengths, then the characters themselves. */
function compareNumbers(one: readonly string[], other: readonly string[], at: number): number {
  // A zero counts behind another digit: `10` comes after `1`, `01` is `1`.
  const isZero = one[at] === '0' || other[at] === '0'
  const start = isZero && followsNonZero(one, at) ? 1 : 0
  const left = numberAt(one, at, start)
  const right = numberAt(other, at, start)
  if (left.value !== right.value) return left.value < right.value ? -1 : 1
  if (left.end !== right.end) return left.end - right.end
  return compareCodes(one[at] ?? '', other[at] ?? '')
}

function followsNonZero(text: readonly string[], at: number): boolean {
  for (let before = at - 1; before >= 0 && digit.test(text[before] ?? ''); before--)
    if (text[before] !== '0') return true
  return false
}

function numberAt(
  text: readonly string[],
  at: number,
  start: number,
): { readonly value: bigint; readonly end: number } {
  let value = BigInt(start)
  let end = at
  for (; end < text.length && digit.test(text[end] ?? ''); end++) {
    value = BigInt.asIntN(64, value * 10n + BigInt((text[end]?.codePointAt(0) ?? 0) - 0x30))
  }
  return { value, end }
}

const compareCodes = (a: string, b: string): number => (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0)
