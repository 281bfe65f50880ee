/**
 * Lets `kube-apiserver` detect that its `--etcd-servers` flag names `etcd-stand-in.ts` instead of a
 * real etcd.
 */
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export const standInPath = '/keelson/stand-in'
export const standInAnswer = '{"keelson":"etcd-stand-in"}'
/** Timeout of one request. The server runs on the same machine, which might be busy. */
const ASK_MS_MAX = 5_000
const ASKS_MS_MAX = 30_000
const POLL_MS = 100
const ANSWER_CHARACTERS_MAX = 1_000

/**
 * Replaces `--etcd-servers` by `--store=memory` if the flag names the substitute for etcd. If the
 * flag names a real etcd, returns the flags unchanged.
 */
export async function replaceStandIn(args: readonly string[]): Promise<readonly string[]> {
  const at = args.findIndex((argument) => /^--etcd-servers(=|$)/.test(argument))
  if (at === -1) return args
  const [, inline] = /=(.*)$/.exec(args[at] ?? '') ?? []
  const url = inline ?? args[at + 1] ?? ''
  if (URL.parse(url)?.protocol !== 'http:' || !(await isStandIn(url))) return args
  return [
    ...args.slice(0, at),
    '--store=memory',
    ...args.slice(at + (inline === undefined ? 2 : 1)),
  ]
}

/**
 * Repeats the request until there is a response. Before that, the server might be a real etcd or
 * the substitute, and may still be starting.
 */
async function isStandIn(url: string): Promise<boolean> {
  const endMs = performance.now() + ASKS_MS_MAX
  for (;;) {
    const answer = await ask(url)
    if (answer !== undefined) return answer === standInAnswer
    if (performance.now() >= endMs) return false
    await sleep(POLL_MS)
  }
}

/**
 * Returns the text of the response, or undefined if there was no response. If the response is not
 * HTTP, returns an empty string.
 */
function ask(url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const onError = (error: NodeJS.ErrnoException): void =>
      resolve(error.code?.startsWith('HPE_') ? '' : undefined)
    const asked = get(
      new URL(standInPath, url),
      { agent: false, timeout: ASK_MS_MAX },
      (response) => {
        let text = ''
        response
          .setEncoding('utf8')
          .on('data', (more: string) => (text = (text + more).slice(0, ANSWER_CHARACTERS_MAX)))
        response.on('end', () => resolve(text)).on('error', onError)
      },
    )
    asked.on('timeout', () => asked.destroy()).on('error', onError)
  })
}
