/**
 * Records whether kube-apiserver accepts each test case, and its messages:
 * `node test/recorded/config-files/record.ts --reference [--only authentication]`. Starts
 * kube-apiserver for each case, without an etcd. A case is accepted if the log contains the line
 * `Using reconciler`, which follows the validation of all configuration. Later errors are not
 * recorded.
 */
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts, toolPath } from '../../support/harness/etcd.ts'
import { caseSets } from './all-cases.ts'
import type { ConfigCase } from './case.ts'
import { CaseFiles } from './files.ts'
import { baseFlags, type RawFlags, type Verdict } from './judge.ts'

/**
 * Maximum time for kube-apiserver to validate its configuration. On an idle machine, this takes
 * half a second.
 */
const START_MS_MAX = 60_000

const only = process.argv[process.argv.indexOf('--only') + 1]
if (!process.argv.includes('--reference')) {
  console.error('add --reference to confirm: this starts kube-apiserver once for each case')
  process.exit(1)
}

const escapes: { readonly [letter: string]: string } = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
}

/** Reverses the quoting of Go strings. */
const unquoted = (text: string): string =>
  text.replaceAll(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/g,
    (_, x, u, wide, letter) => {
      const code: unknown = x ?? u ?? wide
      if (typeof code === 'string') return String.fromCodePoint(Number.parseInt(code, 16))
      return escapes[String(letter)] ?? String(letter)
    },
  )

const work = mkdtempSync(join(tmpdir(), 'keelson-record-'))
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
writeFileSync(join(work, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
writeFileSync(join(work, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
const [securePort = 0, etcdPort = 0] = await freePorts(2)
using files = new CaseFiles()

for (const [name, cases] of Object.entries(caseSets)) {
  if (process.argv.includes('--only') && only !== name) continue
  const recorded: { [id: string]: Verdict } = {}
  for (const one of cases) {
    recorded[one.id] = await verdictOf(one)
    process.stdout.write(recorded[one.id]?.accepted === true ? '+' : '-')
  }
  const lines = Object.entries(recorded).map(
    ([id, verdict]) => ` ${JSON.stringify(id)}: ${JSON.stringify(verdict)}`,
  )
  writeFileSync(
    join(import.meta.dirname, 'recorded', `${name}.json`),
    `{\n${lines.join(',\n')}\n}\n`,
  )
  console.log(`\n${name}: ${cases.length} cases`)
}
rmSync(work, { recursive: true })

async function verdictOf(one: ConfigCase): Promise<Verdict> {
  const { flags, hide } = files.place(one)
  const said = await run(flags)
  const { errors, warnings } = { errors: errorsIn(said.text), warnings: warningsIn(said.text) }
  if (!said.accepted && errors.length === 0)
    throw new Error(`${one.id}: the server exited without an error message:\n${said.text}`)
  // Deprecation messages are recorded only for configurations that kube-apiserver accepts.
  if (said.accepted)
    return {
      accepted: true,
      errors: [],
      warnings: [...deprecatedIn(said.text), ...warnings].map(hide),
    }
  return { accepted: false, errors: errors.map(hide), warnings: warnings.map(hide) }
}

function run(flags: RawFlags): Promise<{ readonly accepted: boolean; readonly text: string }> {
  const all: RawFlags = {
    'etcd-servers': `http://127.0.0.1:${etcdPort}`,
    'secure-port': `${securePort}`,
    'bind-address': '127.0.0.1',
    'advertise-address': '192.0.2.10',
    'cert-dir': join(work, 'certs'),
    'service-account-key-file': join(work, 'sa.pub'),
    'service-account-signing-key-file': join(work, 'sa.key'),
    'service-cluster-ip-range': '10.0.0.0/16',
    ...baseFlags,
    ...flags,
  }
  const args = Object.entries(all).flatMap(([name, value]) => {
    if (value === null) return []
    return (typeof value === 'string' ? [value] : value).map((text) => `--${name}=${text}`)
  })
  const child = spawn(toolPath('kube-apiserver'), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  let accepted = false
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX)
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    text += part
    if (!text.includes('Using reconciler') || accepted) return
    accepted = true
    child.kill('SIGKILL')
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => {
      clearTimeout(timer)
      resolve({ accepted, text })
    })
  })
}

/**
 * Returns the errors of a failed start. In the log, klog quotes an error of one line. It writes an
 * error of several lines without quotes, indented by a tab. Errors of the flag parser are not in
 * the log, but follow `Error:`.
 */
function errorsIn(text: string): string[] {
  const block = /"command failed" err=<\n([\s\S]*?)\n >/.exec(text)?.[1]
  if (block !== undefined) return [block.replaceAll(/^\t/gm, '')]
  const quoted = /"command failed" err="((?:[^"\\]|\\.)*)"/.exec(text)?.[1]
  if (quoted !== undefined) return [unquoted(quoted)]
  const panic = /^panic: .*/m.exec(text)?.[0]
  if (panic !== undefined) return [panic.replace(/ \[recovered\].*/, '')]
  const flag = /^Error: ([\s\S]*?)(?:\nUsage:|\n?$)/m.exec(text)?.[1]
  return flag === undefined ? [] : [flag]
}

/** Finds the warnings in the log, except those of gRPC about the missing etcd. */
function warningsIn(text: string): string[] {
  const lines = text.matchAll(/^W\d{4} \S+ +\d+ (\S+)\] (.*(?:\n(?![IWEF]\d{4} ).*)*)/gm)
  return [...lines]
    .filter(([, place = '']) => !place.startsWith('logging.go'))
    .map(([, , said = '']) => said.trimEnd())
}

/** Returns the deprecation messages of the flag parser, which it prints before the log begins. */
function deprecatedIn(text: string): string[] {
  return text.match(/^Flag --\S+ has been deprecated, .*/gm) ?? []
}
