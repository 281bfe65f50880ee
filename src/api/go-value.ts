/** Values as Go prints them with %v, which some messages show. */

/** `2001-02-03 04:05:06 +0000 UTC` of a timestamp in UTC; a fraction without its last zeros. */
export function goTime(timestamp: string): string {
  const [, date = '', time = '', fraction = ''] = /^(.*)T([^.Z]*)(\.\d*?)?0*Z$/.exec(timestamp) ?? []
  return `${date} ${time}${fraction === '.' ? '' : fraction} +0000 UTC`
}
