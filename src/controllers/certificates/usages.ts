/** Converts the usages of a CertificateSigningRequest to the key usages of a certificate. */
import type { Issue } from '../../lib/x509/signing-authority.ts'

/** Key usages and their bits (RFC 5280, section 4.2.1.3). */
const keyUsages: ReadonlyMap<string, number> = new Map([
  ['signing', 0],
  ['digital signature', 0],
  ['content commitment', 1],
  ['key encipherment', 2],
  ['data encipherment', 3],
  ['key agreement', 4],
  ['cert sign', 5],
  ['crl sign', 6],
  ['encipher only', 7],
  ['decipher only', 8],
])

const purpose = (number: number): readonly number[] => [1, 3, 6, 1, 5, 5, 7, 3, number]

/** Extended key usages, in the order in which they are written to a certificate. */
const extendedUsages: readonly {
  readonly names: readonly string[]
  readonly id: readonly number[]
}[] = [
  { names: ['any'], id: [2, 5, 29, 37, 0] },
  { names: ['server auth'], id: purpose(1) },
  { names: ['client auth'], id: purpose(2) },
  { names: ['code signing'], id: purpose(3) },
  { names: ['email protection', 's/mime'], id: purpose(4) },
  { names: ['ipsec end system'], id: purpose(5) },
  { names: ['ipsec tunnel'], id: purpose(6) },
  { names: ['ipsec user'], id: purpose(7) },
  { names: ['timestamping'], id: purpose(8) },
  { names: ['ocsp signing'], id: purpose(9) },
  { names: ['microsoft sgc'], id: [1, 3, 6, 1, 4, 1, 311, 10, 3, 3] },
  { names: ['netscape sgc'], id: [2, 16, 840, 1, 113730, 4, 1] },
]

const extendedNames: ReadonlySet<string> = new Set(extendedUsages.flatMap(({ names }) => names))

/** Converts the usages. Throws if a usage is unknown. */
export function usagesOf(usages: readonly string[]): Pick<Issue, 'usageBits' | 'extendedUsages'> {
  const unknown = usages.filter((usage) => !keyUsages.has(usage) && !extendedNames.has(usage))
  if (unknown.length > 0) throw new Error(`unrecognized usage values: ${JSON.stringify(unknown)}`)
  let usageBits = 0
  for (const usage of usages) {
    const bit = keyUsages.get(usage)
    if (bit !== undefined) usageBits |= 1 << bit
  }
  // Bounded: `names` has at most two entries, so `usages` is searched at most twice
  const given = extendedUsages.filter(({ names }) => names.some((name) => usages.includes(name)))
  return { usageBits, extendedUsages: given.map(({ id }) => id) }
}
