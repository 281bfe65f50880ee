/** Values as Go prints them, which some messages show: times with %v, all else with %#v. */
import { quote } from './quote.ts'

/** `[]string{"a", "b"}`; none at all is `[]string(nil)`. */
export function goStrings(list: readonly string[], type = 'string'): string {
  return list.length === 0 ? `[]${type}(nil)` : `[]${type}{${list.map(quote).join(', ')}}`
}

/** `2001-02-03 04:05:06 +0000 UTC` of a timestamp in UTC; a fraction without its last zeros. */
export function goTime(timestamp: string): string {
  const [, date = '', time = '', fraction = ''] = /^(.*)T([^.Z]*)(\.\d*?)?0*Z$/.exec(timestamp) ?? []
  return `${date} ${time}${fraction === '.' ? '' : fraction} +0000 UTC`
}
