/** Tables of built-in kinds, keyed by kind in the form used in error messages. */
import type { TableKind } from '../../api/table.ts'
import { clusterTables } from './cluster.ts'
import { columnsOf, nameOf } from './columns.ts'
import { eventTable } from './events.ts'
import { networkTables } from './network.ts'
import { podTable } from './pods.ts'
import { storageTables } from './storage.ts'
import { workloadTables } from './workloads.ts'

export const tables: ReadonlyMap<string, TableKind> = new Map([
  ['Pod', podTable],
  ['Event', eventTable],
  ['Event.events.k8s.io', eventTable],
  ...workloadTables,
  ...networkTables,
  ...storageTables,
  ...clusterTables,
])

/** Table of kinds without their own columns. */
export const defaultTable: TableKind = {
  columns: columnsOf('Name | Created At:date'),
  cells: (object) => [nameOf(object), object.metadata.creationTimestamp ?? '<unknown>'],
  isDefault: true,
}
