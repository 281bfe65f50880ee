/**
 * Parses the CSV file of static bearer tokens: token,user,uid[,"group1,group2"]. Comments are not
 * supported.
 */
import type { TokenEntry } from '../api/user.ts'
import { parseCsv } from './csv.ts'

const COLUMNS_MIN = 3

/**
 * Parses the file up to the first error. Errors and warnings are those of kube-apiserver. If a
 * token occurs twice, the last line is used.
 */
export function parseTokenFile(
  path: string,
  text: string,
  warn: (text: string) => void,
): { readonly tokens: readonly TokenEntry[]; readonly fault?: string } {
  const tokens = new Map<string, TokenEntry>()
  const { rows, fault } = parseCsv(text)
  for (const [at, columns] of rows.entries()) {
    const [token = '', name = '', uid = '', groups] = columns
    const which = `in token file '${path}', record number '${at + 1}'`
    if (columns.length < COLUMNS_MIN) {
      const wanted = `must have at least ${COLUMNS_MIN} columns (token, user name, user uid)`
      return { tokens: [], fault: `token file '${path}' ${wanted}, found ${columns.length}` }
    }
    if (token === '') {
      warn(`empty token has been found ${which}`)
      continue
    }
    if (tokens.has(token)) warn(`duplicate token has been found ${which}`)
    tokens.set(token, { token, user: { name, uid, groups: groups?.split(',') ?? [] } })
  }
  return fault === undefined ? { tokens: [...tokens.values()] } : { tokens: [], fault }
}
