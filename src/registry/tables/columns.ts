/** Words that tables are described in. */
import type { Column } from '../../api/table.ts'

type Options = { readonly format?: string; readonly isWide?: boolean }

export const column = (
  name: string,
  description: string,
  { format = '', isWide = false, type = 'string' }: Options & { readonly type?: Column['type'] } = {},
): Column => ({ name, type, format, description, priority: isWide ? 1 : 0 })

export const nameColumn: Column = column('Name', 'The name of the object, unique among its kind in a namespace.', {
  format: 'name',
})

export const ageColumn: Column = column('Age', 'How long ago the object was created.')
