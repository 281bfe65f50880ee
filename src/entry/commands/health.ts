import { once } from 'node:events'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { messageOf } from '../../lib/errors.ts'
import { missingValues, readCommandFlags } from '../../lib/process/command-flags.ts'
import { type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'
import { healthFlags } from './health-flags.ts'

/**
 * Timeout of the request. The timeouts of container engines are longer, so they report the error of
 * this command instead of their own.
 */
const RESPONSE_MS_MAX = 10_000

export async function health(args: readonly string[], parts: CommandContext): Promise<void> {
  const flags = readCommandFlags(args, healthFlags)
  const server = flags.values.get('server') ?? healthFlags.server.shownDefault
  const path = flags.values.get('path') ?? healthFlags.path.shownDefault
  const url = URL.parse(path, server)
  const faults = [
    ...missingValues(flags),
    ...flags.rest.map((word) => `unknown argument ${word}: keelson health --help lists the flags`),
    ...(url?.protocol === 'https:'
      ? []
      : ['--server must be a URL such as https://127.0.0.1:6443']),
  ]
  if (url === null || faults.length > 0) return parts.fail(USAGE_FAULT, faults)
  try {
    const { status, body } = await ask(url)
    if (status === 200) parts.print(`${body}\n`)
    else parts.fail(FAILURE, [`${url.href} returned ${status}: ${body}`])
  } catch (error) {
    parts.fail(FAILURE, [`${url.href}: ${messageOf(error)}`])
  }
}

async function ask(url: URL): Promise<{ readonly status: number; readonly body: string }> {
  const signal = AbortSignal.timeout(RESPONSE_MS_MAX)
  const sent = request(url, { agent: false, rejectUnauthorized: false, signal }).end()
  const [response] = await once(sent, 'response', { signal })
  return { status: response.statusCode, body: (await text(response)).trim() }
}
