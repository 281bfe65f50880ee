/** The kinds of tokens, in the order in which cel-go's messages list the expected tokens. */
export const tokenNames = {
  '==': "'=='",
  '!=': "'!='",
  in: "'in'",
  '<': "'<'",
  '<=': "'<='",
  '>=': "'>='",
  '>': "'>'",
  '&&': "'&&'",
  '||': "'||'",
  '[': "'['",
  ']': "']'",
  '{': "'{'",
  '}': "'}'",
  '(': "'('",
  ')': "')'",
  '.': "'.'",
  ',': "','",
  '-': "'-'",
  '!': "'!'",
  '?': "'?'",
  ':': "':'",
  '+': "'+'",
  '*': "'*'",
  '/': "'/'",
  '%': "'%'",
  true: "'true'",
  false: "'false'",
  null: "'null'",
  float: 'NUM_FLOAT',
  int: 'NUM_INT',
  uint: 'NUM_UINT',
  string: 'STRING',
  bytes: 'BYTES',
  identifier: 'IDENTIFIER',
  escaped: 'ESC_IDENTIFIER',
  end: '<EOF>',
} as const

export type TokenKind = keyof typeof tokenNames

export type Token = {
  readonly kind: TokenKind
  readonly text: string
  readonly from: number
  readonly to: number
}

const order: readonly string[] = Object.keys(tokenNames)

/** Describes a set of tokens as `'x'` or `{'x', 'y'}`. */
export function describeKinds(kinds: ReadonlySet<TokenKind>): string {
  const names = [...kinds]
    .sort((one, other) => rank(one) - rank(other))
    .map((kind) => tokenNames[kind])
  return names.length === 1 ? (names[0] ?? '') : `{${names.join(', ')}}`
}

/**
 * Returns where a kind of token is listed in a message about expected tokens. The end of the text
 * is listed first.
 */
const rank = (kind: TokenKind): number => (kind === 'end' ? -1 : order.indexOf(kind))
