/**
 * Pages that are intended for people (/statusz, /flagz). They are served as plain text, to clients
 * that accept it.
 */
import { notPlainText } from '../../api/errors.ts'
import { type ApiRequest, elementsOf, firstHeader } from '../../api/request.ts'

export type TextPage = {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Buffer
}

const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'

/** Returns the page as plain text. `title` is the title of kube-apiserver's page. */
export function plainPage(
  { headers }: Pick<ApiRequest, 'headers'>,
  title: string,
  lines: readonly string[],
): TextPage {
  if (!elementsOf(firstHeader(headers, 'accept') ?? '').some(isPlainText)) throw notPlainText()
  const body = Buffer.from(`\n${title}\n${warning}\n\n${lines.join('\n')}\n`)
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
}

/**
 * Whether an element of the Accept header allows plain text. The only allowed parameters are a
 * weight and the charset UTF-8.
 */
function isPlainText(clause: string): boolean {
  const [range = '', ...others] = clause.split(';').map((part) => part.trim())
  const [type, subtype] = (range === '*' ? '*/*' : range).split('/')
  const isText = (type === 'text' || type === '*') && (subtype === 'plain' || subtype === '*')
  const parameters = others.filter((parameter) => !parameter.startsWith('q='))
  return isText && parameters.every((parameter) => /^charset=utf-8$/i.test(parameter))
}
