/** /statusz, behind its gate: since when the process runs, and as what. Upstream says that nobody should parse it. */
import { notPlainText } from '../api/errors.ts'
import { type ApiRequest, elementsOf, firstHeader } from '../api/request.ts'
import { kubernetesVersion, versionDocument } from './version.ts'

export const statusPath = '/statusz'

const head = `
kube-apiserver statusz
Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.
`

/** How long the process has been running, and what time it is. */
type Times = { readonly upSeconds: number; readonly nowMs: number }

type TextPage = { readonly status: number; readonly headers: Record<string, string>; readonly body: Buffer }

export function statusPage({ headers }: Pick<ApiRequest, 'headers'>, times: Times): TextPage {
  if (!elementsOf(firstHeader(headers, 'accept') ?? '').some(isPlainText)) throw notPlainText()
  const body = Buffer.from(`${head}\n${linesOf(times).join('\n')}\n`)
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
}

const twoDigits = (value: number): string => `${value}`.padStart(2, '0')

function linesOf({ upSeconds, nowMs }: Times): string[] {
  const up = Math.floor(upSeconds)
  const { major, minor, gitVersion } = kubernetesVersion
  return [
    `Started: ${new Date(nowMs - up * 1_000).toUTCString()}`,
    `Up: ${Math.floor(up / 3_600)} hr ${twoDigits(Math.floor(up / 60) % 60)} min ${twoDigits(up % 60)} sec`,
    `Go version: ${versionDocument().goVersion}`,
    `Binary version: ${gitVersion.slice(1)}`,
    `Emulation version: ${major}.${minor}`,
  ]
}

/** An element of Accept. Besides a weight, the charset UTF-8 is the only parameter that is accepted. */
function isPlainText(clause: string): boolean {
  const [range = '', ...others] = clause.split(';').map((part) => part.trim())
  const [type, subtype] = (range === '*' ? '*/*' : range).split('/')
  const isText = (type === 'text' || type === '*') && (subtype === 'plain' || subtype === '*')
  const parameters = others.filter((parameter) => !parameter.startsWith('q='))
  return isText && parameters.every((parameter) => /^charset=utf-8$/i.test(parameter))
}
