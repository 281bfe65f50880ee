/** What servers keep in the database for themselves, beside the objects of the API. Written by hand: it is in no published schema. */
export const serverRecordTypes = `
package server/v1

RangeAllocation
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  range! string 2
  data! []byte 3
`
