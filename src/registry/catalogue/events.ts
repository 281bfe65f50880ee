/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const eventsTypes = `
package events/v1

Event
  ...meta.TypeMeta
  metadata+ meta.ObjectMeta 1
  eventTime! meta.MicroTime 2
  series *EventSeries 3
  reportingController string 4
  reportingInstance string 5
  action string 6
  reason string 7
  regarding core.ObjectReference 8
  related *core.ObjectReference 9
  note string 10
  type string 11
  deprecatedSource core.EventSource 12
  deprecatedFirstTimestamp meta.Time 13
  deprecatedLastTimestamp meta.Time 14
  deprecatedCount int32 15

EventSeries
  count! int32 1
  lastObservedTime! meta.MicroTime 2
`
