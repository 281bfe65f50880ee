/**
 * How `kube-apiserver` knows that what its `--etcd-servers` names is no etcd but
 * `etcd-stand-in.ts`.
 */
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export const standInPath = '/keelson/stand-in'
export const standInAnswer = '{"keelson":"etcd-stand-in"}'
/** On the same machine, and it runs already: but that may be a busy one. */
const ASK_MS_MAX = 5_000
const ASKS_MS_MAX = 30_000
const POLL_MS = 100
const ANSWER_CHARACTERS_MAX = 1_000

/**
 * The flags of a server beside a stand-in: `--store=memory` in place of `--etcd-servers`. Those of
 * one on a real etcd stay.
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

/** Asks until there is an answer: what does not answer yet may be either. */
async function isStandIn(url: string): Promise<boolean> {
  const endMs = performance.now() + ASKS_MS_MAX
  for (;;) {
    const answer = await ask(url)
    if (answer !== undefined) return answer === standInAnswer
    if (performance.now() >= endMs) return false
    await sleep(POLL_MS)
  }
}

/** The answer's text; undefined: there was none. What is no HTTP is an answer, too. */
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
