/** The tables of built-in kinds, by the name that errors give the kind. */
import type { TableKind } from '../../api/table.ts'
import { column, nameColumn } from './columns.ts'

export const tables: ReadonlyMap<string, TableKind> = new Map()

/** Of kinds that have no columns of their own. */
export const defaultTable: TableKind = {
  columns: [nameColumn, column('Created At', 'When the object was created.', { type: 'date' })],
  cells: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? '<unknown>'],
  isDefault: true,
}
