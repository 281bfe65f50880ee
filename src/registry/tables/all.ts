/** Tables of built-in kinds, keyed by kind in the form used in error messages. */
import type { TableKind } from '../../api/table.ts'
import { clusterTables, laterClusterTables } from './cluster.ts'
import { columnsOf, type LaterTable, nameOf } from './columns.ts'
import { eventTable } from './events.ts'
import { networkTables } from './network.ts'
import { laterPodTable, podTable } from './pods.ts'
import { storageTables } from './storage.ts'
import { workloadTables } from './workloads.ts'

const tables: ReadonlyMap<string, TableKind> = new Map([
  ['Pod', podTable],
  ['Event', eventTable],
  ['Event.events.k8s.io', eventTable],
  ...workloadTables,
  ...networkTables,
  ...storageTables,
  ...clusterTables,
])

const laterTables: ReadonlyMap<string, LaterTable> = new Map([
  ['Pod', laterPodTable],
  ...laterClusterTables,
])

/** Returns the table of a kind in a release. */
export function tableOf(kind: string, release: number): TableKind {
  const later = laterTables.get(kind)
  if (later !== undefined && release >= later.since) return later.table
  return tables.get(kind) ?? defaultTable
}

/** Table of kinds without their own columns. */
const defaultTable: TableKind = {
  columns: columnsOf('Name | Created At:date'),
  cells: (object) => [nameOf(object), object.metadata.creationTimestamp ?? '<unknown>'],
  isDefault: true,
}
