/** The CSV file of bearer tokens: token,user,uid[,"group1,group2"]. There are no comments in it. */
import type { TokenEntry } from '../api/user.ts'

const COLUMNS_MIN = 3

/** Faults are in kube-apiserver's words where it has some. */
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

/** RFC 4180: quoted fields may hold commas, line ends and doubled quotes. Blank lines are passed over. */
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
