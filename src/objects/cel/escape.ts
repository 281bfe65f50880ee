/** Escapes field names that are not CEL identifiers, so that expressions can use them. */

const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

const spelled: { readonly [mark: string]: string } = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

export const isReserved = (name: string): boolean => reserved.has(name)

/** Returns the escaped name, or undefined if no expression can access this field. */
export function escapeName(name: string): string | undefined {
  if (isReserved(name)) return `__${name}__`
  const escaped = name.replace(/__|[./-]/g, (mark) => spelled[mark] ?? mark)
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(escaped) ? escaped : undefined
}
