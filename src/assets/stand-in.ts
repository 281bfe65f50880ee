/** How `kube-apiserver` knows that what its `--etcd-servers` names is no etcd but `etcd-stand-in.ts`. */
import { get } from 'node:http'

export const standInPath = '/keelson/stand-in'
export const standInAnswer = '{"keelson":"etcd-stand-in"}'
/** On the same machine, and it runs already. */
const ASK_MS_MAX = 2_000
const ANSWER_CHARACTERS_MAX = 1_000

/** The flags of a server beside a stand-in: `--store=memory` in place of `--etcd-servers`. Those of one on a real etcd stay. */
export async function replaceStandIn(args: readonly string[]): Promise<readonly string[]> {
  const at = args.findIndex((argument) => /^--etcd-servers(=|$)/.test(argument))
  if (at === -1) return args
  const [, inline] = /=(.*)$/.exec(args[at] ?? '') ?? []
  const url = inline ?? args[at + 1] ?? ''
  if (URL.parse(url)?.protocol !== 'http:' || !(await isStandIn(url))) return args
  return [...args.slice(0, at), '--store=memory', ...args.slice(at + (inline === undefined ? 2 : 1))]
}

function isStandIn(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const no = (): void => resolve(false)
    get(new URL(standInPath, url), { agent: false, timeout: ASK_MS_MAX }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (more: string) => (text = (text + more).slice(0, ANSWER_CHARACTERS_MAX)))
      response.on('end', () => resolve(text === standInAnswer)).on('error', no)
    })
      .on('timeout', no)
      .on('error', no)
  })
}
