/**
 * Runs every kubectl command that needs no running container on kube-apiserver and on Keelson, each
 * with its own etcd and the same objects. Output, errors and exit codes must be equal, except for
 * values that differ between servers (uids, times, versions, allocated addresses). Prints the
 * differences and exits with 1 if there are any.
 *
 *   node test/clients/kubectl-commands.ts [--only TEXT,TEXT] [--show]
 *
 *   --only TEXT,TEXT   runs only the sections whose titles contain one of the texts, and the first
 *                      section, which all others need. Some sections also need the section
 *                      `create`.
 *   --show             prints Keelson's output, without running kube-apiserver.
 */
import { parseArgs } from 'node:util'
import { startEtcd } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { startReference } from '../support/harness/reference.ts'
import { type KubectlCommand, sections } from './kubectl/commands.ts'
import { inAnyOrder, masked, withoutProse } from './kubectl/mask.ts'
import { proxyAnswers } from './kubectl/proxy.ts'
import { KubectlSession } from './kubectl/session.ts'

const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, show: { type: 'boolean', default: false } },
})

const parts = options.only.split(',')
const chosen = sections.filter(
  ({ title }, index) => index === 0 || parts.some((part) => title.includes(part)),
)

async function show(): Promise<void> {
  await using etcd = await startEtcd()
  await using keelson = await startKeelson({ etcdUrl: etcd.clientUrl })
  await using session = await KubectlSession.on(keelson)
  for (const { commands } of chosen) {
    for (const entry of commands) {
      const command = commandOf(entry)
      console.log(`$ kubectl ${command.run}\n${masked(await session.run(command), session)}`)
    }
  }
}

async function compareAll(): Promise<void> {
  await using etcds = new AsyncDisposableStack()
  const [ownEtcd, otherEtcd] = [etcds.use(await startEtcd()), etcds.use(await startEtcd())]
  await using reference = await startReference({ etcdUrl: otherEtcd.clientUrl })
  await using keelson = await startKeelson({ etcdUrl: ownEtcd.clientUrl })
  await using ours = await KubectlSession.on(keelson)
  await using theirs = await KubectlSession.on(reference)
  const counts = { same: 0, explained: 0, differ: 0 }
  const compare = (
    title: string,
    [own, other]: readonly [string, string],
    reason?: string,
  ): void => {
    if (own === other) counts.same++
    else {
      if (reason === undefined) counts.differ++
      else counts.explained++
      console.log(
        `${title}${reason === undefined ? '' : ` (known: ${reason})`}\n${differences(own, other)}\n`,
      )
    }
  }
  for (const { title, commands } of chosen) {
    for (const entry of commands) {
      const command = commandOf(entry)
      const said = (session: KubectlSession): Promise<string> => comparable(session, command)
      compare(
        `kubectl ${command.run}`,
        await Promise.all([said(ours), said(theirs)]),
        command.differs,
      )
    }
    console.error(`${title}: ${JSON.stringify(counts)}`)
  }
  const [own, other] = await Promise.all([proxyAnswers(ours), proxyAnswers(theirs)])
  compare('kubectl proxy', [masked(own, ours), masked(other, theirs)])
  console.log(
    `${counts.same} the same, ${counts.explained} differ as expected, ${counts.differ} differ`,
  )
  if (counts.differ > 0) process.exitCode = 1
}

async function comparable(session: KubectlSession, command: KubectlCommand): Promise<string> {
  const text = masked(await session.run(command), session)
  if (command.run.startsWith('explain ')) return withoutProse(text)
  return command.anyOrder ? inAnyOrder(text) : text
}

const commandOf = (entry: string | KubectlCommand): KubectlCommand =>
  typeof entry === 'string' ? { run: entry } : entry

/** Maximum number of lines of a difference, enough to identify the problem. */
const LINES_MAX = 40

function differences(own: string, other: string): string {
  const [mine, theirs] = [own.split('\n'), other.split('\n')]
  const extra = mine.filter((line) => !theirs.includes(line)).map((line) => `  Keelson:   ${line}`)
  const missing = theirs
    .filter((line) => !mine.includes(line))
    .map((line) => `  reference: ${line}`)
  if (extra.length + missing.length === 0) return '  the same lines in another order'
  return [...extra.slice(0, LINES_MAX), ...missing.slice(0, LINES_MAX)].join('\n')
}

await (options.show ? show() : compareAll())
