/** The CSV file of static bearer tokens: token,user,uid[,"group1,group2"]. It has no comments. */
import type { TokenEntry } from '../api/user.ts'

const COLUMNS_MIN = 3

/** Errors have kube-apiserver's texts where it has some. */
export function parseTokenFile(path: string, text: string): { tokens: TokenEntry[]; faults: string[] } {
  const tokens: TokenEntry[] = []
  const faults: string[] = []
  for (const columns of parseCsv(text)) {
    const [token = '', name = '', uid = '', groups = ''] = columns
    if (columns.length < COLUMNS_MIN) {
      const wanted = `must have at least ${COLUMNS_MIN} columns (token, user name, user uid)`
      faults.push(`token file '${path}' ${wanted}, found ${columns.length}`)
    } else if (token === '') {
      faults.push(`token file '${path}' has a line without a token: remove it or fill in its first column`)
    } else {
      const groupNames = groups.split(',').map((group) => group.trim())
      tokens.push({ token, user: { name, uid, groups: groupNames.filter((group) => group !== '') } })
    }
  }
  return { tokens, faults }
}

/** RFC 4180: quoted fields may contain commas, line breaks and doubled quotes. Blank lines are skipped. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const field = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|\r|$)/gy
  for (let match = field.exec(text); match !== null; match = field.exec(text)) {
    const [, value = '', delimiter = ''] = match
    row.push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value.trim())
    if (delimiter !== ',') {
      if (row.length > 1 || row[0] !== '') rows.push(row)
      row = []
    }
    if (delimiter === '' || field.lastIndex === text.length) break
  }
  return rows
}
