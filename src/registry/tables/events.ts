/**
 * Table of Events. It is the same for both API groups.
 */
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  type KubeObject,
  numberOf,
  textOf,
} from '../../api/object.ts'
import { ageOf, type Cell, type TableKind } from '../../api/table.ts'
import { nameOf, table } from './columns.ts'

export const eventTable: TableKind = table(
  'Last Seen | Type | Reason | Object | Subobject* | Source* | Message | First Seen* | Count* | Name*',
  (event) => {
    const about = fieldsOf(event['involvedObject'] ?? event['regarding'])
    return [
      lastSeen(event),
      textOf(event['type']),
      textOf(event['reason']),
      printObject(about),
      textOf(about['fieldPath']),
      sourceOf(event),
      textOf(event['message'] ?? event['note']).trim(),
      firstSeen(event),
      countOf(event),
      nameOf(event),
    ]
  },
)

function printObject({ kind, name }: Fields): string {
  const lower = textOf(kind).toLowerCase()
  return textOf(name) === '' ? lower : `${lower}/${textOf(name)}`
}

/** Returns the value of a field that has a different name in each API group. */
const either = (event: KubeObject, name: string, other: string): Json | undefined =>
  event[name] ?? event[other]

function sourceOf(event: KubeObject): string {
  const { component, host } = fieldsOf(either(event, 'source', 'deprecatedSource'))
  const by = textOf(component) || textOf(either(event, 'reportingComponent', 'reportingController'))
  const where = textOf(host) || textOf(event['reportingInstance'])
  return where === '' ? by : `${by}, ${where}`
}

function firstSeen(event: KubeObject): Cell {
  return ageOf(either(event, 'firstTimestamp', 'deprecatedFirstTimestamp') ?? event['eventTime'])
}

function lastSeen(event: KubeObject): Cell {
  const { lastObservedTime } = fieldsOf(event['series'])
  const last = lastObservedTime ?? either(event, 'lastTimestamp', 'deprecatedLastTimestamp')
  return last === undefined || last === null ? firstSeen(event) : ageOf(last)
}

function countOf(event: KubeObject): number {
  const { series } = event
  if (isFields(series)) return numberOf(series['count'])
  return numberOf(either(event, 'count', 'deprecatedCount')) || 1
}
