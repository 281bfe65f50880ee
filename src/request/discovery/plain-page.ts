/**
 * Pages that are intended for people (/statusz, /flagz). They are served as plain text. Since 1.35,
 * programs can get the same data as JSON.
 */
import { notAcceptable, notPlainText, unclassified } from '../../api/errors.ts'
import type { Fields } from '../../api/object.ts'
import { type ApiRequest, elementsOf, firstHeader } from '../../api/request.ts'
import { negotiatePage, pageTypes } from '../../objects/codec/negotiate.ts'
import { type EncodedDocument, printDocument } from './print.ts'

export type TextPage = {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Buffer
}

export type PageRequest = Pick<ApiRequest, 'headers' | 'query'>

type Page = {
  /** The first word of the title. It is also the name of the object. */
  readonly component: string
  /** The second word of the title. */
  readonly title: string
  /** The text after the title and a warning. */
  readonly text: string
  /** The kind and the fields of the object. */
  readonly kind: string
  readonly fields: Fields
  /** Minor version of the release. */
  readonly release: number
}

/** The first release that also serves the pages as JSON. */
const STRUCTURED_SINCE = 35

const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'

export function plainPage(request: PageRequest, page: Page): TextPage {
  const { component, title, text, kind, fields, release } = page
  if (release < STRUCTURED_SINCE) {
    const accept = firstHeader(request.headers, 'accept') ?? ''
    if (!elementsOf(accept).some(isPlainText)) throw notPlainText()
  } else {
    const type = negotiatePage(request, kind)
    if (type === undefined) throw notAcceptable(pageTypes)
    if (type === 'application/json')
      return answered(
        printDocument(
          {
            kind,
            apiVersion: 'config.k8s.io/v1alpha1',
            metadata: { name: component },
            ...fields,
          },
          { query: request.query, headers: { ...request.headers, accept: type } },
        ),
      )
    if (type !== 'text/plain')
      throw unclassified(`content negotiation failed: unsupported media type '${type}'`)
  }
  const body = Buffer.from(`\n${component} ${title}\n${warning}\n${text}\n`)
  return answered({ type: 'text/plain; charset=utf-8', body })
}

const answered = ({ type, body }: EncodedDocument): TextPage => ({
  status: 200,
  headers: { 'content-type': type },
  body,
})

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
