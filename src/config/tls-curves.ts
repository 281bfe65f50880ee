/** Reads `--tls-curve-preferences`. Errors have kube-apiserver's messages. */
import type { Values } from './values.ts'

/** The key exchange groups that Go supports, with their names in OpenSSL. */
const groups: ReadonlyMap<number, string> = new Map([
  [23, 'P-256'],
  [24, 'P-384'],
  [25, 'P-521'],
  [29, 'X25519'],
  [4587, 'SecP256r1MLKEM768'],
  [4588, 'X25519MLKEM768'],
  [4589, 'SecP384r1MLKEM1024'],
])

const ID_MAX = 65_535

/** Returns a list of groups in OpenSSL syntax, or null for the default groups. */
export function readCurves(values: Values): string | null {
  const chosen = new Set<string>()
  for (const text of values.list('tls-curve-preferences')) {
    const id = /^[+-]?\d+$/.test(text) ? Number(text) : undefined
    const group = id === undefined ? undefined : groups.get(id)
    if (id === undefined)
      values.refuse(
        'tls-curve-preferences',
        `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
      )
    else if (id <= 0 || id > ID_MAX)
      values.fault(`curve preference ${id} is out of range (must be 1-${ID_MAX})`)
    else if (group === undefined)
      values.fault(`curve preference ${id} is not supported by the current Go version`)
    else if (chosen.has(group)) values.fault(`duplicate curve preference ${id}`)
    else chosen.add(group)
  }
  return chosen.size === 0 ? null : [...chosen].join(':')
}
