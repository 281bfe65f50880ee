/** Checks the options of `startCluster`, because programs in JavaScript have no types. */
import { didYouMean } from '../../lib/text/suggest.ts'

/** Throws a TypeError with advice if an option is not one of the known names. */
export function checkOptions(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const advice = didYouMean(unknown, known) ?? `its options are ${known.join(', ')}`
  throw new TypeError(`startCluster has no option ${unknown}; ${advice}`)
}
